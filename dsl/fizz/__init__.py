"""Fizzbee's language: read as text, checked, and translated into the embedded language.

The way: `text` → `names` → `rules` → `translate`, with `runtime` for what the result needs to run;
`convert` writes the result as a file. The loader comes in through `read`; what counts as
Fizzbee does, and what converts, takes a stage of it.
"""
