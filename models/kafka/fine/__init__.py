"""Kafka transactions, part 2, with `GRAIN=fine`: what is done in one step otherwise takes several.

Read `broker`, then `properties`; defects are in `mutants`. The instances of both grains are made in
`cluster`.
"""
