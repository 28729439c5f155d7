"""A rejected history to words and pictures: the anomaly's name, its cycle, and a proof in few steps
that no other order of versions helps. What `decide` found enters; nothing is decided here.
"""
