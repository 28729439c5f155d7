"""Programs that are not statewalk, to try it on. See README.md."""
