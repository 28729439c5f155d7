"""The workers of a Paimon table.

Writers and compactors write data files, and what they share, `commit`, publishes them as the next
snapshot, or finds that it may not. In flink a committer does that for all of them.
"""
