"""Networks become ordinary fields and actions when the text of a module is read.

    class Wire(Network[Ping, Node], loss=LOSS): ...     stays, with methods and fault budgets
    class Node(Role):                                   gets the field ``wire: Bag[Ping]``,
        @on_message                                     stays, as a method without a decorator
        def ping(self, ping: Ping): ...                 gets an action that chooses and calls it

What is added is text, with lines below those of the module: nothing after reading knows of networks
(decision 0051). An option that is off is left out, or stands under ``if``, as a variant does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from textwrap import indent

from statewalk.dsl.source.added import Text, imported, method, types_in, under
from statewalk.dsl.source.clocks import add_clocks, add_timeouts
from statewalk.dsl.source.nodes import walk

RECEIVING = "_receive_"  # in front of the name of a handler, its action
_AGAIN = "_again_"  # that of a duplicate


@dataclass
class Handler:
    """A method with `on_message`: it receives messages of some types."""

    role: ast.ClassDef
    node: ast.FunctionDef
    parameter: str
    types: list[str]
    options: dict[str, str]


@dataclass
class Wire:
    """A class of networks in a text: its options as they are written."""

    node: ast.ClassDef
    messages: list[str]
    receivers: list[str]
    options: dict[str, str]
    instance: str = ""
    sourced: bool = False  # each message says who sent it
    handlers: list[Handler] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def field(self) -> str:
        return self.name.lower()

    @property
    def kind(self) -> str:
        """The kind, where it is written as a string."""
        return self.options.get("kind", "'bag'").strip("'")

    def varied(self, make: Callable[[Wire], str]) -> str:
        """Return the code of the network's kind, or of each kind under ``if``."""
        if self.kind in _FIELDS:
            return make(self)
        found = ""
        for kind in _FIELDS:
            code = make(replace(self, options=self.options | {"kind": f"'{kind}'"}))
            found += (
                f"if {self.options['kind']} == '{kind}':\n{indent(code, '    ')}" if code else ""
            )
        return found

    @property
    def lined(self) -> bool:
        return self.kind in ("queue", "fifo")

    def fault(self, name: str) -> str:
        """Return an option as it is written; an empty text where it is off."""
        found = self.options.get(name, "")
        if found in ("", "False", "0") or found == "True" or found.isdigit():
            return "" if found in ("False", "0") else found
        literal = isinstance(ast.parse(found, mode="eval").body, ast.Constant | ast.UnaryOp)
        return "" if literal else f"({found})"  # what no option may be is told when it is declared

    def spend(self, name: str) -> str:
        """Return the statement that spends one of a budget, where there may be one."""
        return "" if self.fault(name) in ("", "True") else f"{self.instance}.spend_{name}()"


def with_networks(path: str, text: str, tree: ast.Module) -> tuple[str, ast.Module]:
    """Return the text and tree of a module with its networks and clocks written out; the tree is
    changed.
    """
    names = {word: name for word, name in imported(tree).items() if name in text}
    if not names:
        return text, tree
    made = Text(path, tree, text.splitlines())
    classes = {n.name: n for n in walk(tree) if isinstance(n, ast.ClassDef)}
    _add_networks(made, names, classes)
    add_clocks(made, names, classes)
    add_timeouts(made, names)
    made.import_words()
    if "partitions" in text:
        made.import_line("from statewalk.dsl.library.partitions import splits")
    return "\n".join(made.lines) + "\n", tree


def handler_of(name: str) -> str:
    """Return the method that a function calls with a message; an empty text for one in the file."""
    found = next((head for head in (RECEIVING, _AGAIN) if name.startswith(head)), "")
    return name.removeprefix(found) if found else ""


def _add_networks(made: Text, names: dict[str, str], classes: dict[str, ast.ClassDef]) -> None:
    """Write out the networks of a module."""
    found = (_wire(made, node, names.get("Network", ""), classes) for node in classes.values())
    wires = [wire for wire in found if wire is not None]
    for wire in wires:
        wire.instance = made.instance_of(wire.node)
    for handler in _handlers(made, classes, names.get("on_message", "")):
        _wire_of(made, wires, handler).handlers.append(handler)
    for wire in wires:
        known = (
            name not in classes or _source(classes, name) is not None for name in wire.messages
        )
        wire.sourced = all(known)
        _check_sources(made, wire, classes)
        _write(made, wire, classes, alone=len(wires) == 1)


