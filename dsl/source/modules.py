"""Running spec modules: afresh for each set of constants, and privately.

A module that imports `statewalk`, or another spec module, is a spec module. Importing one from
another runs it again in the same private table, so that its constants can be overridden and nothing
is shared between two loads.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import sys
import types
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from statewalk.dsl.declared import Declared, declaring
from statewalk.dsl.errors import RunError, Span, SpecError, StatewalkError
from statewalk.dsl.files import MOST_OF_A_TEXT, read_bytes
from statewalk.dsl.model import Dialect
from statewalk.dsl.source.heads import without_ranges
from statewalk.dsl.source.imports import (
    file_of,
    is_ours,
    is_spec_module,
    lies_with,
    package_of,
    place_in_packages,
    searching,
)
from statewalk.dsl.source.nodes import copied, longest_line, not_python, too_deep, too_nested
from statewalk.dsl.source.set_order import (
    imported_names,
    settled,
    with_ordered_builtins,
    with_ordered_sets,
)
from statewalk.dsl.state.refs import NeedsState, too_early
from statewalk.dsl.view import Disabled
from statewalk.dsl.words.constants import check_given, is_constant, no_value, read_constant
from statewalk.dsl.words.given import Given

FILES: set[str] = set()  # of the specs that were loaded, as their code objects name them


@dataclass
class Source:
    """The text of a spec module and its syntax tree.

    ``builtins`` are all that its code has without importing it; None: Python's.
    """

    path: str
    text: str
    tree: ast.Module
    dialect: Dialect = "python"
    builtins: Mapping[str, Any] | None = None

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that it imports, see `dsl.source.set_order`."""
        return imported_names(self.tree)

    @property
    def digest(self) -> str:
        return sha256(self.text.encode()).hexdigest()

    def span(self, node: ast.AST) -> Span:
        """Where a node is."""
        return Span.of(node, self.path)


def read_source(path: str) -> Source:
    """Read and parse a module in Python. Raises RunError[SW302], SpecError[SW100]."""
    return parse_source(path, read_text(path))


def read_text(path: str) -> str:
    """The text of a spec. Raises RunError[SW302], SpecError[SW100]."""
    file = Path(path)
    if file.is_dir():
        raise RunError(
            "SW302", f"{path} is a directory, not a spec.", help="Name a .py or .fizz file in it."
        )
    if not file.exists():
        raise no_file(path)
    try:
        data = read_bytes(file, MOST_OF_A_TEXT)
    except OSError as error:
        raise RunError("SW302", f"{path} cannot be read: {error.strerror}.") from error
    try:
        return data.decode("utf-8-sig")  # some editors write a mark at the start
    except UnicodeDecodeError as error:
        raise SpecError(
            "SW100",
            f"{path} is not text (byte {error.start}).",
            help="A spec is a UTF-8 text file.",
        ) from None


def no_file(path: str) -> RunError:
    """The error of a spec that is not there, with those that are."""
    folder = Path(path).parent
    specs = sorted(p.name for p in folder.glob("*.*") if p.suffix in (".py", ".fizz"))
    listed = f"In {folder}: {', '.join(specs[:8])}." if specs else ""
    return RunError("SW302", f"There is no file {path}.", help=listed)


def parse_source(path: str, text: str) -> Source:
    """Parse the text of a spec module. Raises SpecError[SW100]."""
    if "\x00" in text:
        raise SpecError(
            "SW100",
            f"{path} is not text (it holds a zero byte).",
            help="A spec is a UTF-8 text file.",
        )
    try:
        tree = ast.parse(text, "")  # given a file, Python takes columns from 1 kB of it
    except SyntaxError as error:
        raise not_python(error, path) from None
    except (RecursionError, MemoryError):
        raise too_nested("SW100", longest_line(path, text)) from None
    source = Source(path, text, tree)
    if (node := too_deep(tree)) is not None:
        raise too_nested("SW100", source.span(node))
    return source


@dataclass
class SpecModule:
    """A module of a spec after it ran. ``constants`` maps name to value, as declared."""

    name: str
    source: Source
    namespace: dict[str, Any]
    constants: dict[str, Any] = field(default_factory=dict)


