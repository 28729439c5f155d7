"""Kafka's share partitions: who takes part, for `share_partition`, which is the model.

`settings` has the constants; then read `leader` (consumers, persister and share partition).
`mutants` are defects that Kafka once had, `rows` the runs of the model.
"""
