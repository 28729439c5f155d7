"""The commands about a saved trace: show it, let it happen again, write it for other tools.

Each takes the file; who looks at it needs no spec, who repeats it does.
"""
