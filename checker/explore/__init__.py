"""The explorer: going through the states of a spec by hand, in a browser, each made when it is
looked at.

`walk` holds the states that were looked at and says what is possible in them, `seek` looks for a
state near one, `around` draws those near it, `expressions` evaluates what a person writes,
`answers` puts what the page asks into words, `server` lets a browser on this machine ask.
"""
