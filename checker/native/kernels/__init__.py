"""Compiled kernels over flat arrays: walking, expanding, tables, orbits.

Nothing here knows Python objects of the spec; `checker.machine.compiling` brings numba in.
"""
