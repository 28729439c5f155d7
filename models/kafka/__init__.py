"""Kafka transactions."""
