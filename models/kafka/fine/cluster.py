"""Kafka transactions, part 2: the instances, of either grain, and where they begin."""

from statewalk import init
from statewalk.models.kafka.coordinator import (
    Broker,
    Client,
    Leadership,
    partitions,
)
from statewalk.models.kafka.fine.broker import FineBroker
from statewalk.models.kafka.settings import BROKERS, CLIENTS, GRAIN

fine_brokers = [FineBroker() for _ in range(BROKERS)] if GRAIN == "fine" else []
brokers: list[Broker] = [*fine_brokers] or [Broker() for _ in range(BROKERS)]
clients = [Client() for _ in range(CLIENTS)]


@init
def all_brokers_know_the_leaders() -> None:
    for partition in partitions:
        partition.isr = frozenset(brokers)
        partition.now = Leadership(brokers[partition.index % BROKERS], epoch=1)
        for broker in brokers:
            broker.view[partition] = partition.now
            broker.log[partition] = []
            broker.committed[partition] = 0
