"""What a state can hold: values that never change, their canonical bytes, order and domains.

Nothing here knows roles, steps or text; only the standard library and `errors` come in.
"""
