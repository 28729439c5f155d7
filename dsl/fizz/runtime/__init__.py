"""What translated specs call while they run: records, symmetric values, next states.

Built on state and values as any spec is.
"""
