"""Results to text and to files for other programs: one file for each page.

The end of the pipeline: only commands and the API come here.
"""
