"""The abilities of this machine: the one place that asks for them, and "no" is an answer.

The Python of a browser (`statewalk docs --runnable`) has neither timers nor other processes, nor
threads, nor a compiler.
"""

from __future__ import annotations

import os
import signal
import sys

_BARE = sys.platform in ("emscripten", "wasi")

TIMERS = hasattr(signal, "setitimer") and hasattr(signal, "SIGALRM")
"""A signal can end a call that does not end itself."""
PROCESSES = not _BARE
"""Other programs, and this one once more, can be started."""
FORKS = PROCESSES and hasattr(os, "fork") and hasattr(signal, "SIGUSR2")
"""A process can be made that shares memory with this one."""
THREADS = not _BARE
"""Something can be done beside a search."""
