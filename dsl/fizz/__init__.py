"""Fizzbee's language: read as text, checked, and translated into the embedded language.

The way: `text` → `names` → `rules` → `translate`, with `runtime` for what the result needs to run;
`convert` writes the result as a file. Only the loader comes in, through `read`.
"""
