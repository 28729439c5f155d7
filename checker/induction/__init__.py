"""Inductive invariants: the states of the declared domains that satisfy an invariant, and one step
from each of them.

`domains` numbers the values of a type, `candidates` puts states together from them and finds those
that satisfy the invariant, `prove` takes the steps, `telling` is the report.
"""
