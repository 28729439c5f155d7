"""The blocks atomic, serial, parallel and oneof, of both languages, as one tree of statements.

What a front end reads becomes pieces here; running them is the business of `flows`.
"""
