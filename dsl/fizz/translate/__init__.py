"""The tree of a .fizz file to a module of the embedded language.

Reads the tree, writes Python's tree. `counts` also says which states Fizzbee would count.
"""
