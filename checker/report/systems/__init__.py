"""What is said of systems that run: whether their logs conform (one run's, or those of a folder of
runs), and which scenarios there are to try them on.
"""
