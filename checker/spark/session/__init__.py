"""Starting or finding Spark: which Java, which settings, a session of a cluster or of this
machine, and what each worker loads. Knows nothing of searches but the module that workers load
beforehand.
"""
