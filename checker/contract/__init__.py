"""What engines promise and are asked: the contract of a search, options, limits, files.

A leaf: only the language comes in.
"""
