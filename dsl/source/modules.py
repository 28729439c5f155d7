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
import os
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any
from weakref import WeakSet

from statewalk.dsl.annotations import copy_annotations, why_quoted
from statewalk.dsl.declared import Declared, declaring
from statewalk.dsl.errors import Span, SpecError, StatewalkError, place_of, raised
from statewalk.dsl.source.apart import World, is_imported
from statewalk.dsl.source.importing import from_texts
from statewalk.dsl.source.nodes import WITH_ASSERTIONS, copied, walk
from statewalk.dsl.source.set_order import settled, with_ordered_builtins, with_ordered_sets
from statewalk.dsl.source.settings import check_settings, keeping_settings
from statewalk.dsl.source.texts import (
    IS_CHOICE,
    Source,
    check_hidden_types,
    file_of,
    is_authored,
    is_ours,
    is_pythons,
    is_spec_module,
    lies_with,
    package_of,
    place_in_packages,
    read_source,
    searching,
    without_ranges,
)
from statewalk.dsl.state.refs import NeedsState
from statewalk.dsl.view import Disabled
from statewalk.dsl.words.constants import (
    MUTANT,
    NO_MUTANT,
    GivenText,
    check_given,
    chosen_mutant,
    is_constant,
    no_value,
    read_constant,
)
from statewalk.dsl.words.declare import is_choice
from statewalk.dsl.words.given import Given, Place, held_in

FILES: set[str] = set()  # of the specs that were loaded, as their code objects name them
_STAND_IN = "__sw_stand_in__"


@dataclass
class SpecModule:
    """A module of a spec after it ran. ``constants`` maps name to value, as declared."""

    name: str
    source: Source
    namespace: dict[str, Any]
    constants: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StandIn:
    """A mutant that a spec is run with: its text, compiled, and the module that it is in."""

    module: SpecModule  # as it was in the run that found the mutant
    node: ast.FunctionDef
    code: types.CodeType

    def is_of(self, module: SpecModule, node: ast.FunctionDef) -> bool:
        """Return whether this is its definition, in whichever run of the spec."""
        return (self.module.name, self.node.lineno) == (module.name, node.lineno)

    def function(self, original: Any, module: types.ModuleType) -> Any:
        """Return what is defined instead of a function."""
        names, defaults = vars(module), original.__defaults__
        made = types.FunctionType(self.code, names, original.__name__, defaults)
        made.__kwdefaults__ = original.__kwdefaults__
        copy_annotations(original, made)
        made.__module__, made.__qualname__ = original.__module__, original.__qualname__
        return made


