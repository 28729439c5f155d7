"""Kafka transactions, part 2: what `GRAIN=fine` takes apart."""

from statewalk.models.kafka.coordinator import Broker


class FineBroker(Broker, symmetric=True):
    pass
