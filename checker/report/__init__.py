"""Results to text, and to files for other programs: one file for each page.

The end of the pipeline: it reads results, traces and graphs, decides nothing, and only the commands
and the API import from here.
"""
