"""The tree of a .fizz file to mistakes: names, fields and statements that cannot be meant or are
not supported, each with its place, before anything is translated or run. Reads the tree, the names
and what `runtime` offers; changes nothing.
"""
