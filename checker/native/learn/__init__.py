"""Running the spec once for each local situation, and keeping what it did as tries.

The only part of the native engine that runs Python code of a spec.
"""
