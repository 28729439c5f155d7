"""The library: protocols written for statewalk, by family.

A model imports the public names of `statewalk` and other models, nothing else.
"""

if __name__ == "models":  # pragma: no cover (the repository's folder on the path, not the package)
    raise ImportError(
        "This folder is statewalk.models: write `from statewalk.models.kafka import init_pid`."
    )
