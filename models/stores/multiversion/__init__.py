"""The parts of the store of versions: what is kept, what is checked, what sessions do.

`settings` has the constants, `store` what is kept and recorded, `rows` the runs; the others are one
part each. The sessions, which use all of them, are in `snapshot`, one folder up.
"""
