"""Stores: transactions on keys and values, and databases fed by a log."""
