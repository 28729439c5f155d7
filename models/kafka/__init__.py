"""Kafka: how a client obtains a producer id, how a coordinator moves a transaction, and how a
follower comes to have its leader's log.

`common` and `metadata` are shared; the others are models.
"""
