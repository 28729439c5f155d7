"""The search: Model in, verdict out.

`contract` says what an engine promises; `engines`, `native` and `spark` keep it; `liveness` asks a
state graph what no search can tell; `verdict` turns what was found into a Run, and `report` into
text. `machine` and `states` are beneath all of them. `api` is the way in for programs, `cli` and
`commands` for people, and `history`, which judges recorded histories, is a pipeline of its own.

The language enters as `Model`; models enter only by name, in `library`.
"""

if __name__ == "checker":  # pragma: no cover (the repository's folder on the path, not the package)
    raise ImportError("This folder is statewalk.checker: write `from statewalk import check`.")
