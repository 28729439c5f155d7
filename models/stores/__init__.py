"""Stores: transactions on keys and values under snapshot isolation, and databases fed by a log.

The files called ``…_rows`` hold the runs of a model and what each must find.
"""
