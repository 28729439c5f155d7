"""Going through the states of a model without searching them, each made when it is looked at.

`walk` holds the states that were looked at and says what is possible in them; `around` finds those
near one, as a graph. The explorer asks for both, and pages draw what was possible along a path.
"""