@dataclass(eq=False)
class Loading:
    """One load: constants to override, modules run so far (imported ones first).

    ``stand_ins`` are mutants by the place, file and line, of the definitions that they replace.
    ``refined``: another spec refines this one, and what this one refines is not asked.
    ``listed``: fields are kept so that expressions beside the spec may list them.
    """

    given: Mapping[str, Any]
    folder: str  # of the spec
    root: str  # of the package that the spec is in, or its folder
    assuming: bool = True  # that what the spec asserts of its constants is true
    modules: list[SpecModule] = field(default_factory=list)
    by_name: dict[str, types.ModuleType] = field(default_factory=dict)
    declared: Declared = field(default_factory=Declared)
    used: dict[str, list[str]] = field(default_factory=dict)  # given name -> constants it set
    stand_ins: Mapping[tuple[str, int], StandIn] = field(default_factory=dict)
    mutant: str = NO_MUTANT
    refined: bool = False
    listed: bool = False
    _begun: dict[str, types.ModuleType] = field(default_factory=dict)
    _texts: dict[str, tuple[Source, dict[str, Any]]] = field(default_factory=dict)  # by path
    world: World = field(init=False)
    _broken: BaseException | None = None  # what a spec module that failed is told with
    hints: dict[str, Any] = field(default_factory=dict)  # types of constants, None where unknown
    held: dict[str, list[tuple[Any, Place]]] = field(default_factory=dict)  # at each constant

    def __post_init__(self) -> None:
        self.world = World(run=self._run_beside)

    @property
    def constants(self) -> dict[str, Any]:
        """The constants of all modules; those that share a name go by ``module.NAME``."""
        shared = Counter(name for m in self.modules for name in m.constants)
        found = {
            name if shared[name] == 1 else f"{m.name}.{name}": value
            for m in self.modules
            for name, value in m.constants.items()
        }
        return {**found, MUTANT: self.mutant} if self.declared.mutants else found

    @property
    def folders(self) -> tuple[str, str]:
        """Return where the modules of the spec are."""
        return (self.folder, self.root)

    def own(self) -> list[types.ModuleType]:
        """Return the modules that this load has of its own."""
        return [*self.by_name.values(), *self.world.modules.values()]

    def start(self, source: Source) -> None:
        """Run the main module and what it imports."""
        path = Path(source.path)
        _, package = place_in_packages(path)
        _loads.add(self)
        with self.world.entered(), from_texts(), keeping_settings(source):
            sys.path = [self.root, *sys.path]  # in steps, too
            self.run(source, f"{package}.{path.stem}" if package else path.stem, package)
        if self._broken is not None:  # although the module that imports it goes on
            raise self._broken
        if self.declared.mutants:
            names = [mutant.name for mutant in self.declared.mutants if mutant.name]
            self.mutant = chosen_mutant(names, self.given, self.used)
        check_given(self.given, self.used, [*self.constants])

    def run(
        self, source: Source, name: str, package: str = "", *, part: bool = True
    ) -> types.ModuleType:
        """Run a module with constants overridden; ``part``: it is no helper of the spec."""
        FILES.add(source.path)
        outermost = not self._texts
        module = self.by_name[name] = self._begin(name, source)
        module.__package__ = package
        namespace = module.__dict__
        self._texts[source.path] = source, namespace
        spec = SpecModule(name, source, namespace)
        stored = _Storing(self, spec, part=part)
        stored.check()
        check_hidden_types(source)
        check_settings(source)
        code = self._code(source)
        declaring.append(self.declared)
        saved = sys.modules.get(name)
        # It stays for helpers that import it, pickle and the like; Python's and ours are needed.
        kept = name not in sys.stdlib_module_names and name.partition(".")[0] != "statewalk"
        kept = kept and (saved is None or is_authored(name))
        sys.modules[name] = module
        try:
            exec(code, namespace, stored)
            if sys.modules.get(name, module) is not module:
                said = f"{name} puts something else in its own place in sys.modules."
                raise SpecError("SW303", said, help="Give that a name, and import it by its name.")
        except BaseException as error:
            del self.by_name[name], self._begun[name]
            kept = False
            told = self._told(error, source)
            if part and self._broken is None:
                self._broken = told
            if outermost and told is not error:
                raise told from error if isinstance(error, Exception | SystemExit) else None
            raise  # for the module that imports this one to catch, as in Python
        finally:
            declaring.pop()
            if not kept:
                del sys.modules[name]
                sys.modules.update({} if saved is None else {name: saved})
        if part:
            self.modules.append(spec)
        return module

    def _begin(self, name: str, source: Source) -> types.ModuleType:
        """Return a module before it runs: a substitute may belong to a later one."""
        if name not in self._begun:
            loader = SourceFileLoader(name, os.path.abspath(source.path))
            found = importlib.util.spec_from_loader(name, loader)
            assert found is not None, "Python's loader knows its file"
            module = self._begun[name] = importlib.util.module_from_spec(found)
            vars(module)["__builtins__"] = self._builtins(source)
        return self._begun[name]

    def _code(self, source: Source) -> types.CodeType:
        level = WITH_ASSERTIONS if self.assuming else 1
        if not self.stand_ins:
            return _compiled(source, level)
        tree = _to_run(source)
        self._mark_replaced(tree, source)
        return compile(tree, source.path, "exec", dont_inherit=True, optimize=level)

    def _mark_replaced(self, tree: ast.Module, source: Source) -> None:
        """Decorate each function that a mutant replaces, where it is defined."""
        for node in walk(tree):
            if isinstance(node, ast.FunctionDef) and (source.path, node.lineno) in self.stand_ins:
                name = ast.Name(_STAND_IN, ast.Load())
                call = ast.Call(name, [ast.Constant(source.path), ast.Constant(node.lineno)], [])
                placed = ast.fix_missing_locations(ast.copy_location(call, node))
                node.decorator_list.append(placed)

    def _stand_in(self, path: str, line: int) -> Callable[[Any], Any]:
        found = self.stand_ins[path, line]
        module = self._begin(found.module.name, found.module.source)
        return lambda original: found.function(original, module)

    def _builtins(self, source: Source) -> dict[str, Any]:
        known = source.builtins
        if known is None:
            assert source.dialect == "python", "nothing else may reach Python's own"
            imports = dict.fromkeys(("__import__", "__lazy_import__"), self._import)
            known = {**vars(builtins), **imports, _STAND_IN: self._stand_in}
        return with_ordered_builtins({**known, IS_CHOICE: is_choice})

    def span_of(self, made: Any) -> Span | None:
        """Return where a function is defined, if that is in the spec's own text."""
        code = getattr(made, "__code__", None)
        if code is None or code.co_filename not in {m.source.path for m in self.modules}:
            return None
        return Span(code.co_filename, code.co_firstlineno)

    def _told(self, error: BaseException, source: Source) -> BaseException:
        """Return what the reader is told where a module raises an error."""
        at = place_of(error, {*self._texts, *(path for path, _ in self.stand_ins)})
        source, names = self._texts.get(at.file if at else "", self._texts[source.path])
        match error:
            case StatewalkError():
                error.at = error.at or at
            case AssertionError():
                return self._assumption(error, source, at)
            case NeedsState() | Disabled():
                return _too_early(error, at)
            case Exception() | SystemExit():
                found = raised(error, "while loading the spec", {*self._texts}, names)
                if isinstance(error, Exception):
                    quoted = why_quoted(error, source.tree, found.at)
                    found.why, found.help = quoted or ("", found.help)
                return found
        return error

    def _assumption(self, error: AssertionError, source: Source, span: Span | None) -> SpecError:
        named = ""
        for node in source.tree.body:
            if not isinstance(node, ast.Assert) or span is None:
                continue
            if node.lineno <= span.line <= (node.end_lineno or node.lineno):
                read = [n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)]
                named = " or ".join(dict.fromkeys(n for n in read if n in self.hints))
            if span == source.span(node):  # Python 3.12 gives the place of the whole statement
                span = source.span(node.test)
        shown = ", ".join(f"{name}={value!r}" for name, value in self.constants.items())
        said = f"An assumption on the constants is false{': ' + str(error) if str(error) else ''}."
        why = f"Constants: {shown}." if shown else ""
        help = f"Choose {f'another value of {named}' if named else 'other constants'} with --set."
        return SpecError("SW304", said, at=span, why=why, help=help)

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        """``import`` inside a spec module: sibling spec modules are run privately."""
        with searching(self.root), from_texts():  # also in a step
            return self._imported(name, globals, locals, fromlist, level)

    def _imported(self, name: str, globals: Any, locals: Any, fromlist: Any, level: int) -> Any:
        package = (globals or {}).get("__package__") or ""
        full = importlib.util.resolve_name("." * level + name, package) if level else name
        parts = full.split(".")
        chain = [".".join(parts[: i + 1]) for i in range(len(parts))]
        inner = [f"{full}.{item}" for item in fromlist or ()]
        known: dict[str, ModuleSpec | None] = {}
        if not any(self.is_own(module, known) for module in (*chain, *inner)):
            with searching(self.folder):
                found = self.world.importing(name, globals, locals, fromlist, level)
            return self._importlib if found is importlib else found
        self._private(full)
        if "*" in (fromlist or ()):
            inner += [f"{full}.{item}" for item in getattr(self.by_name[full], "__all__", ())]
        for module in inner:
            if not hasattr(self.by_name[full], module.rpartition(".")[2]) and self.is_own(module):
                self._private(module)
        return self.by_name[full if fromlist else chain[0]]

    @cached_property
    def _importlib(self) -> types.ModuleType:
        """Return `importlib` as a spec sees it: its ``import_module`` does what ``import`` does."""

        def import_module(name: str, package: str | None = None) -> types.ModuleType:
            full = importlib.util.resolve_name(name, package)
            with searching(self.root), searching(self.folder):
                if not self.is_own(full):
                    return importlib.import_module(full)
            return self._import(full, fromlist=("",))  # type: ignore[no-any-return]

        seen = types.ModuleType("importlib")
        vars(seen).update(vars(importlib), import_module=import_module)
        vars(seen)["__getattr__"] = lambda name: getattr(importlib, name)  # imported later
        return seen

    def is_own(self, name: str, known: dict[str, ModuleSpec | None] | None = None) -> bool:
        """Return whether a module is run for this load alone; ``known`` is for `file_of`."""
        outer = name.rpartition(".")[0]
        if name in self.by_name:
            return True
        if is_ours(name):
            return False
        file = file_of(name, self.folder, known)
        if file is None or outer in self.by_name:
            return file is not None
        return not is_pythons(name, file) and (
            lies_with(file, self.folders)
            or is_spec_module(file, package_of(file, name), self.folders, set())
        )

    def is_own_or_imported(self, name: str) -> bool:
        """Return whether a module is run for this load alone, or imported for it."""
        return is_imported(name) or self.is_own(name)

    def _run_beside(self, name: str, file: str) -> types.ModuleType | None:
        """Return a module of the spec's own that a helper imports; None for any other."""
        found = file_of(name, self.folder) or Path()
        alike = os.path.realpath(found) == os.path.realpath(file) and self.is_own(name)
        return self._private(name) if alike else self.by_name.get(name)

    def _private(self, name: str) -> types.ModuleType:
        """Return a module that is run as part of the spec, and a package around such a one."""
        outer, _, last = name.rpartition(".")
        if outer:
            self._private(outer)
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
            if outer:
                setattr(self.by_name[outer], last, self.by_name[name])
        return self.by_name[name]


