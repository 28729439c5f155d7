"""The search: Model in, verdict out.

`contract` says what an engine promises, `engines`, `native` and `spark` keep it; `verdict` turns
what a search found into a Result, `report` and `commands` into text. `api` is the way in for
programs, `cli` for people.

The language enters as `Model`; models enter only by name, in `library`.
"""

if __name__ == "checker":  # pragma: no cover (the repository's folder on the path, not the package)
    raise ImportError("This folder is statewalk.checker: write `from statewalk import check`.")
