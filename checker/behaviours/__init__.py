"""Single behaviors instead of all states: random walks, steps that a person names, saved traces
again.

Takes a Model, walks it with the plain View, and gives traces. Guards from `verdict` say why a step
was not possible; no engine enters.
"""
