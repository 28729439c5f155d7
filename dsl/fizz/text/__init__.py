"""The text of a .fizz file to a tree with places: tokens, grammar, front matter.

Knows no meaning; only `errors` and the tree of blocks come in.
"""
