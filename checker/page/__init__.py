"""The page: what a check found, for a browser. One HTML file that needs nothing else.

`data` makes the one JSON object that the page reads (`compared` that of a comparison), `html` puts
it into the file with the scripts and styles of `assets`. The docstring of `data` lists what the
object holds; docs/decisions/0037-one-page-that-reads-one-object.md has the reasons.
"""
