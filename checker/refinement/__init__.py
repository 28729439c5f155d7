"""Refinement: the check that one model's behaviors are allowed by another.

The state graphs of both are built whole. What they have in common of a state is its *sight*;
behaviors of one are then looked for in the other, hidden choices followed together.
"""
