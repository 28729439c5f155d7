"""The half of the Spark engine that runs on executors: expand states, send successors, merge and
check them, and the files and bytes in which they lie and travel. `plan` is all that driver and
tasks say to each other; nothing of the driver or the session enters.
"""
