"""The state graph as a dataset: Parquet files of states and transitions, and questions about them.

A graph is a folder with ``states/*.parquet``, ``transitions/*.parquet`` and ``graph.json``, which
is written last. docs/how-to/graph.md says what each column means.

- `collect`, `rows`, `labels`, `columns`: from a search to tables
- `dataset`: the folder, written whole or not at all; reading what it says of itself
- `ask`, `paths`: questions in SQL, and shortest paths between predicates
"""
