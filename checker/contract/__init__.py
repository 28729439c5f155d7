"""The contract of a search: options, results, and the promises of each engine.

`options` is what a person asks for, `search` what an engine is given and gives back, `rescue` what
is told of a search that had to be killed. No engine and no verdict enters.
"""
