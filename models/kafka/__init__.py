"""Kafka transactions: how a client obtains a producer id, and how a coordinator moves a
transaction.

`common` and `metadata` are shared; the others are models.
"""
