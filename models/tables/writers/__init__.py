"""The writers of Delta Lake, Hudi and Iceberg.

Each module has a format's constants, its table as files and metadata, and its writers with what
they ask before they commit; what must hold, and the runs, are in the model of the same name.
"""