@dataclass
class Loading:
    """One load: constants to override, modules run so far (imported ones first)."""

    given: Mapping[str, Any]
    folder: str  # of the spec
    root: str  # of the package that the spec is in, or its folder
    assuming: bool = True  # that what the spec asserts of its constants is true
    modules: list[SpecModule] = field(default_factory=list)
    by_name: dict[str, types.ModuleType] = field(default_factory=dict)
    declared: Declared = field(default_factory=Declared)
    used: dict[str, list[str]] = field(default_factory=dict)  # given name -> constants it set

    @property
    def constants(self) -> dict[str, Any]:
        """The constants of all modules; those that share a name go by ``module.NAME``."""
        shared = Counter(name for m in self.modules for name in m.constants)
        return {
            name if shared[name] == 1 else f"{m.name}.{name}": value
            for m in self.modules
            for name, value in m.constants.items()
        }

    @property
    def folders(self) -> tuple[str, str]:
        """Where the modules of the spec are."""
        return (self.folder, self.root)

    def start(self, source: Source) -> None:
        """Run the main module and what it imports."""
        path = Path(source.path)
        _, package = place_in_packages(path)
        with searching(self.root):
            self.run(source, f"{package}.{path.stem}" if package else path.stem, package)
        check_given(self.given, self.used, [*self.constants])

    def run(
        self, source: Source, name: str, package: str = "", *, part: bool = True
    ) -> types.ModuleType:
        """Run a module's code with constants overridden as they are stored.

        ``part``: it is part of the spec, not a helper that happens to lie with it.
        """
        FILES.add(source.path)
        module = types.ModuleType(name)
        module.__file__ = source.path
        module.__package__ = package
        namespace = module.__dict__
        namespace["__builtins__"] = self._builtins(source)
        self.by_name[name] = module
        spec = SpecModule(name, source, namespace)
        stored = _Storing(self, spec, part=part)
        stored.check()
        tree = with_ordered_sets(without_ranges(copied(source.tree)), source.imported)
        level = -1 if self.assuming else 1  # without assertions
        code = compile(tree, source.path, "exec", dont_inherit=True, optimize=level)
        declaring.append(self.declared)
        saved = sys.modules.get(name)
        sys.modules[name] = module
        try:
            exec(code, namespace, stored)
        except StatewalkError as error:
            if error.at is None:
                error.at = place_of(error, self.paths(source))
            raise
        except AssertionError as error:
            raise self._assumption(error, source) from None
        except (NeedsState, Disabled) as error:
            raise too_early(error, place_of(error, self.paths(source))) from None
        except (Exception, SystemExit) as error:
            when = "while the spec was loaded"
            raise raised(error, when, self.paths(source)) from error
        finally:
            declaring.pop()
            if saved is None:
                del sys.modules[name]
            else:
                sys.modules[name] = saved
        if part:
            self.modules.append(spec)
        return module

    def _builtins(self, source: Source) -> dict[str, Any]:
        known = source.builtins
        if known is None:
            assert source.dialect == "python", "nothing else may reach Python's own"
            known = {**vars(builtins), "__import__": self._import}
        return with_ordered_builtins(known)

    def paths(self, source: Source) -> set[str]:
        return {source.path, *(m.source.path for m in self.modules)}

    def _assumption(self, error: AssertionError, source: Source) -> SpecError:
        span = place_of(error, self.paths(source))
        shown = ", ".join(f"{name}={value!r}" for name, value in self.constants.items())
        return SpecError(
            "SW304",
            f"An assumption on the constants is false{': ' + str(error) if str(error) else ''}.",
            at=span,
            why=f"Constants: {shown}." if shown else "",
            help="Choose other constants with --set.",
        )

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        """``import`` inside a spec module: sibling spec modules are run privately."""
        package = (globals or {}).get("__package__") or ""
        full = importlib.util.resolve_name("." * level + name, package) if level else name
        parts = full.split(".")
        chain = [".".join(parts[: i + 1]) for i in range(len(parts))]
        inner = [f"{full}.{item}" for item in fromlist or ()]
        if not any(map(self.is_own, (*chain, *inner))):
            with searching(self.folder):
                return builtins.__import__(name, globals, locals, fromlist, level)
        for module in chain:
            self._private(module)
        for module in inner:
            if not hasattr(self.by_name[full], module.rpartition(".")[2]) and self.is_own(module):
                self._private(module)
        return self.by_name[full if fromlist else chain[0]]

    def is_own(self, name: str) -> bool:
        """Whether a module is run for this load alone: done already, a spec module, below one, or a
        helper that lies with the spec.
        """
        outer = name.rpartition(".")[0]
        if name in self.by_name:
            return True
        if is_ours(name):
            return False
        file = file_of(name, self.folder)
        return file is not None and (
            outer in self.by_name
            or lies_with(file, self.folders)
            or is_spec_module(file, package_of(file, name), self.folders, set())
        )

    def _private(self, name: str) -> types.ModuleType:
        """A module that is run as part of the spec, and a package around such a one."""
        if name not in self.by_name:
            file = None if is_ours(name) else file_of(name, self.folder)
            if is_ours(name):  # a copy: what is run privately below it is nobody else's
                self.by_name[name] = types.ModuleType(name)
                vars(self.by_name[name]).update(vars(importlib.import_module(name)))
            elif file is not None:
                package = package_of(file, name)
                part = is_spec_module(file, package, self.folders, set())
                part = part or any(m.name == name.rpartition(".")[0] for m in self.modules)
                self.run(read_source(str(file)), name, package, part=part)
            else:
                with searching(self.folder):
                    found = importlib.import_module(name)
                only_holds = getattr(found, "__file__", None) is None  # a folder and no more
                self.by_name[name] = types.ModuleType(name) if only_holds else found
            outer, _, last = name.rpartition(".")
            if outer:
                setattr(self.by_name[outer], last, self.by_name[name])
        return self.by_name[name]


