"""The parts of the store that stamps its transactions: orders, workloads, roles, and its runs.

`order` has no state; `parts` has all of it; what must hold of them is in `weaver`, one folder up.
"""
