"""The text of a .fizz file to a tree with places: tokens, grammar, front matter.

What the text means is not known here; the tree is that of blocks, and nodes around it.
"""
