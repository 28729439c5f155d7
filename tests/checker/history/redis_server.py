"""A Redis server of one's own: `python -m tests.checker.history.redis_server COMMAND...`.

Debian's package is installed if it is missing (as root). COMMAND finds the server's address in
STATEWALK_REDIS.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from statewalk.checker.history.collect.redis import Redis
from tests.checker.history.own_server import as_user, free_port, install, owner, with_server

URL = "STATEWALK_REDIS"
SAID = "port {port}\nbind 127.0.0.1\nsave ''\ndaemonize yes\ndir {data}\nlogfile {data}/log\n"


def start(data: Path) -> dict[str, str]:
    """Start a server whose files are in a folder; what its clients are told."""
    if not shutil.which("redis-server") and not install("redis-server"):
        sys.exit("There is no redis-server here, and only root can install it with apt-get.")
    user, port = owner("redis"), free_port()
    if os.geteuid() == 0:
        shutil.chown(data, user)
    (data / "redis.conf").write_text(SAID.format(port=port, data=data))
    (data / "port").write_text(str(port))
    command = as_user(user, ["redis-server", str(data / "redis.conf")])
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
    return {URL: f"redis://127.0.0.1:{port}"}


def stop(data: Path) -> None:
    """Stop the server at once."""
    connection = Redis(f"redis://127.0.0.1:{(data / 'port').read_text()}")
    connection._socket.sendall(b"SHUTDOWN NOSAVE\r\n")


if __name__ == "__main__":
    sys.exit(with_server("redis", start, stop))
