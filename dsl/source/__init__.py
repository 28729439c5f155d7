"""Text to tree: modules and their source, and what can be known of a function without running it.

May use words, state and values to recognise what a name stands for; decides nothing.
"""
