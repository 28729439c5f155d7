"""Fizzbee's language: text, translation into the embedded language, and what that needs to run.

The loader comes in through `read`; nothing else of the language knows text specs.
"""
