"""The commands of `statewalk`: one module each, imported when its command is asked for (or for
``--help``).

A module offers ``add_parser(subparsers)``, which adds the command's parser and sets its default
``run`` to a function from the parsed arguments to an exit code. To add a command, add a line.
"""

COMMANDS: dict[str, str] = {
    "check": "checker.commands.check",
    "replay": "checker.commands.replay",
    "show": "checker.commands.show",
    "simulate": "checker.commands.simulate",
    "export": "checker.commands.export",
    "convert": "checker.commands.convert",
    "explain": "checker.commands.explain",
    "models": "checker.commands.models",
    "history": "checker.history.cli",
    "profile": "checker.profile.cli",
    "resume": "checker.commands.resume",
    "query": "checker.commands.query",
}

# What runs the code of a spec, which may hang or crash: these run in a process of their own.
RUN_SPECS = frozenset({"check", "replay", "simulate", "profile", "resume"})
