"""The text of a .fizz file to a tree with places: tokens, grammar, front matter.

What the text means is not known here; only `errors` and the tree of blocks come in.
"""
