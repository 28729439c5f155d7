"""The values that a state can hold: immutable, with their canonical bytes, order and domains.

Nothing here knows roles, steps or text; the classes of a spec are asked of `binding`.
"""
