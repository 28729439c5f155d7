"""Small models to learn from and to test with, each with known counts: counters, jugs, a ring, a
commit.
"""
