"""Recorded histories of transactions: which isolation levels they keep, and if not, why.

The way of a history: `collect` records one or `formats` reads it, into the columns of `data`;
`decide` says whether it keeps a level, and `certify` repeats that independently; `explain` says
what a violation is. `commands` is for people, and alone knows specs and traces; the others know the
levels and their rules, in `dsl.library`.
"""