def _wire(
    made: Text, node: ast.ClassDef, word: str, classes: dict[str, ast.ClassDef]
) -> Wire | None:
    """Return the network that a class is."""
    for base in node.bases:
        named = base.value if isinstance(base, ast.Subscript) else base
        if not word or getattr(named, "id", "") != word:
            continue
        given = (
            base.slice.elts
            if isinstance(base, ast.Subscript) and isinstance(base.slice, ast.Tuple)
            else []
        )
        if len(given) != 2:
            said = f"{node.name} does not say what travels, and who receives it."
            raise made.wrong(said, base, help="Write Network[Ping, Client | Server].")
        options = {k.arg or "": ast.unparse(k.value) for k in node.keywords}
        messages = types_in(given[0])
        if messages == ["Message"]:
            messages = [name for name in classes if _derived(classes, name, {"Message"})]
        return Wire(node, messages, types_in(given[1]), options)
    return None


def _handlers(made: Text, classes: dict[str, ast.ClassDef], word: str) -> Iterator[Handler]:
    for role in classes.values():
        for node in (n for n in walk(role) if isinstance(n, ast.FunctionDef)):
            for decorator in node.decorator_list:
                call = decorator if isinstance(decorator, ast.Call) else None
                if getattr(call.func if call else decorator, "id", "") != word or not word:
                    continue
                parameters = node.args.args[1:]
                if len(parameters) != 1 or parameters[0].annotation is None:
                    said = f"'{node.name}' does not say which messages it receives."
                    help = f"Write def {node.name}(self, ping: Ping) -> None:"
                    raise made.wrong(said, node, help=help)
                node.decorator_list.remove(decorator)
                options = {k.arg or "": ast.unparse(k.value) for k in call.keywords} if call else {}
                types = types_in(parameters[0].annotation)
                yield Handler(role, node, parameters[0].arg, types, options)
                break


def _wire_of(made: Text, wires: list[Wire], handler: Handler) -> Wire:
    """Return the network that brings a handler its messages."""
    found = [w for w in wires if set(handler.types) <= set(w.messages)]
    if len(found) == 1:
        return found[0]
    shown = " | ".join(handler.types)
    if found:
        said = f"Several networks carry {shown}: {', '.join(w.name for w in found)}."
        help = f"Receive in an action: message = {found[0].instance}.receive(self)"
        raise made.wrong(said, handler.node, help=help)
    known = ", ".join(f"{w.name} carries {' | '.join(w.messages)}" for w in wires)
    said = f"No network of this module carries {shown}, which '{handler.node.name}' receives."
    raise made.wrong(
        said,
        handler.node,
        why=known + "." if known else "",
        help="Add it in the brackets of Network[...].",
    )


def _check_sources(made: Text, wire: Wire, classes: dict[str, ast.ClassDef]) -> None:
    """Refuse options that ask who sent a message, for messages that do not say."""
    asked = "one with partitions" if wire.fault("partitions") else ""
    asked = "a fifo" if wire.kind == "fifo" else asked
    for name in wire.messages if asked else ():
        if name not in classes:
            continue
        source = _source(classes, name)
        if source is None:
            said = f"{name} has no source, and {wire.name} asks who sent a message: it is {asked}."
            help = f'Give {name} a field of its sender, source: "Client", or write kind="queue".'
            raise made.wrong(said, classes[name], help=help)
        for role in types_in(source.annotation) if wire.fault("partitions") else ():
            if not _derived(classes, role, set(wire.receivers)):
                said = f"{role} sends {name} and is on no side of a partition of {wire.name}."
                help = f"Name it among those who receive: Network[..., {role} | ...]."
                raise made.wrong(said, wire.node, why="Sides are of receivers.", help=help)


def _source(classes: dict[str, ast.ClassDef], name: str) -> ast.AnnAssign | None:
    """Return the field of a class of messages that says who sent one."""
    if name not in classes:
        return None
    for node in classes[name].body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "source":
            return node
    found = (_source(classes, getattr(base, "id", "")) for base in classes[name].bases)
    return next((node for node in found if node is not None), None)


def _derived(classes: dict[str, ast.ClassDef], name: str, known: set[str]) -> bool:
    """Return whether a class is one of some, or is derived from one."""
    bases = classes[name].bases if name in classes else ()
    return name in known or any(_derived(classes, getattr(b, "id", ""), known) for b in bases)


