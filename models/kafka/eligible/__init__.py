"""Kafka's eligible leader replicas: who takes part, for `eligible_leaders`, which is the model.

`settings` has the constants; then read `replica` (what a broker holds, and its log), `controller`
and `broker`. `rows` are the runs of the model.
"""
