"""The sources as the rules see them: files, what each imports, and the circles in that.

Everything is read off the syntax trees, so nothing is imported and a missing folder is no failure.
"""

import ast
import gc
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from statewalk.dsl.source.nodes import walk

FOLDERS = ("dsl", "checker", "models")  # the package `statewalk` links to these
AROUND = ("tests", "benchmarks", "docs", "examples")  # code that only uses the package


@dataclass(frozen=True)
class Import:
    """One imported module. `on_loading`: the import runs when the importing module is loaded."""

    path: str
    line: int
    module: str
    on_loading: bool

    def of(self, *packages: str) -> bool:
        return any(self.module == p or self.module.startswith(p + ".") for p in packages)

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module}"


@dataclass(frozen=True)
class Source:
    """A file: its path below the root, its text, its tree, and what it imports."""

    path: str
    text: str
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def top(self) -> str:
        return self.path.partition("/")[0]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def module(self) -> str:
        dotted = self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return dotted if self.top == "statewalk" else f"statewalk.{dotted}"

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree."""
        return walk(self.tree)

    def literals(self) -> Iterator[tuple[int, str]]:
        """Texts in the code, docstrings left out, each with its line."""
        documents = {
            id(node.body[0].value)
            for node in self.nodes
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            if node.body and isinstance(node.body[0], ast.Expr)
        }
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if id(node) not in documents:
                    yield node.lineno, node.value


@cache
def sources(root: Path) -> tuple[Source, ...]:
    """The files of the package, without following its links."""
    files = sorted((root / "statewalk").glob("*.py"))
    for folder in FOLDERS:
        files += sorted((root / folder).rglob("*.py"))
    return tuple(_source(root, file) for file in files)


NAMES_OURS = re.compile(rf"^\s*(from|import\b.*)\s({'|'.join(FOLDERS)})\b", re.MULTILINE)


@cache
def around(root: Path) -> tuple[Source, ...]:
    """The files that only use the package, as far as they may import something by the name of a
    folder; specs that are wrong on purpose are left out.
    """
    files = [f for folder in AROUND for f in sorted((root / folder).rglob("*.py"))]
    wrong = {f for f in files if "broken" in f.relative_to(root).parts}
    return tuple(_source(root, f) for f in files if f not in wrong and NAMES_OURS.search(_text(f)))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _source(root: Path, file: Path) -> Source:
    path = file.relative_to(root).as_posix()
    text = _text(file)
    with _no_collection_of_garbage():
        tree = ast.parse(text, path)
        found = [
            Import(path, node.lineno, module, on_loading)
            for node, on_loading in _statements(tree)
            for module in _imported(node, path)
        ]
    return Source(path, text, tree, tuple(found))


@contextmanager
def _no_collection_of_garbage() -> Iterator[None]:
    """A tree is kept, and looking for garbage among its nodes takes longer than to make them."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _statements(
    node: ast.AST, on_loading: bool = True
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Each import statement below `node`, and whether loading the module executes it."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, on_loading
    elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        for child in node.body:
            yield from _statements(child, False)
        for child in node.orelse:
            yield from _statements(child, on_loading)
    else:
        inside = on_loading and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            for other in getattr(node, name, ()):
                yield from _statements(other, inside)


def _imported(node: ast.Import | ast.ImportFrom, path: str) -> list[str]:
    """Return what the statement imports; `from a import b` counts as `a.b`, since b may be a
    module.
    """
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        folders = ["statewalk", *path.split("/")[: -node.level]]
        base = ".".join([*folders, base] if base else folders)
    return [f"{base}.{alias.name}" for alias in node.names]


Graph = Mapping[str, set[str]]


@cache
def module_graph(root: Path) -> Graph:
    """File → the files it imports, for types only and inside functions too.

    The public names are left out: rules forbid to take them from inside.
    """
    files = {source.module: source.path for source in sources(root) if source.top in FOLDERS}
    graph: dict[str, set[str]] = {path: set() for path in files.values()}
    for source in sources(root):
        for i in source.imports if source.path in graph else ():
            met = files.get(i.module) or files.get(i.module.rpartition(".")[0])
            if met and met != source.path:
                graph[source.path].add(met)
    return graph


def folder_graph(root: Path) -> Graph:
    """The same between folders; a file that lies beside folders is a node of its own."""
    between = module_graph(root)
    holders = {folder.rpartition("/")[0] for folder in {p.rpartition("/")[0] for p in between}}

    def node(path: str) -> str:
        folder = path.rpartition("/")[0]
        return path if folder in {*FOLDERS, *holders} else folder

    graph: dict[str, set[str]] = {node(path): set() for path in between}
    for path, met in between.items():
        graph[node(path)] |= {node(other) for other in met} - {node(path)}
    return graph


def circles(graph: Graph) -> list[list[str]]:
    """The groups of nodes that reach each other, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_nodes: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        open_nodes.append(node)
        for other in sorted(graph[node]):
            if other not in order:
                visit(other)
            if other in open_nodes:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            at = open_nodes.index(node)
            group = open_nodes[at:]
            del open_nodes[at:]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found
