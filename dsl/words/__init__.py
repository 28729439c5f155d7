"""The words that a spec imports: decorators, choices, guards, configurations, constants.

They declare and ask; what a declaration means is decided in `assemble` and `lowering`.
"""
