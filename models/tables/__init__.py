"""Tables made of files: Apache Paimon, its commit phase, its readers, and what every version must
satisfy.
"""
