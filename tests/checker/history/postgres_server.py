"""A PostgreSQL server of one's own: `python -m tests.checker.history.postgres_server COMMAND...`.

Debian's package is installed if it is missing (as root). COMMAND finds the server's address in
STATEWALK_POSTGRES, and its folder in STATEWALK_POSTGRES_DATA, for `restart`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.checker.history.own_server import as_user, free_port, install, owner, with_server

URL, DATA = "STATEWALK_POSTGRES", "STATEWALK_POSTGRES_DATA"


def programs() -> Path:
    """The folder with initdb and pg_ctl of the newest version; installs it when there is none."""
    for _ in range(2):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if found:
            return found[-1].parent
        on_path = shutil.which("initdb")
        if on_path:
            return Path(on_path).resolve().parent
        if not install("postgresql"):
            break
    sys.exit("There is no PostgreSQL here (initdb), and only root can install it with apt-get.")


def run(program: str, *args: str) -> None:
    """Run one of PostgreSQL's programs as a user that is not root."""
    command = as_user(owner("postgres"), [str(programs() / program), *args])
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")


def start(data: Path) -> dict[str, str]:
    """Make a cluster in a folder and start it; what its clients are told."""
    programs()
    if os.geteuid() == 0:
        shutil.chown(data, owner("postgres"))
    run("initdb", "-D", str(data / "cluster"), "-U", "statewalk", "-A", "trust", "--no-sync")
    port = free_port()
    with (data / "cluster" / "postgresql.conf").open("a") as conf:
        conf.write(f"port = {port}\nlisten_addresses = '127.0.0.1'\nfsync = off\n"
                   "max_prepared_transactions = 10\nlog_line_prefix = '%n %a '\n"
                   f"unix_socket_directories = '{data}'\n")  # fmt: skip
    control(data, "start")
    return {URL: f"postgresql://statewalk@127.0.0.1:{port}/postgres", DATA: str(data)}


def control(data: Path, verb: str, *more: str) -> None:
    """`pg_ctl`: start, stop or restart the server, and wait until that is done."""
    log = ("-l", str(data / "log")) if verb != "stop" else ()
    run("pg_ctl", "-w", "-D", str(data / "cluster"), *log, *more, verb)


def stop(data: Path) -> None:
    """Stop the server at once."""
    control(data, "stop", "-m", "immediate")


def restart() -> None:
    """Restart the server of this test run at once: connections are cut."""
    control(Path(os.environ[DATA]), "restart", "-m", "immediate")


if __name__ == "__main__":
    sys.exit(with_server("postgres", start, stop))
