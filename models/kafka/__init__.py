"""Kafka: how a client obtains a producer id, how a coordinator moves a transaction, how a
transaction ends exactly once, and how a follower comes to have its leader's log.

`common`, `metadata` and the folder `parties` are what models are made of; the others are models.
"""
