"""Symmetry: states that differ only in who is who are one. Counts are numbers of orbits, exactly.

    group      who may change places, and renaming     facts     what slots say of whom
    programs   what facts come to under colours        colours   canonical fingerprints
    breaking   whether a spec keeps its symmetry

`checker.native.orbits` has the compiled form of the fingerprints.
"""
