"""The texts of spec modules: read, parsed, and the heads of functions as Python is to run them.

``i: int = any_of(range(3))``: what is in the brackets is looked up once, when the spec has been
read, and not when Python meets the function. It may be empty, and use names declared further below.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import os
import sys
import sysconfig
import tokenize
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.machinery import (
    BuiltinImporter,
    FrozenImporter,
    ModuleSpec,
    PathFinder,
)
from pathlib import Path
from typing import Any

from statewalk.dsl import files
from statewalk.dsl.errors import LOADED, RunError, Span, SpecError, one_line
from statewalk.dsl.files import MOST_OF_A_TEXT, absolute, read_bytes
from statewalk.dsl.model import Dialect
from statewalk.dsl.source.networks import with_networks
from statewalk.dsl.source.nodes import longest_line, not_python, too_deep, too_nested, walk
from statewalk.dsl.source.set_order import imported_names

_PACKAGE = Path(__file__).parents[2]
_OURS = [
    p
    for name in ("dsl", "checker", "__init__.py")
    for p in (_PACKAGE / name, (_PACKAGE / name).resolve())
]

_INSTALLED = frozenset({"site-packages", "dist-packages"})
# What the engine runs on may lie in a folder of another name, and opens files while kernels load.
_ENGINE = [
    Path(folder)
    for name in ("llvmlite", "numba", "numpy")
    if (found := PathFinder.find_spec(name)) is not None
    for folder in found.submodule_search_locations or ()
]

# Asked for once, now: Python 3.13 finds out by importing a module, and while a spec is loaded each
# import asks us whether that is installed, before there is an answer.
_STDLIB = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
_STDLIB.append(os.path.dirname(os.__file__))  # which may be an archive


@contextmanager
def searching(*folders: str) -> Iterator[None]:
    """Look for modules in some folders first, for a while."""
    sys.path = [*folders, *sys.path]  # another thread may be going through the list that was
    try:
        yield
    finally:
        path = [*sys.path]
        for folder in folders:
            with suppress(ValueError):  # the spec may have removed it
                path.remove(folder)
        sys.path = path


def place_in_packages(path: Path) -> tuple[str, str]:
    """Return where the imports of a spec's main module start, and the package that it is in."""
    folder, package = path.resolve().parent, ""
    while (folder / "__init__.py").exists():
        package = f"{folder.name}.{package}" if package else folder.name
        folder = folder.parent
    return str(folder), package


def file_of(
    name: str, folder: str, known: dict[str, ModuleSpec | None] | None = None
) -> Path | None:
    """Return the text of a module; of a package, its ``__init__.py``. None where there is none.

    ``known`` keeps what was found for whoever asks for several modules of a package at once.
    """
    head, *rest = name.split(".")
    known = {} if known is None else known
    if head not in known:
        known[head] = _found(head, folder)
    spec = known[head]
    if spec is None:
        return None
    file = Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
    if file is not None and ".." in file.parts:
        file = file.resolve()  # it may lie beside a folder that it is named by
    file = file if file is None or file.is_file() else None  # it is in an archive
    folders = [Path(p) for p in spec.submodule_search_locations or ()]
    for part in rest:
        file = module_file(part, folders)
        folders = [f / part for f in folders] if file is None else [file.parent]
        if file is not None and file.name != "__init__.py":
            folders = []
    return file


def _found(head: str, folder: str) -> ModuleSpec | None:
    """Return what Python finds under a name without dots."""
    with searching(folder):
        spec = BuiltinImporter.find_spec(head) or FrozenImporter.find_spec(head)
        spec = spec or PathFinder.find_spec(head)
        if spec is None and head not in sys.modules:  # what is installed to be edited
            spec = importlib.util.find_spec(head)
    return spec


def module_file(name: str, folders: list[Path] | tuple[str, ...]) -> Path | None:
    """Return the file of a module or package below one of some folders."""
    for folder in folders:
        place = Path(folder, *name.split("."))
        for file in (place / "__init__.py", place.with_name(place.name + ".py")):
            if file.is_file():
                return file
    return None


