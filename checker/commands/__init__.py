"""The commands of `statewalk`: one module each, imported when its command is asked for (or for
``--help``).

A module offers ``add_parser(subparsers)``, which adds the command's parser and sets its default
``run`` to a function from the parsed arguments to an exit code. To add a command, add a line to
`COMMANDS`, and to `SUPERVISED` where it runs what may hang. What is shared by several stands in
`arguments`, `checking` and `elsewhere`; commands about saved traces are in `traces`,
those about many specs at once in `everyday`.
"""

COMMANDS: dict[str, str] = {
    "check": "statewalk.checker.commands.check",
    "compare": "statewalk.checker.commands.compare",
    "replay": "statewalk.checker.commands.traces.replay",
    "show": "statewalk.checker.commands.traces.show",
    "explore": "statewalk.checker.commands.explore",
    "simulate": "statewalk.checker.commands.behaviours.simulate",
    "export": "statewalk.checker.commands.traces.export",
    "convert": "statewalk.checker.commands.convert",
    "explain": "statewalk.checker.commands.explain",
    "models": "statewalk.checker.commands.everyday.models",
    "new": "statewalk.checker.commands.everyday.new",
    "doctor": "statewalk.checker.commands.everyday.doctor",
    "completion": "statewalk.checker.commands.everyday.completion",
    "test": "statewalk.checker.commands.everyday.test",
    "history": "statewalk.checker.history.commands.cli",
    "profile": "statewalk.checker.commands.profile",
    "resume": "statewalk.checker.commands.resume",
    "query": "statewalk.checker.commands.query",
    "conform": "statewalk.checker.commands.behaviours.conform",
    "cover": "statewalk.checker.commands.behaviours.cover",
    "diary": "statewalk.checker.commands.diary",
    "docs": "statewalk.checker.commands.docs",
}

# What runs the code of a spec, which may hang, crash or print, or SQL, which may do the first two:
# these run in a process of their own.
SUPERVISED = frozenset(
    {
        "check",
        "compare",
        "conform",
        "cover",
        "explore",
        "replay",
        "simulate",
        "profile",
        "resume",
        "models",
        "test",
        "doctor",
        "export",
        "query",
    }
    | {"history check", "history from-trace"}
)
