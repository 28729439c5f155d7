"""Tables made of files: Apache Paimon."""