def package_of(file: Path, name: str) -> str:
    """Return the package that the relative imports of a module start from."""
    return name if file.name == "__init__.py" else name.rpartition(".")[0]


def lies_with(path: Path, folders: tuple[str, ...]) -> bool:
    """Return whether a module is its author's own: in `folders`, and not installed there."""
    inside = any(path.is_relative_to(folder) for folder in folders)
    return inside and not _is_package(path)


def _is_package(path: Path) -> bool:
    if not _INSTALLED.isdisjoint(path.parts):
        return True
    return any(map(path.is_relative_to, _STDLIB))


def is_pythons(name: str, file: Path) -> bool:
    """Return whether a module is of Python's own library, which is in no spec."""
    ours = name.partition(".")[0] in sys.stdlib_module_names
    return ours and any(str(file).startswith(folder + os.sep) for folder in _STDLIB)


@lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    """Return whether a file came with Python, with a package, or with statewalk, and is no
    author's.
    """
    path = Path(file)
    known = any(map(path.is_relative_to, (*_OURS, *_ENGINE)))
    return known or file.startswith("<frozen ") or _is_package(path)


def package_in(file: str) -> str:
    """Return the installed package or module that a file belongs to, or an empty text."""
    parts = Path(file).parts
    for at, part in enumerate(parts[:-1]):
        if part in _INSTALLED:
            return parts[at + 1].partition(".")[0]
    return ""


@lru_cache(maxsize=4096)
def is_program(file: str) -> bool:
    """Return whether a file is statewalk's own; its library of models is not."""
    return any(map(Path(file).is_relative_to, _OURS))


def is_authored(name: str) -> bool:
    """Return whether a module that Python imported is somebody's own: neither ours, nor
    installed.
    """
    file = getattr(sys.modules.get(name), "__file__", None)
    if is_ours(name) or name == "__main__":
        return not is_ours(name)
    return file is not None and not is_installed(file)


def is_spec_module(path: Path, package: str, folders: tuple[str, ...], seen: set[Path]) -> bool:
    """Return whether a module imports the language, or one in `folders` that does: both make it
    part of a spec.

    Modules installed elsewhere, Python's own among them, count when they do so themselves.
    """
    seen.add(path)
    try:
        text = files.read_text(path, most=MOST_OF_A_TEXT)
        inside = any(path.is_relative_to(folder) for folder in folders)
        if "statewalk" not in text and not inside:  # most modules are settled without being parsed
            return False
        names = imported_modules(text, package)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if any(map(_is_language, names)):
        return True
    return inside and any(
        is_spec_module(file, package_of(file, name), folders, seen)
        for name in names
        if (file := module_file(name, folders)) is not None and file not in seen
    )


_SERVICES = (
    "Replay", "Result", "Run", "Trace", "check", "load", "load_trace", "replay", "save_trace",
)  # fmt: skip
"""Names of the package that are no words of the language."""


def is_ours(module: str) -> bool:
    """Return whether a module is statewalk itself; what is written in the language is not."""
    written = module.startswith("statewalk.models") or module == "statewalk.dsl.words.timeouts"
    return module.partition(".")[0] == "statewalk" and not written


def is_service(name: str) -> bool:
    """Return whether an imported name is statewalk's, but no word of the language."""
    package, _, rest = name.partition(".")
    return package == "statewalk" and rest.partition(".")[0] in ("checker", *_SERVICES)


def _is_language(name: str) -> bool:
    """Return whether an imported name is of the language: who imports one is part of the spec."""
    return name.startswith("statewalk.") and not is_service(name)


@lru_cache(maxsize=256)  # a load asks several times
def imported_modules(text: str, package: str) -> list[str]:
    """Return the full names that a module imports; of `from m import n`, both `m` and `m.n`."""
    names: list[str] = []
    for node in _read_off(text)[0]:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
            continue
        relative = "." * node.level + (node.module or "")
        try:
            full = importlib.util.resolve_name(relative, package) if node.level else relative
        except ImportError:
            continue
        names += [full, *(f"{full}.{alias.name}" for alias in node.names)]
    return names


