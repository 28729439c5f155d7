"""A server with a cache that crashes empty, and work in several steps that they end.

Disk and cache are 00; 10 with a run; 11; 21 with a run; 22. Crashes leave besides 10, 20 and 21
without a run, and 20 with one.
"""

# check -> holds distinct=9
# check CRASH=false -> holds distinct=5

from statewalk import Constant, Ephemeral, Role, action, always, crashes, deadlock, exists, require

CRASH: Constant[bool] = True


class Server(Role):
    """Writes to its disk, and then to its cache."""

    disk: int = 0
    cache: Ephemeral[int] = 0

    @action(flow="serial")
    def serve(self) -> None:
        """Each statement is a step."""
        require(self.disk < 2)
        self.disk = self.disk + 1
        self.cache = self.cache + 1


server = Server()
crashes(CRASH)
deadlock(False)


@always
def cache_is_behind() -> bool:
    """Cached values were written."""
    return server.cache <= server.disk


@exists
def written_twice() -> bool:
    """Something happens."""
    return server.disk == 2
