"""Kafka transactions, part 3: who takes part, for `exactly_once`, which is the model.

`proposals` has the constants; then read `producer`, `ending` (the coordinator), `leader` (of a data
partition) and `two_phase` (a database). `mutants` are defects that Kafka once had.
"""
