"""Compiled kernels over flat arrays: walking, expanding, tables, orbits.

Nothing here knows Python objects of the spec; only numpy and numba come in.
"""
