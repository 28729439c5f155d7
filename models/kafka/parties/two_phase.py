"""Kafka transactions, part 3: an application that commits to a database as well.

The database decides: its transaction commits together with a row that holds the id of the Kafka
transaction (KIP-939), which is then to be committed, too. If the application crashes in between,
the instance that takes its place completes what it finds. Without KIP-939 it cannot: a new instance
aborts what is open.
"""

from statewalk import Role, action, require
from statewalk.models.kafka.parties.ending import ProducerId, current
from statewalk.models.kafka.parties.producer import Producer
from statewalk.models.kafka.parties.proposals import DATABASE, PRODUCERS, RECORDS, VARIANT


class Database(Role):
    rows: dict[int, ProducerId] = {}  # of each transactional id; allow SW603: only KIP-939 reads it
    committed: set[int] = set()

    @action
    def commit(self, producer: Producer) -> None:
        """All is flushed (KafkaProducer.prepareTransaction); then the database commits.

        A database lets no replaced instance write.
        """
        coordinator = producer.coordinator()
        require(producer.state == "InTransaction" and producer.index == coordinator.owner)
        require(producer.sent == RECORDS and producer.acknowledged())
        self.rows[coordinator.index] = producer.id
        self.committed.add(producer.txn)
        producer.state = "Decided"

    if VARIANT == "kip939" and PRODUCERS > 1:

        @action(fair="weak")
        def recover(self, producer: Producer) -> None:
            """KafkaProducer.initTransactions(true), completeTransaction: commit what has a row."""
            require(producer.state == "Starting")
            coordinator = producer.coordinator()
            ongoing = coordinator.metadata.state == "Ongoing"
            found = current(coordinator.metadata)
            answer = coordinator.keep_prepared()
            require(answer.id is not None)
            producer.started(answer)
            if ongoing and producer.state == "Ready":
                producer.txn = coordinator.txn
                has_row = self.rows.get(coordinator.index) == found
                producer.state = "Committing" if has_row else "Aborting"


databases = [Database() for _ in range(DATABASE)]
