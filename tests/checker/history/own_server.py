"""The common part of test servers: `with_server` runs a command with one.

A server listens on a free port of 127.0.0.1, has its data in a temporary folder, and runs as a
user that is not root.
"""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from statewalk.checker.history.collect import Recorder

_SOME = 20  # transactions


def install(package: str) -> bool:
    """Install a package of Debian's, as root; False where that cannot be."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    print(f"Installing {package}", flush=True)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-qq", "update"], check=True, env=env)
    subprocess.run(
        ["apt-get", "-qq", "-y", "install", package],
        check=True,
        stdout=subprocess.DEVNULL,
        env=env,
    )
    return True


def owner(*users: str) -> str:
    """The first of these users that there is, or nobody."""
    names = {user.pw_name for user in pwd.getpwall()}
    return next(name for name in (*users, "nobody") if name in names)


def as_user(user: str, command: list[str]) -> list[str]:
    """The command that runs another as a user that is not root."""
    return ["runuser", "-u", user, "--", *command] if os.geteuid() == 0 else command


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def amid(restart: Callable[[], None]) -> Callable[[Recorder], None]:
    """Return what restarts a server while a run is recorded, early on, however slow the
    machine is.
    """

    def running(recorder: Recorder) -> None:
        while sum(recorder.counts.values()) < _SOME:
            time.sleep(0.005)
        restart()

    return running


def with_server(
    name: str, start: Callable[[Path], dict[str, str]], stop: Callable[[Path], None]
) -> int:
    """Run the command of the arguments with a server that `start` makes in a folder.

    What `start` returns is added to the command's environment. The exit code is the command's.
    """
    data = Path(tempfile.mkdtemp(prefix=f"statewalk-{name}-"))
    data.chmod(0o755)
    try:
        told = start(data)
        try:
            return subprocess.run(sys.argv[1:], env={**os.environ, **told}, check=False).returncode
        finally:
            stop(data)
    finally:
        shutil.rmtree(data, ignore_errors=True)