def _to_run(source: Source) -> ast.Module:
    return with_ordered_sets(without_ranges(copied(source.tree)), source.imported)


@lru_cache(maxsize=32)
def _compiled(source: Source, level: int) -> types.CodeType:
    return compile(_to_run(source), source.path, "exec", dont_inherit=True, optimize=level)


class _Storing(MutableMapping[str, Any]):
    """The local namespace of a running module: stores go to the module, constants overridden."""

    def __init__(self, loading: Loading, module: SpecModule, *, part: bool) -> None:
        self._loading = loading
        self._module = module
        self._hints = {
            node.target.id: (hint, node)
            for node in module.source.tree.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
            if part and (hint := is_constant(node.annotation)) is not None
        }

    def check(self) -> None:
        """Raise SpecError[SW301] for a constant without a value, which would be none at all."""
        for name, (_, node) in self._hints.items():
            if node.value is None:
                hint, at = ast.unparse(node.annotation), self._module.source.span(node)
                raise no_value(name, hint, at)

    def __setitem__(self, name: str, value: Any) -> None:
        namespace = self._module.namespace
        if name in self._hints:
            value = settled(self._constant(name, value))
            self._module.constants[name] = value
        # Python 3.14 adds the numbers of annotations that it met to a set of its own.
        namespace[name] = value if name == "__conditional_annotations__" else settled(value)

    def __getitem__(self, name: str) -> Any:
        return self._module.namespace[name]

    def __delitem__(self, name: str) -> None:
        del self._module.namespace[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._module.namespace)

    def __len__(self) -> int:
        return len(self._module.namespace)

    def copy(self) -> dict[str, Any]:
        """Return the names, as a dict does; so does ``locals() | {...}``."""
        return dict(self)

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**self, **other}

    def _constant(self, name: str, default: Any) -> Any:
        hint, node = self._hints[name]
        loading, given = self._loading, default
        try:
            resolved = eval(compile(ast.Expression(hint), "<hint>", "eval"), self._module.namespace)
        except Exception:
            resolved = None
        full = f"{self._module.name}.{name}"
        loading.hints |= {name: resolved, full: resolved}
        own = {**loading.world.imported(), **loading.by_name}
        here = loading.held[full] = [*held_in(own.values())]
        try:
            for key in (full, name):
                if key in loading.given:
                    meant = loading.used.setdefault(key, [])
                    meant += [full] if full not in meant else []
                    others = [m for of in _loads if of is not loading for m in of.own()]
                    unset = {n for m in loading.modules for n in m.constants} | {name}
                    held = [one for of in _loads for one in of.held.get(full, ())]
                    asked = (own, loading.is_own_or_imported, resolved, here, held, others, unset)
                    given = Given(*asked).adopted(name, loading.given[key])
                    break
            if isinstance(given, GivenText) and callable(default):  # a function, by its name
                given = self._module.namespace.get(given, given)
            return read_constant(name, given, resolved)
        except SpecError as error:
            error.at = self._module.source.span(node)
            raise


_loads: WeakSet[Loading] = WeakSet()


def loading_of(
    source: Source,
    given: Mapping[str, Any],
    *,
    assuming: bool = True,
    stand_ins: Mapping[tuple[str, int], StandIn] | None = None,
) -> Loading:
    """Return a load of a spec that is still to `start`."""
    path = Path(source.path)
    root, _ = place_in_packages(path)
    return Loading(
        given,
        str(path.resolve().parent),
        root,
        assuming,
        declared=Declared(fizz=source.dialect == "fizz"),
        stand_ins=stand_ins or {},
    )


def _too_early(error: BaseException, at: Span | None) -> SpecError:
    """Return what only a step can do, asked for by the text of a module itself."""
    said = "The state is asked for" if isinstance(error, NeedsState) else "A guard is false"
    why = "There is no state yet: it begins with the fields' defaults and @init."
    help = "Do this in @init, an action or a property. An assumption on constants is an assert."
    return SpecError("SW303", f"{said} while the spec is loaded.", at=at, why=why, help=help)
