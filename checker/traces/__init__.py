"""Behaviors as data: the trace, its file, and which properties hold along it.

Made of states and of what a search found; how a trace looks on a terminal is the business of
`report`, and formats of other tools are that of `exports`.
"""
