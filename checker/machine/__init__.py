"""The machine under a run, with no idea of what runs: signals and limits, processes that watch
others, locks on folders, files written whole, packages that may be missing, compiled code kept on
disk.

Of the language only errors and the names of a spec's files enter, of the checker nothing: every
other folder may import from here.
"""