# -- what is added ---------------------------------------------------------------------------------
_FIELDS = {
    "bag": 'Bag[{m}]" = Bag()',
    "set": 'set[{m}]" = set()',
    "kept": 'set[{m}]" = set()',
    "queue": 'list[{m}]" = []',
    "fifo": 'dict[Role, list[{m}]]" = {{}}',
}
_OPTIONS = {
    "bag": "{{m for m in {me}.{f}{where}}}",
    "set": "[m for m in {me}.{f}{where}]",
    "kept": "[m for m in {me}.{f}{where}]",
    "queue": "[m for m in {me}.{f}[:1]{where}]",
    "fifo": "[m for line in {me}.{f}.values() for m in line[:1]{where}]",
}
_TAKE = {
    "bag": "{me}.{f}.remove({m})",
    "set": "{me}.{f}.remove({m})",
    "kept": "",
    "queue": "{me}.{f}.pop(0)",
    "fifo": (
        "{me}.{f}[{m}.source].pop(0)\nif not {me}.{f}[{m}.source]:\n    del {me}.{f}[{m}.source]"
    ),
}
_SEND = {
    "bag": "to.{f}.add(message)",
    "set": "to.{f}.add(message)",
    "kept": "to.{f}.add(message)",
    "queue": "to.{f}.append(message)",
    "fifo": (
        "if message.source not in to.{f}:\n    to.{f}[message.source] = []\n"
        "to.{f}[message.source].append(message)"
    ),
}


def _options(wire: Wire, me: str, types: list[str]) -> str:
    """Return the expression of the messages that a role can receive now."""
    where = []
    if set(types) != set(wire.messages):
        where.append(
            f"isinstance(m, {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'})"
        )
    if given := wire.fault("partitions"):
        connected = f"{wire.instance}.connects(m.source, {me})"
        where.append(
            connected if given == "True" or given.isdigit() else f"(not {given} or {connected})"
        )
    shown = f" if {' and '.join(where)}" if where else ""
    return _OPTIONS[wire.kind].format(me=me, f=wire.field, where=shown)


def _taken(wire: Wire, me: str, message: str) -> str:
    return _TAKE[wire.kind].format(me=me, f=wire.field, m=message)


def _write(made: Text, wire: Wire, classes: dict[str, ast.ClassDef], *, alone: bool) -> None:
    """Add what a network is to its class, to those of its receivers, and to their handlers."""
    wire.node.body += made.add(wire.varied(lambda one: "".join(_members(one))))
    faults = wire.varied(lambda one: _faults(one, "" if alone else f"_{one.field}"))
    for role in made.receivers_of(wire.node, wire.receivers, classes):
        made.add_field(role, wire.field, wire.varied(_field))
        role.body += made.add(faults)
    for handler in wire.handlers:
        body = handler.role.body
        at = body.index(handler.node) + 1
        body[at:at] = made.add(wire.varied(partial(_receiving, handler=handler)))


def _field(wire: Wire) -> str:
    """Return the field of what is in transit to a receiver."""
    messages = " | ".join(wire.messages)
    return f'{wire.field}: "{_FIELDS[wire.kind].format(m=messages)}\n'


def _faults(wire: Wire, end: str) -> str:
    """Return the actions of a receiver that lose and reorder what is in transit to it."""
    f = wire.field
    lose = _LOSE.get(wire.kind, "").format(f=f)
    code = "" if not lose else under(wire.fault("loss"), method(
        f'@action(name="lose{end}", fault=True)\ndef _lose_{f}(self) -> None:',
        *lose.split("\n\n")[:1], wire.spend("loss"), *lose.split("\n\n")[1:],
    ))  # fmt: skip
    if wire.lined and wire.fault("reorder"):
        code += under(wire.fault("reorder"), method(
            f'@action(name="reorder{end}", fault=True)\ndef _reorder_{f}(self) -> None:',
            _LINE[wire.kind].format(f=f),
            "later = any_of([i for i in range(1, len(line)) if line[i] != line[i - 1]])",
            wire.spend("reorder"),
            "line[later - 1], line[later] = line[later], line[later - 1]",
        ))  # fmt: skip
    return code


_LINE = {
    "queue": "line = self.{f}",
    "fifo": "source = any_of(list(self.{f}))\nline = self.{f}[source]",
}
_LOSE = {
    "bag": "message = any_of({{m for m in self.{f}}})\n\nself.{f}.remove(message)",
    "set": "message = any_of(self.{f})\n\nself.{f}.remove(message)",
    "queue": "at = any_of(range(len(self.{f})))\n\nself.{f}.pop(at)",
    "fifo": (
        "source = any_of(list(self.{f}))\nat = any_of(range(len(self.{f}[source])))\n\n"
        "self.{f}[source].pop(at)\nif not self.{f}[source]:\n    del self.{f}[source]"
    ),
}


