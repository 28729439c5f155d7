"""Scenarios: events with what is to be seen after each, to try a system on.

`reached` goes through the states of a spec, within bounds; `cover` chooses ways through them that
together meet every goal; `scenario` says of a way what a system is told and has to show; `files`
writes scenarios as JSON and as a pytest module that needs nothing of ours. Takes a Model; steps are
those that logs are followed by (`checker.conform.steps`).
"""
