"""Behaviours as data: the trace, its file, and what holds along it.

Knows states; how a trace looks on a terminal is the business of `report`.
"""