def named_in(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names, and the attributes, that a module uses."""
    return _read_off(text)[1:]


@lru_cache(maxsize=256)
def _read_off(
    text: str,
) -> tuple[list[ast.Import | ast.ImportFrom], frozenset[str], frozenset[str]]:
    """Return the imports of a module, and the names and the attributes that it uses."""
    imports: list[ast.Import | ast.ImportFrom] = []
    named: set[str] = set()
    attributes: set[str] = set()
    for node in walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            attributes.add(node.attr)
        elif isinstance(node, ast.Name):
            named.add(node.id)
        elif isinstance(node, ast.alias):
            named.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append(node)
    return imports, frozenset(named), frozenset(attributes)


_NAMES = ("any_of", "maybe")


@dataclass(eq=False)
class Source:
    """The text of a spec module and its syntax tree, which nobody changes.

    ``builtins`` are all that its code has without importing it; None: Python's.
    ``warnings`` are those of reading it. ``read``: the text of its file, without what networks add.
    """

    path: str
    text: str
    tree: ast.Module
    dialect: Dialect = "python"
    builtins: Mapping[str, Any] | None = None
    warnings: tuple[SpecError, ...] = ()
    read: str | None = None

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that it imports, see `dsl.source.set_order`."""
        return imported_names(self.tree)

    @property
    def digest(self) -> str:
        """The digest of the text of its file."""
        return sha256((self.text if self.read is None else self.read).encode()).hexdigest()

    def span(self, node: ast.AST) -> Span:
        """Return where a node is."""
        return Span.of(node, self.path)


def read_source(path: str) -> Source:
    """Read and parse a module in Python. Raises RunError[SW302], SpecError[SW100]."""
    source = parse_source(path, read_text(path))
    LOADED[absolute(path)] = source.text  # with what networks add
    return source


def read_text(path: str) -> str:
    """Return the text of a spec. Raises RunError[SW302], SpecError[SW100]."""
    file = Path(path)
    if file.is_dir():
        said = f"{one_line(path)} is a directory, not a spec."
        raise RunError("SW302", said, help="Name a .py or .fizz file in it.")
    if not file.exists():
        raise no_file(path)
    try:
        data = read_bytes(file, MOST_OF_A_TEXT)
    except OSError as error:
        raise RunError("SW302", f"{one_line(path)} cannot be read: {error.strerror}.") from error
    if path.endswith(".py"):
        _check_encoding(path, data)
    try:
        text = data.decode("utf-8-sig")  # some editors write a mark at the start
    except UnicodeDecodeError as error:
        help = "A spec is a UTF-8 text file."
        raise SpecError("SW100", f"{path} is not text (byte {error.start}).", help=help) from None
    LOADED[absolute(path)] = text
    return text


def _check_encoding(path: str, data: bytes) -> None:
    """Raise SpecError[SW100] for a text that says that it is in another encoding than UTF-8."""
    with suppress(SyntaxError):  # of what is no text, which is told of below
        found, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if found not in ("utf-8", "utf-8-sig", "ascii"):
            said = f"{one_line(path)} is in {found}."
            raise SpecError(
                "SW100", said, help="Save it as UTF-8, without the line on its encoding."
            )


def no_file(path: str) -> RunError:
    """Return the error of a spec that is not there, with those that are."""
    folder = Path(path).parent
    specs = sorted(p.name for p in folder.glob("*.*") if p.suffix in (".py", ".fizz"))
    listed = f"In {folder}: {', '.join(specs[:8])}." if specs else ""
    return RunError("SW302", f"There is no file {one_line(path)}.", help=listed)


@lru_cache(maxsize=32)  # a sweep, a comparison and mutants load the same texts again and again
def parse_source(path: str, text: str) -> Source:
    """Parse the text of a spec module. Raises SpecError[SW100]."""
    if "\x00" in text:
        said = f"{path} is not text (it holds a zero byte)."
        raise SpecError("SW100", said, help="A spec is a UTF-8 text file.")
    try:
        tree = ast.parse(text, "")  # given a file, Python takes columns from 1 kB of it
    except SyntaxError as error:
        raise not_python(error, path) from None
    except (RecursionError, MemoryError):
        raise too_nested("SW100", longest_line(path, text)) from None
    source = Source(path, text, tree, read=text)
    if (node := too_deep(tree)) is not None:
        raise too_nested("SW100", source.span(node))
    _refuse_unread(source)
    source.text, source.tree = with_networks(path, text, tree)
    return source


_TEMPLATE = getattr(ast, "TemplateStr", type(None))  # from Python 3.14 on
_UNREAD = "A t-string", 'Write an f-string: f"...".'
_UNPACKED = "Unpacking in a comprehension", "Write a loop more: [y for x in xs for y in x]."
_UNPACKED_DICT = _UNPACKED[0], "Write a loop more: {k: v for d in ds for k, v in d.items()}."


def _refuse_unread(source: Source) -> None:
    """Raise SpecError[SW100] for syntax of newer Pythons that no spec may use."""
    for node in walk(source.tree):
        if isinstance(node, _TEMPLATE):
            name, help = _UNREAD
        elif isinstance(node, ast.DictComp) and getattr(node, "value", None) is None:
            name, help = _UNPACKED_DICT
        elif isinstance(getattr(node, "elt", None), ast.Starred):
            name, help = _UNPACKED
        else:
            continue
        raise SpecError("SW100", f"{name} is not read in a spec.", at=source.span(node), help=help)


# -- heads of functions --------------------------------------------------------------------------
IS_CHOICE = "__sw_is_choice__"  # of a module's builtins: whether a function is a choice's word


def is_range(node: ast.expr | None) -> bool:
    """Return whether a default may say over what its parameter ranges: functions of the author's
    own may have the same names.
    """
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in _NAMES


def defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """Yield the parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from zip(positional[::-1], arguments.defaults[::-1], strict=False)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def without_ranges(tree: ast.Module) -> ast.Module:
    """Remove the choices from defaults of functions; the tree is changed."""
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef):
            found = node.args
            found.defaults = [_without_range(d) for d in found.defaults]
            found.kw_defaults = [d and _without_range(d) for d in found.kw_defaults]
    return tree


def _without_range(node: ast.expr) -> ast.expr:
    """Return a default that is None if the name means the word of the language."""
    if not isinstance(node, ast.Call) or not is_range(node):
        return node
    asked = ast.Call(ast.Name(IS_CHOICE, ast.Load()), [node.func], [])
    made = ast.copy_location(ast.IfExp(asked, ast.Constant(None), node), node)
    return ast.fix_missing_locations(made)


_HIDDEN = frozenset({"bool", "bytes", "dict", "frozenset", "int", "list", "set", "str", "tuple"})


def check_hidden_types(source: Source) -> None:
    """Raise SpecError[SW110] for a field such as ``dict: dict[str, str] = {}``.

    Python assigns the value before it evaluates the annotation, so the name means the value there
    and below.
    """
    for cls in walk(source.tree):
        hidden: dict[str, ast.AnnAssign] = {}
        for field in cls.body if isinstance(cls, ast.ClassDef) else ():
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            name = field.target.id
            if name in _HIDDEN and field.value is not None:
                hidden.setdefault(name, field)
            for node in walk(field.annotation) if hidden else ():
                if isinstance(node, ast.Name) and node.id in hidden:
                    said = f"The field '{node.id}' hides the type {node.id} here."
                    why = "Python assigns the default first, and the annotation means that."
                    help = f"Give the field another name, such as {node.id}_."
                    raise SpecError(
                        "SW110", said, at=source.span(hidden[node.id].target), why=why, help=help
                    )
