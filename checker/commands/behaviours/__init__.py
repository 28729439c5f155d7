"""The commands about single behaviors: random walks, and logs of a running system.

Each joins the package that does the work with the report that tells it.
"""
