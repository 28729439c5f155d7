"""``statewalk completion``: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from statewalk.checker.commands import COMMANDS
from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "completion",
        help="print completion for bash, zsh or fish",
        description="Print a script for a shell with which Tab completes commands, options and "
        "their values.",
        epilog='bash: eval "$(statewalk completion bash)" in ~/.bashrc. zsh: the same with zsh '
        "in ~/.zshrc, after compinit. fish: statewalk completion fish > "
        "~/.config/fish/completions/statewalk.fish",
    )
    parser.add_argument("shell", choices=tuple(_SCRIPTS), help="which shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script; the exit code."""
    streams.out().write(_SCRIPTS[arguments.shell](all_words()))
    return HOLDS


def all_words() -> Words:
    """Return the words of all commands."""
    parser = argparse.ArgumentParser("statewalk")
    parser.add_argument("--version", action="version", help="print the version")
    commands = parser.add_subparsers()
    for module in COMMANDS.values():
        import_module(module).add_parser(commands)
    return described(parser)


@dataclass
class Words:
    """The words that may follow a command: options with their values, further commands, values."""

    about: str = ""
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    helps: dict[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    commands: dict[str, Words] = field(default_factory=dict)


def described(parser: argparse.ArgumentParser, about: str = "") -> Words:
    """Return the words of a parser and of the commands in it."""
    found = Words(about)
    for action in parser._actions:
        choices = action.choices
        if isinstance(action, argparse._SubParsersAction):
            helps = {c.dest: c.help or "" for c in action._choices_actions}
            for name, inner in action.choices.items():
                found.commands[name] = described(inner, helps.get(name, ""))
        elif action.option_strings:
            if action.help != argparse.SUPPRESS:
                for name in action.option_strings:
                    found.options[name] = tuple(map(str, choices or ()))
                    found.helps[name] = (action.help or "").partition("(")[0].strip()
        elif choices:
            found.values += tuple(map(str, choices))
    return found


def _commands(words: Words, path: str = "") -> list[tuple[str, Words]]:
    """Return each command with its words, those inside others as `history check`."""
    own = [(path, words)]
    for name, inner in words.commands.items():
        own += _commands(inner, f"{path} {name}".strip())
    return own


def _bash(words: Words) -> str:
    lines = [
        "_statewalk() {",
        '  local now="${COMP_WORDS[COMP_CWORD]}" path="" word',
        "  local n=1",
    ]
    known = [path for path, _ in _commands(words) if path]
    lines += [
        '  while [ "$n" -lt "$COMP_CWORD" ]; do',
        '    word="${path:+$path }${COMP_WORDS[n]}"',
        f'    case "$word" in {"|".join(map(_quoted, known))}) path="$word";; esac',
        "    n=$((n + 1))",
        "  done",
        '  local before="${COMP_WORDS[COMP_CWORD-1]}"',
        '  case "$path:$before" in',
    ]
    for path, inner in _commands(words):
        for option, values in inner.options.items():
            if values:
                some = " ".join(values)
                lines.append(
                    f"    {_quoted(f'{path}:{option}')}) "
                    f'COMPREPLY=($(compgen -W {_quoted(some)} -- "$now")); return;;'
                )
    lines += ["  esac", '  case "$path" in']
    for path, inner in _commands(words):
        some = " ".join([*inner.commands, *inner.values, *inner.options])
        lines.append(f'    {_quoted(path)}) COMPREPLY=($(compgen -W {_quoted(some)} -- "$now"));;')
    lines += ["  esac", "}", "complete -o default -o bashdefault -F _statewalk statewalk"]
    return "\n".join(lines) + "\n"


def _zsh(words: Words) -> str:
    return "autoload -Uz bashcompinit && bashcompinit\n" + _bash(words)


def _fish(words: Words) -> str:
    lines = []
    for name, inner in words.commands.items():
        lines.append(_fish_line("__fish_use_subcommand", f"-f -a {name}", inner.about))
        top = f"__fish_seen_subcommand_from {name}"
        for path, deep in _commands(inner):
            lines += [_fish_line(top, f"-a {n}", c.about) for n, c in deep.commands.items()]
            seen = f"{top}; and __fish_seen_subcommand_from {path}" if path else top
            for value in deep.values:
                lines.append(_fish_line(seen, f"-a {_quoted(value)}", ""))
            for option, values in deep.options.items():
                short = f"-s {option[1:]}" if not option.startswith("--") else f"-l {option[2:]}"
                rest = f" -x -a {_quoted(' '.join(values))}" if values else ""
                lines.append(_fish_line(seen, short + rest, deep.helps[option]))
    return "\n".join(lines) + "\n"


def _fish_line(condition: str, what: str, about: str) -> str:
    said = f" -d {_quoted(about)}" if about else ""
    return f"complete -c statewalk -n {_quoted(condition)} {what}{said}"


def _quoted(text: str) -> str:
    return "'" + text.replace("%%", "%").replace("'", "'\\''") + "'"


_SCRIPTS: dict[str, Callable[[Words], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
