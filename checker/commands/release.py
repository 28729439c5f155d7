"""Which release this is: the only place that says it; what is built reads it from here."""

VERSION = "0.1.0"
