"""The commands about single behaviours: random walks, and logs of a running system.

Each joins the package that does the work with the report that tells it.
"""
