"""A history to a yes or a no for one isolation level: local checks, the known graph, rules that
force orders, a search for the orders left open, and a minimal core where there is none.

`check` goes the whole way. The history enters as columns, however it was recorded.
"""