class _Storing(dict[str, Any]):
    """The local namespace of a running module: stores go to the module, constants overridden."""

    def __init__(self, loading: Loading, module: SpecModule, *, part: bool) -> None:
        super().__init__()
        self._loading = loading
        self._module = module
        self._hints = {
            node.target.id: (hint, node)
            for node in module.source.tree.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
            if part and (hint := is_constant(node.annotation)) is not None
        }

    def check(self) -> None:
        """Raises SpecError[SW301] for a constant without a value, which would be none at all."""
        for name, (_, node) in self._hints.items():
            if node.value is None:
                hint, at = ast.unparse(node.annotation), self._module.source.span(node)
                raise no_value(name, hint, at)

    def __setitem__(self, name: str, value: Any) -> None:
        namespace = self._module.namespace
        if name in self._hints:
            value = settled(self._constant(name, value))
            self._module.constants[name] = value
        namespace[name] = settled(value)

    def __getitem__(self, name: str) -> Any:
        return self._module.namespace[name]

    def __delitem__(self, name: str) -> None:
        del self._module.namespace[name]

    def _constant(self, name: str, default: Any) -> Any:
        hint, node = self._hints[name]
        loading, given = self._loading, default
        try:
            resolved = eval(compile(ast.Expression(hint), "<hint>", "eval"), self._module.namespace)
        except Exception:
            resolved = None
        try:
            full = f"{self._module.name}.{name}"
            for key in (full, name):
                if key in loading.given:
                    meant = loading.used.setdefault(key, [])
                    meant += [full] if full not in meant else []
                    known = Given(loading.by_name, loading.is_own, resolved)
                    given = known.adopted(name, loading.given[key])
                    break
            return read_constant(name, given, resolved)
        except SpecError as error:
            error.at = self._module.source.span(node)
            raise


def place_of(error: BaseException, paths: Collection[str]) -> Span | None:
    """The innermost place of a traceback that lies in the spec's own files."""
    span = None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename in paths:
            line, last, column, end = list(code.co_positions())[trace.tb_lasti // 2]
            span = Span(code.co_filename, trace.tb_lineno, 1)
            if line is not None and column is not None:
                after = end + 1 if line == last and end is not None else None
                span = Span(code.co_filename, line, column + 1, after)
        trace = trace.tb_next
    return span


def raised(error: BaseException, when: str, paths: Collection[str]) -> SpecError:
    """The error of a spec whose own code raised something."""
    text = f": {error}" if str(error) else "."
    return SpecError("SW303", f"{type(error).__name__} {when}{text}", at=place_of(error, paths))


def run_spec(source: Source, given: Mapping[str, Any] | None = None) -> Loading:
    """Run a spec's main module and what it imports."""
    loading = loading_of(source, given or {})
    loading.start(source)
    return loading


def loading_of(source: Source, given: Mapping[str, Any], *, assuming: bool = True) -> Loading:
    """A load of a spec that is still to `start`."""
    path = Path(source.path)
    root, _ = place_in_packages(path)
    declared = Declared(fizz=source.dialect == "fizz")
    folder = str(path.resolve().parent)
    return Loading(given, folder, root, assuming, declared=declared)
