"""What this machine can do: the one place that asks it, and "no" is an answer.

The Python of a browser (`statewalk docs --runnable`) has neither timers nor other processes, nor
threads, nor a compiler.
"""

from __future__ import annotations

import os
import signal
import sys

_BARE = sys.platform in ("emscripten", "wasi")

TIMERS = hasattr(signal, "setitimer") and hasattr(signal, "SIGALRM")
"""Whether a signal can end a call that does not end itself."""
PROCESSES = not _BARE
"""Whether other programs, and this one once more, can be started."""
FORKS = PROCESSES and hasattr(os, "fork") and hasattr(signal, "SIGUSR2")
"""Whether a process can be made that shares memory with this one."""
THREADS = not _BARE
"""Whether something can be done beside a search."""
