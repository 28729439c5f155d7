"""The half of the Spark engine that runs once: it plans each level as a job, learns what tasks
missed, takes over what they did, and commits the level. Knows the session and the tasks.
"""
