"""The model library: which models there are, and what they are called."""

from __future__ import annotations

import ast
import importlib.util
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from statewalk.dsl.errors import RunError, did_you_mean
from statewalk.dsl.source.texts import no_file

CONFIGURED = re.compile(r"^ *config\(", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A model of the library: ``name`` is its path below the library's folder, without ``.py``."""

    name: str
    path: Path

    @property
    def about(self) -> str:
        """Its description: what its module begins with."""
        return ast.get_docstring(ast.parse(self.path.read_text(encoding="utf-8"))) or ""

    @property
    def line(self) -> str:
        """The first line of its description."""
        return self.about.partition("\n")[0]


def library_folder() -> Path:
    """Return where the models are. Raises RunError[SW323]."""
    found = importlib.util.find_spec("statewalk.models")
    if found is None or not found.submodule_search_locations:
        raise RunError(
            "SW323", "The model library is not installed.", help="Install statewalk again."
        )
    return Path(next(iter(found.submodule_search_locations))).resolve()


def entries() -> list[Entry]:
    """Return the models of the library, by name; modules that only serve others are left out."""
    folder = library_folder()
    found = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name != "__init__.py" and CONFIGURED.search(text):
            found.append(Entry(path.relative_to(folder).with_suffix("").as_posix(), path))
    return found


def matching(name: str | None) -> list[Entry]:
    """Return the models whose name is, or ends with, or starts with the folder of, a name."""
    known = entries()
    if name is None:
        return known
    found = [
        e
        for e in known
        if name in (e.name, e.path.stem) or e.name.startswith(name.rstrip("/") + "/")
    ]
    if not found:
        raise RunError(
            "SW324", f"There is no model {name}. {did_you_mean(name, [e.name for e in known])}"
        )
    return found


def spec_path(spec: str) -> str:
    """Return the file of a model that is named as `statewalk models` prints it, or by the
    last part alone where no other ends so; anything else, and whatever is a path that exists, as it
    is.
    """
    if Path(spec).exists():
        return spec
    found = _called(spec)
    if len(found) != 1:
        return spec
    path, here = found[0].path, Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def no_spec(spec: str) -> RunError:
    """Return the error of a spec that is neither a file nor a model, with what it could have
    been.
    """
    error = no_file(spec)
    stem = spec.removesuffix(".py").rstrip("/")
    names = [e.name for e in _called(stem)] or _family(stem) or _like(stem)
    if names:
        models = f"In the library: {', '.join(names)}."
    else:
        models = "" if Path(spec).suffix else "Models of the library: see statewalk models."
    error.help = "\n".join(filter(None, (error.help, models)))
    return error


def in_library(path: Path) -> bool:
    """Return whether a file, resolved, is one of the library."""
    return path in {e.path for e in _known()}


def _called(name: str) -> list[Entry]:
    known = _known()
    return [e for e in known if e.name == name] or [e for e in known if e.path.stem == name]


def _family(folder: str) -> list[str]:
    return [e.name for e in _known() if e.name.startswith(folder + "/")]


def _like(name: str) -> list[str]:
    names = {key: e.name for e in _known() for key in (e.name, e.path.stem)}
    return list(dict.fromkeys(names[key] for key in get_close_matches(name, names, n=3)))


def _known() -> list[Entry]:
    """The models there are; none where there is no library."""
    try:
        return entries()
    except RunError:
        return []
