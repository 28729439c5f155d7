"""A MariaDB server of one's own: `python -m tests.checker.history.mariadb_server COMMAND...`.

Debian's package is installed if it is missing (as root). COMMAND finds the server's address in
STATEWALK_MARIADB, and its folder in STATEWALK_MARIADB_DATA, for `restart`.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.checker.history.own_server import as_user, free_port, install, owner, with_server

URL, DATA = "STATEWALK_MARIADB", "STATEWALK_MARIADB_DATA"
_SERVERS = ("mariadbd", "mysqld")
_PLACES = "/usr/sbin:/usr/libexec"
_SECONDS = 60


def server() -> str:
    """The server's program; installs it when there is none."""
    for _ in range(2):
        path = f"{os.environ.get('PATH', '')}:{_PLACES}"
        found = next(filter(None, (shutil.which(name, path=path) for name in _SERVERS)), None)
        if found:
            return found
        if not install("mariadb-server"):
            break
    sys.exit("There is no MariaDB here (mariadbd), and only root can install it with apt-get.")


def start(data: Path) -> dict[str, str]:
    """Make a database in a folder and start the server; what its clients are told."""
    server()
    user = owner("mysql")
    if os.geteuid() == 0:
        shutil.chown(data, user)
    make = [shutil.which("mariadb-install-db") or "mariadb-install-db", "--no-defaults",
            f"--datadir={data / 'data'}", "--auth-root-authentication-method=normal",
            "--skip-test-db"]  # fmt: skip
    subprocess.run(as_user(user, make), check=True, stdout=subprocess.DEVNULL, cwd="/")
    (data / "first.sql").write_text(
        "CREATE DATABASE IF NOT EXISTS statewalk;\n"
        "CREATE USER IF NOT EXISTS statewalk@'127.0.0.1';\n"
        "GRANT ALL ON *.* TO statewalk@'127.0.0.1';\n"
    )
    (data / "port").write_text(str(free_port()))
    run(data)
    return {URL: f"mysql://statewalk@127.0.0.1:{port(data)}/statewalk", DATA: str(data)}


def port(data: Path) -> int:
    """Return where the server of a folder listens."""
    return int((data / "port").read_text())


def run(data: Path) -> None:
    """Start the server of a folder, and wait until it answers."""
    command = [server(), "--no-defaults", f"--datadir={data / 'data'}", f"--port={port(data)}",
               "--bind-address=127.0.0.1", f"--socket={data / 'socket'}", "--skip-name-resolve",
               f"--pid-file={data / 'pid'}", f"--init-file={data / 'first.sql'}",
               "--innodb-flush-log-at-trx-commit=2", "--innodb-lock-wait-timeout=5",
               f"--log-error={data / 'log'}"]  # fmt: skip
    with (data / "out").open("ab") as out:
        subprocess.Popen(
            as_user(owner("mysql"), command), cwd="/", stdout=out, stderr=out, process_group=0
        )
    deadline = time.monotonic() + _SECONDS
    while not (listens(data) and (data / "pid").exists()):
        if time.monotonic() > deadline:
            sys.exit(f"MariaDB did not start: {(data / 'log').read_text()[-2000:]}")
        time.sleep(0.05)


def listens(data: Path) -> bool:
    """Return whether somebody answers on the server's port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port(data))) == 0


def stop(data: Path) -> None:
    """Kill the server of a folder, and wait until its port is free."""
    pid = data / "pid"
    os.kill(int(pid.read_text()), signal.SIGKILL)
    pid.unlink(missing_ok=True)
    deadline = time.monotonic() + _SECONDS
    while listens(data) and time.monotonic() < deadline:
        time.sleep(0.02)


def restart() -> None:
    """Restart the server of this test run at once: connections are cut."""
    data = Path(os.environ[DATA])
    stop(data)
    run(data)


if __name__ == "__main__":
    sys.exit(with_server("mariadb", start, stop))
