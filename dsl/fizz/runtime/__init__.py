"""What translated specs call while they run: records, symmetric values, next states, counts.

Built on state and values as any spec is.
"""
