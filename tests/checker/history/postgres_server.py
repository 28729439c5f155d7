"""A PostgreSQL server of one's own for tests: `postgres_server.py COMMAND...` runs COMMAND with it.

Debian's package is installed if it is missing (as root). The server listens on a free port of
127.0.0.1, has its data in a temporary folder, and runs as a user that is not root. COMMAND finds
its address in STATEWALK_POSTGRES, and the folder in STATEWALK_POSTGRES_DATA, for `restart`.
"""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

URL, DATA = "STATEWALK_POSTGRES", "STATEWALK_POSTGRES_DATA"
_USERS = ("postgres", "nobody")


def programs() -> Path:
    """The folder with initdb and pg_ctl of the newest version; installs it when there is none."""
    for attempt in range(2):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if found:
            return found[-1].parent
        on_path = shutil.which("initdb")
        if on_path:
            return Path(on_path).resolve().parent
        if attempt == 0 and os.geteuid() == 0 and shutil.which("apt-get"):
            print("Installing PostgreSQL", flush=True)
            quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
            subprocess.run(["apt-get", "-qq", "update"], check=True, **quiet)  # type: ignore[call-overload]
            subprocess.run(["apt-get", "-qq", "-y", "install", "postgresql"], check=True,
                           stdout=subprocess.DEVNULL, **quiet)  # type: ignore[call-overload]  # fmt: skip
    sys.exit("There is no PostgreSQL here (initdb), and only root can install it with apt-get.")


def run(program: str, *args: str) -> None:
    """Run one of PostgreSQL's programs as a user that is not root."""
    command = [str(programs() / program), *args]
    if os.geteuid() == 0:
        command = ["runuser", "-u", owner(), "--", *command]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")


def owner() -> str:
    names = {user.pw_name for user in pwd.getpwall()}
    return next(name for name in _USERS if name in names)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start(data: Path) -> str:
    """Make a cluster in a folder and start it; its address."""
    if os.geteuid() == 0:
        shutil.chown(data, owner())
    run("initdb", "-D", str(data / "cluster"), "-U", "statewalk", "-A", "trust", "--no-sync")
    port = free_port()
    with (data / "cluster" / "postgresql.conf").open("a") as conf:
        conf.write(f"port = {port}\nlisten_addresses = '127.0.0.1'\nfsync = off\n"
                   "max_prepared_transactions = 10\nlog_line_prefix = '%n %a '\n"
                   f"unix_socket_directories = '{data}'\n")  # fmt: skip
    control(data, "start")
    return f"postgresql://statewalk@127.0.0.1:{port}/postgres"


def control(data: Path, verb: str, *more: str) -> None:
    """`pg_ctl`: start, stop or restart the server, and wait until that is done."""
    log = ("-l", str(data / "log")) if verb != "stop" else ()
    run("pg_ctl", "-w", "-D", str(data / "cluster"), *log, *more, verb)


def restart() -> None:
    """Restart the server of this test run at once: connections are cut."""
    control(Path(os.environ[DATA]), "restart", "-m", "immediate")


def main() -> int:
    """Run the command of the arguments with a server; its exit code."""
    data = Path(tempfile.mkdtemp(prefix="statewalk-postgres-"))
    data.chmod(0o755)
    try:
        url = start(data)
        try:
            return subprocess.run(
                sys.argv[1:], env={**os.environ, URL: url, DATA: str(data)}, check=False
            ).returncode
        finally:
            control(data, "stop", "-m", "immediate")
    finally:
        shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
