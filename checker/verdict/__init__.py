"""Exploration to Result: what holds, what is violated and why, and the evidence for it.

Reads what a search found; prints nothing.
"""
