"""A state as content: put together from slots, fingerprinted, compared, shown, written as JSON.

Knows values and the Model. No search and no verdict enters, so that engines, traces and reports can
all use it.
"""
