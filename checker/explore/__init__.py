"""The explorer: going through the states of a spec by hand, in a browser, each made when it is
looked at.

`seek` looks for a state near one, `further` lets an engine look, `expressions` evaluates what a
person writes, `answers` puts what the page asks into words, `server` lets a browser on this machine
ask.
"""
