"""Tree to mistakes: each rule looks at the tree of a spec and names what cannot be meant.

Reads what `source` and `blocks` know; nothing but the loader calls it.
"""
