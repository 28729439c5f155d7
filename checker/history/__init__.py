"""Recorded histories of transactions: which isolation levels they keep, and if not, why.

`checker.history.formats.read` reads a file, `checker.history.decide.check.check` decides a level,
`checker.history.explain.anomaly.explain` says what a violation is. docs/history-format.md has the
rest.
"""
