"""The parts of the store of versions: what clients ask, what is checked, what is kept.

`settings` has the constants, `store` what is kept and recorded, `clients` ask of `sessions` what
`workload` says, `rows` has the runs; the others are one part each. What holds of all of them is in
`snapshot`, one folder up.
"""
