"""The language: text in, Model out.

The way of a spec: *text* (`source`, `fizz`) → *tree* → *mistakes* (`rules`) → *functions over a
View* (`lowering`, `blocks`, `flows`) → *Model* (`assemble`), walked by `loader`. What a spec
imports are the public names of the package `statewalk`.

Nothing of the checker or of the models may enter.
"""

if __name__ == "dsl":  # pragma: no cover (the repository's folder on the path, not the package)
    raise ImportError("This folder is statewalk.dsl: write `from statewalk import Role, action`.")
