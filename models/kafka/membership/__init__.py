"""Kafka's consumer groups: who takes part, for `consumer_groups`, which is the model.

`settings` has the constants; then read `heartbeats` (client and coordinator) and `reconciling` (how
a member comes to have what it is meant to have). `mutants` are defects that Kafka once had.
"""
