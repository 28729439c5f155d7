"""Fields while a step runs: the bound view, roles, and references that read and write in place.

Built on values and the view; it knows nothing of source text.
"""
