"""Liveness under fairness, exactly: a state graph in, a verdict with a lasso out.

`explore` and `collect` build the graph (plainly, natively), `problems` says what a violation looks
like in it, `fair_cycles` and `lasso` find one, and `in_a_check` is the way in for a check.
"""
