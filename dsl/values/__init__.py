"""What a state can hold: values that never change, their canonical bytes, order and domains.

Nothing here knows roles, steps or text; the classes of a spec are asked of `binding`.
"""
