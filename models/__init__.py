"""The protocol library."""
