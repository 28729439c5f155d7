"""States as content: bytes, fingerprints, differences, texts and JSON.

Knows values and the contract, no search and no verdict.
"""
