"""The page: what a check found, for a browser. One HTML file that needs nothing else.

`data` makes the one JSON object that the page reads, `lanes` lays a trace out as a sequence
diagram, `html` puts both into the file with the scripts and styles of `assets`. What the object
holds is said in docs/decisions (the page reads one object).
"""