def _receiving(wire: Wire, handler: Handler) -> str:
    """Return the actions of a role that receive for a handler."""
    name, message = handler.node.name, handler.parameter
    fair = f", fair={handler.options['fair']}" if "fair" in handler.options else ""
    each = f", fair={handler.options['each']}" if "each" in handler.options else ""
    options = _options(wire, "self", handler.types)
    code = method(
        f'@action(name="{name}"{fair})\ndef {RECEIVING}{name}(self) -> None:',
        f"{message} = any_of({options}{each})",
        _taken(wire, "self", message),
        f"self.{name}({message})",
    )
    if wire.fault("duplicates"):
        code += under(wire.fault("duplicates"), method(
            f'@action(name="{name}_again", fault=True)\ndef {_AGAIN}{name}(self) -> None:',
            wire.spend("duplicates"),
            f"{message} = any_of({options})",
            f"self.{name}({message})",
        ))  # fmt: skip
    return code


def _members(wire: Wire) -> Iterator[str]:
    """Yield the budgets and methods of a network."""
    f, who, what = wire.field, " | ".join(wire.receivers), " | ".join(wire.messages)
    for fault, left in _BUDGETS.items():
        given = wire.fault(fault)
        if given in ("", "True"):
            continue
        spend = f"def spend_{fault}(self) -> None:"
        bounded = f"{left}: int = {given}\n"
        bounded += method(spend, f"require(self.{left} > 0)", f"self.{left} -= 1")
        if given.isdigit():
            yield bounded
            continue
        yield f"if {given} and {given} is not True:\n{indent(bounded, '    ')}"
        yield f"if {given} is True:\n" + indent(method(spend), "    ")
    yield method(
        f'def send(self, to: "{who}", message: "{what}") -> None:',
        _SEND[wire.kind].format(f=f),
    )
    yield method(
        f'def broadcast(self, to: "list[{who}]", message: "{what}") -> None:',
        "for one in to:\n    self.send(one, message)",
    )
    yield method(
        f'def to(self, role: "{who}") -> "list[{what}]":',
        _TO.get(wire.kind, "return role.{f}").format(f=f),
    )
    head = f'def receive(self, by: "{who}") -> "{what}":'
    message = f"message = any_of({_options(wire, 'by', wire.messages)})"
    taken = _taken(wire, "by", "message")
    again = method("if maybe():", wire.spend("duplicates"), "return message")
    if given := wire.fault("duplicates"):
        yield under(wire.fault("duplicates"), method(head, message, again, taken, "return message"))
    if given != "True":
        plain = method(head, message, taken, "return message")
        yield f"if not {given}:\n{indent(plain, '    ')}" if given else plain
    dropped = _DROP[wire.kind].format(f=f, everyone=_everyone(wire)) if wire.sourced else ""
    yield method(f'def drop(self, role: "{who}") -> None:', f"role.{f}.clear()", dropped)
    if wire.fault("partitions"):
        yield _partitions(wire)


_ONE_BY_ONE = """for one in [{everyone}]:
    for m in [m for m in one.{f} if m.source is role]:
        one.{f}.remove(m)"""
_DROP = {
    "bag": _ONE_BY_ONE,
    "set": _ONE_BY_ONE,
    "kept": _ONE_BY_ONE,
    "queue": "for one in [{everyone}]:\n    one.{f} = [m for m in one.{f} if m.source is not role]",
    "fifo": "for one in [{everyone}]:\n    one.{f}.pop(role, None)",
}


def _everyone(wire: Wire) -> str:
    return ", ".join(f"*instances({name})" for name in wire.receivers)


_BUDGETS = {
    "loss": "losses_left",
    "duplicates": "duplicates_left",
    "reorder": "reorders_left",
    "partitions": "partitions_left",
}
_TO = {"fifo": "return [m for line in role.{f}.values() for m in line]"}


def _partitions(wire: Wire) -> str:
    """Return what a network with partitions is besides."""
    heal = f"fair={wire.options['heal']}" if "heal" in wire.options else ""
    code = 'sides: "set[frozenset[Role]]" = set()\n'
    code += method(
        "def connects(self, one: Role, other: Role) -> bool:",
        "return not self.sides or any(one in side and other in side for side in self.sides)",
    )
    code += method(
        "@action(fault=True)\ndef part(self) -> None:",
        "require(not self.sides)",
        wire.spend("partitions"),
        f"self.sides = set(any_of(splits([{_everyone(wire)}])))",
    )
    code += method(
        f"@action({heal})\ndef heal(self) -> None:", "require(self.sides)", "self.sides = set()"
    )
    return under(wire.fault("partitions"), code)
