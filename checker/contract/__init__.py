"""What engines promise and are asked: the contract of a search, options, limits, files.

Below it are the language and the machine.
"""
