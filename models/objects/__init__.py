"""Objects that histories are checked against: what a register, a queue or a lock does, one
operation at a time. An action is an operation: its parameters are the arguments, and what it
returns is the answer. In a check of a history its arguments stand in the place of the sets here.
"""
