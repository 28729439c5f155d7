"""The functions that translated specs call: records, symmetric values, next states.

Built on state and values as any spec is.
"""
