"""Clocks and timeouts become ordinary fields and actions when the text of a module is read.

    class Time(Clock[Node], skew=1, until=9): ...     stays, with methods that read a role's clock
    class Node(Role):                                 gets the field ``time: int``, and ticks

A `Timeout` is a record, written in the language in `dsl.words.timeouts`.
"""

from __future__ import annotations

import ast

from statewalk.dsl.source.added import Text, method, types_in, under

_READING = """def now(self, role: "{who}") -> int:
    return role.{f}
def after(self, role: "{who}", ticks: int) -> int:
    return role.{f} + ticks
def elapsed(self, role: "{who}", since: int) -> int:
    return role.{f} - since
def passed(self, role: "{who}", deadline: int) -> bool:
    return role.{f} >= deadline
"""


def add_clocks(made: Text, names: dict[str, str], classes: dict[str, ast.ClassDef]) -> None:
    """Write out the clocks of a module."""
    for node in classes.values():
        for base in node.bases if "Clock" in names else ():
            named = base.value if isinstance(base, ast.Subscript) else base
            if getattr(named, "id", "") != names["Clock"]:
                continue
            if not isinstance(base, ast.Subscript):
                said = f"{node.name} does not say who has a clock."
                raise made.wrong(said, base, help="Write Clock[Client | Server].")
            _write(made, node, types_in(base.slice), classes)


def _write(
    made: Text, node: ast.ClassDef, who: list[str], classes: dict[str, ast.ClassDef]
) -> None:
    options = {k.arg or "": ast.unparse(k.value) for k in node.keywords}
    if "until" not in options:
        said = f"{node.name} does not say when its clocks stop."
        why = "Readings are in the state, so without a last one there is no end of states."
        raise made.wrong(
            said, node, why=why, help=f"Write class {node.name}(Clock[...], until=10)."
        )
    clock, skew, until = node.name.lower(), options.get("skew", "0"), options["until"]
    instance = made.instance_of(node)
    fair = options.get("fair", "'weak'")
    urgent = any(isinstance(n, ast.FunctionDef) and n.name == "urgent" for n in node.body)
    waits = f"require(not {instance}.urgent())" if urgent else ""
    everyone = f"[{', '.join(f'*instances({name})' for name in who)}]"
    node.body += made.add(_READING.format(who=" | ".join(who), f=clock))
    together = method(
        f"@action(fair={fair})\ndef tick(self) -> None:",
        f"require(all(one.{clock} < {until} for one in {everyone}))", waits,
        f"for one in {everyone}:\n    one.{clock} += 1",
    )  # fmt: skip
    alone = method(
        f'@action(name="tick", fair={fair})\ndef _tick_{clock}(self) -> None:',
        f"require(self.{clock} < {until})", waits,
        f"require(all(self.{clock} < one.{clock} + {skew} for one in {everyone}))",
        f"self.{clock} += 1",
    )  # fmt: skip
    if skew == "0":
        node.body += made.add(together)
    elif not skew.isdigit():
        node.body += made.add(under(f"not {skew}", together))
        alone = under(skew, alone)
    for role in made.receivers_of(node, who, classes):
        made.add_field(role, clock, f"{clock}: int = 0")
        role.body += made.add(alone) if skew != "0" else []
    stopped = f"return all(one.{clock} >= {until} for one in {everyone})"
    made.tree.body += made.add(method(f"@terminal\ndef {clock}_is_over() -> bool:", stopped))


def add_timeouts(made: Text, names: dict[str, str]) -> None:
    """Take `Timeout` from where it is written in the language."""
    if "Timeout" not in names:
        return
    for node in made.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "statewalk":
            kept = [alias for alias in node.names if alias.name != "Timeout"]
            node.names = kept or [ast.copy_location(ast.alias("Record"), node)]
    name = names["Timeout"]
    alias = "" if name == "Timeout" else f" as {name}"
    made.import_line(f"from statewalk.dsl.words.timeouts import Timeout{alias}")
