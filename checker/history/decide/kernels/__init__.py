"""Compiled loops of the decision: over operations, over the known graph, and of the search.

Only arrays enter; what their columns mean is said in `checker.history.data` and beside each kernel.
"""
