"""Programs: the functions of a spec as machine code over numbers of values.

Control flow, small integers and slots are machine code; every other operation is a table from
argument numbers to a result number, filled by running Python's own operator once (decision 0048).
"""
