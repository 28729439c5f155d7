"""The table of engines, and the reference engine, which defines what every count means.

Engines are imported when they are chosen, and never import each other.
"""
