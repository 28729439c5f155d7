"""Recorded operations on one object, judged against a spec of that object: is the history
linearizable, or sequentially consistent?

`reading` makes `operations` of a file; `spec` binds them to the actions of a spec and learns what
each does in each state; `search` and `sessions` look for an order that explains all answers, which
`witness` executes anew; `explain`, `drawing` and `report` tell what was found.
"""
