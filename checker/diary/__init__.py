"""Diaries: texts about a protocol that run. An entry is a Markdown file; its cells are blocks of
specs, commands of `statewalk` with what they print, and diagrams.

`entry` reads one, `play` runs its cells in a folder of their own and gives the text as it should
be, `markup` and `site` make pages for browsers of it, `notebook` a notebook. The format is told in
docs/diary/README.md.
"""
