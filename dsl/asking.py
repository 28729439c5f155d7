"""Names in the texts of a spec by which more than files may be asked for."""

from __future__ import annotations

from statewalk.dsl.files import MOST_OF_A_TEXT, read_text
from statewalk.dsl.source.texts import imported_modules, is_ours, is_service, named_in

UNTRACED = {
    "argparse", "dbm", "filecmp", "gettext", "grp", "importlib", "linecache", "locale", "pkgutil",
    "platform", "pwd", "pydoc", "resource", "runpy", "shelve", "site", "zipimport",
}  # fmt: skip
"""Modules of Python that read files in C, keep what they read, find modules in ways of their own,
or tell what machine, and whose, this is.
"""
_SYSTEM = {
    "builtins", "genericpath", "getpass", "multiprocessing", "nt", "ntpath", "os", "pathlib",
    "posix", "posixpath", "shutil", "sys", "tempfile",
}  # fmt: skip
_RUNNING = {"__import__", "eval", "exec"}  # they may import a module that no text names
_UNREPORTED = _RUNNING | {
    "access", "argv", "cpu_count", "cwd", "disk_usage", "environ", "environb", "exists",
    "expanduser", "expandvars", "fstat", "fstatvfs", "get_exec_path", "get_terminal_size",
    "getatime", "getctime", "getcwd", "getcwdb", "getegid", "getenv", "getenvb", "geteuid",
    "getfilesystemencoding", "getgid", "getgroups", "getloadavg", "getlogin", "getmtime", "getpid",
    "getppid", "getpriority", "getresgid", "getresuid", "getsize", "gettempdir", "gettempdirb",
    "getuid", "getuser", "home", "is_block_device", "is_char_device", "is_dir", "is_fifo",
    "is_file", "is_junction", "is_mount", "is_socket", "is_symlink", "isatty", "isdir", "isfile",
    "isjunction", "islink", "ismount", "lexists", "lstat", "orig_argv", "pathconf",
    "process_cpu_count", "readlink", "realpath", "samefile", "sched_getaffinity", "stat",
    "statvfs", "stdin", "sysconf", "tempdir", "ttyname", "umask", "uname", "which",
}  # fmt: skip
"""Names in these modules of what Python does not report: the environment, what a file is."""
PURE = {
    "__future__", "abc", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses",
    "enum", "fractions", "functools", "graphlib", "heapq", "itertools", "json", "keyword", "math",
    "numbers", "operator", "pprint", "re", "statistics", "string", "textwrap", "types", "typing",
    "typing_extensions", "unicodedata",
}  # fmt: skip
"""Modules whose functions say the same each time, whatever is around them."""
_INDIRECT = {
    "__builtins__", "__file__", "__hash__", "__import__", "__loader__", "__name__", "__package__",
    "__path__", "__spec__", "_sys", "breakpoint", "compile", "eval", "exec", "globals", "input",
    "kde_random", "os", "posix", "samples", "statewalk", "sys",
}  # fmt: skip
"""Names of Python that do what no text says, draw random numbers, or are modules in others."""


def imports_of(file: str, package: str) -> tuple[set[str], set[str], set[str]]:
    """Return the modules, and the packages around them, that a module imports; what it asks the
    system without Python telling; and its names that may ask for more.
    """
    if not file.endswith(".py"):
        return set(), set(), set()
    try:
        text = read_text(file, most=MOST_OF_A_TEXT)
        names = imported_modules(text, package)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set(), set(), set()
    parts = [name.split(".") for name in names]
    chains = {".".join(p[: i + 1]) for p in parts for i in range(len(p))}
    named, attributes = named_in(text)
    asking = _UNREPORTED & (named | attributes) if chains & _SYSTEM else _RUNNING & named
    indirect = _INDIRECT & (named | attributes) | {name for name in names if is_service(name)}
    return {n for n in chains if not is_ours(n)}, asking, indirect
