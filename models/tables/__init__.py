"""Tables made of files: Apache Paimon, Delta Lake, Apache Hudi and Apache Iceberg.

In each, who writes puts data files that nobody sees, and publishes them as part of the next version
of the table; what it does when somebody else was first is what they differ in.
"""
