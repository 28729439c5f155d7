"""Single behaviours: at random, by hand, and saved ones again.

Uses the language and traces, no engine.
"""
