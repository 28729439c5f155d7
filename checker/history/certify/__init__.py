"""The last word on an accepted history: its operations are run, in the order that was found, by an
interpreter that shares no code with what found it. The history enters, and which levels there are.
"""
