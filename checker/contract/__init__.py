"""What is asked of a search and what it answers: the promises that each engine keeps.

`options` is what a person asks for, `search` what an engine is given and gives back, `rescue` what
is told of a search that had to be killed. No engine and no verdict enters.
"""
