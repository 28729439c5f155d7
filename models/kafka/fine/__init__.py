"""Kafka transactions, part 2, with `GRAIN=fine`: read `broker`, then `properties`."""
