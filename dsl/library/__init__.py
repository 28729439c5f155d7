"""Pure functions that specs and the checker share: isolation levels, and histories judged by them.

The one part of the language that a model may import beside the public names. Nothing else comes in.
"""
