"""SW152: defaults of parameters that would have to be worked out at each call."""

from __future__ import annotations

import ast

from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.fizz.names import Names
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.source.nodes import walk


def check_defaults(names: Names, file: str, mistakes: Mistakes) -> None:
    """Refuse defaults that ask for what there is only while a step runs."""
    asked = {n: f"the func '{n}'" for n, m in names.members.items() if isinstance(m, tree.Func)}
    asked |= {name: f"the state variable '{name}'" for name in names.state}
    asked["self"] = "'self'"
    in_roles = [member for role in names.roles.values() for member in role.node.body]
    functions: list[tree.Func | ast.FunctionDef] = [
        m for m in [*names.members.values(), *in_roles] if isinstance(m, tree.Func)
    ]
    functions += [m for m in in_roles if isinstance(m, ast.FunctionDef)]
    for function in functions:
        for default in function.args.defaults:
            for part in walk(default):
                if isinstance(part, ast.Name) and part.id in asked:
                    mistakes.add(
                        "SW152",
                        f"A default of {function.name} asks for {asked[part.id]}, which is not "
                        "supported.",
                        at=Span.of(part, file),
                        why="A default is worked out once, before there is a state.",
                        help="Give the value at each call.",
                    )
