"""The tree of a .fizz file to a module of the embedded language.

Reads the tree, writes Python's tree.
"""
