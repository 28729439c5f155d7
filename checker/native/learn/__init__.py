"""Running the spec once for each local situation, and keeping what it did as tries.

Here the native engine runs Python code of a spec; elsewhere only to tell what failed.
"""
