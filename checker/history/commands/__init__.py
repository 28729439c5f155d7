"""``statewalk history``: what people ask of recorded histories, one file for each question.

The end of this pipeline: everything of `checker.history` may enter, nothing imports from here but
the table of commands.
"""
