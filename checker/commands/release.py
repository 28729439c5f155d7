"""The version of this release, stated here only; builds read it from here."""

VERSION = "0.1.0"
