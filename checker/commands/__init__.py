"""The commands of `statewalk`: one module each, imported when its command is asked for (or for
``--help``).

A module offers ``add_parser(subparsers)``, which adds the command's parser and sets its default
``run`` to a function from the parsed arguments to an exit code. To add a command, add a line to
`COMMANDS`, and to `SUPERVISED` where it runs what may hang. What is shared by several stands in
`arguments`, `checking` and `elsewhere`; commands about saved traces are in `traces`,
those about many specs at once in `everyday`.
"""

COMMANDS: dict[str, str] = {
    "new": "statewalk.checker.commands.everyday.new",
    "convert": "statewalk.checker.commands.convert",
    "explain": "statewalk.checker.commands.explain",
    "check": "statewalk.checker.commands.check",
    "prove": "statewalk.checker.commands.prove",
    "test": "statewalk.checker.commands.everyday.test",
    "resume": "statewalk.checker.commands.resume",
    "profile": "statewalk.checker.commands.profile",
    "show": "statewalk.checker.commands.traces.show",
    "replay": "statewalk.checker.commands.traces.replay",
    "eval": "statewalk.checker.commands.traces.eval",
    "explore": "statewalk.checker.commands.explore",
    "repl": "statewalk.checker.commands.repl",
    "simulate": "statewalk.checker.commands.behaviours.simulate",
    "export": "statewalk.checker.commands.traces.export",
    "query": "statewalk.checker.commands.query",
    "compare": "statewalk.checker.commands.compare",
    "conform": "statewalk.checker.commands.behaviours.conform",
    "cover": "statewalk.checker.commands.behaviours.cover",
    "history": "statewalk.checker.history.commands.cli",
    "models": "statewalk.checker.commands.everyday.models",
    "diary": "statewalk.checker.commands.diary",
    "docs": "statewalk.checker.commands.docs",
    "doctor": "statewalk.checker.commands.everyday.doctor",
    "completion": "statewalk.checker.commands.everyday.completion",
}

GROUPS = {
    "write": ("new", "convert", "explain"),
    "check": ("check", "prove", "test", "resume", "profile"),
    "look": ("show", "replay", "eval", "explore", "repl", "simulate", "export", "query"),
    "compare": ("compare",),
    "real systems": ("conform", "cover", "history"),
    "learn": ("models", "diary", "docs"),
    "set up": ("doctor", "completion"),
}
"""The commands as `statewalk --help` lists them."""

# What runs the code of a spec, which may hang, crash or print, or SQL, which may do the first two:
# these run in a process of their own.
SUPERVISED = frozenset(
    {
        "check",
        "compare",
        "conform",
        "cover",
        "eval",
        "explore",
        "replay",
        "simulate",
        "profile",
        "prove",
        "resume",
        "models",
        "test",
        "doctor",
        "export",
        "query",
    }
    | {"history check", "history from-trace"}
)
