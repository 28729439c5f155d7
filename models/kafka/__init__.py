"""Kafka: how a client obtains a producer id, how a coordinator moves a transaction, how a
transaction ends exactly once, how a follower comes to have its leader's log, who may lead when none
is in sync, how the members of a consumer group share partitions, and how consumers share records.

`common`, `metadata` and the folders `eligible`, `fine`, `membership`, `parties` and `sharing` are
what models are made of.
"""
