"""What the code of a spec asks of the machine, as far as Python tells: by its audit events.

An event counts unless it is known to be harmless: a new one is not overlooked. Python tells of no
`os.stat` and its kin, of no clock and no environment, and of nothing that is done in C.
"""

from __future__ import annotations

from types import FrameType

from statewalk.dsl.source.imports import is_installed, is_program

HARMLESS = frozenset(
    {
        "array.__new__", "builtins.id", "code.__new__", "compile", "cpython.PyInterpreterState_New",
        "exec", "function.__new__", "gc.get_objects", "gc.get_referents", "gc.get_referrers",
        "glob.glob", "glob.glob/2",  # followed by os.scandir
        "marshal.dumps", "marshal.load", "marshal.loads", "mmap.__new__", "object.__delattr__",
        "object.__getattr__", "object.__setattr__", "os.putenv", "os.remove", "os.unsetenv",
        "os.walk",  # followed by os.scandir
        "pickle.find_class", "setopencodehook", "sys._current_exceptions", "sys._current_frames",
        "sys._getframe", "sys._getframemodulename", "sys.addaudithook", "sys.excepthook",
        "sys.monitoring.register_callback", "sys.set_asyncgen_hooks_finalizer",
        "sys.set_asyncgen_hooks_firstiter", "sys.setprofile", "sys.settrace", "sys.unraisablehook",
        "_thread.start_joinable_thread", "_thread.start_new_thread",  # it is heard itself
        "tempfile.mkdtemp", "tempfile.mkstemp", "time.sleep",
    }
)  # fmt: skip
_IMPORTING = "<frozen importlib"
_SHOWING = ("linecache.py", "traceback.py")  # read a text to show a line of it


def place_of(frame: FrameType | None) -> tuple[str, int] | None:
    """Where the author's code does something, perhaps through a library; None where we do it, or
    where it is part of importing a module.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_IMPORTING) or name.endswith(_SHOWING) or is_program(name):
            return None
        if is_installed(name):
            if frame.f_code.co_name == "<module>":
                return None
        elif not name.startswith("<"):
            return name, frame.f_lineno
        frame = frame.f_back
    return None


def is_ours(frame: FrameType | None) -> bool:
    """Whether this program has begun, directly or not, what a thread does."""
    while frame is not None:
        if is_program(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False
