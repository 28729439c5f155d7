"""Processes wait for each other: none goes on before all have come."""

from statewalk import Constant, Role, State, action, config, holds, old, on_step, require

PROCESSES: Constant[int] = 6


class Process(Role, symmetric=True):
    waits: bool = False

    @action
    def come(self) -> None:
        require(not self.waits)
        self.waits = True


class Barrier(State):
    @action
    def open(self) -> None:
        require(all(p.waits for p in processes))
        for process in processes:
            process.waits = False


processes = [Process() for _ in range(PROCESSES)]
barrier = Barrier()


@on_step
def all_or_none() -> bool:
    """A process at the barrier waits until all have arrived."""
    all_had_come = old(all(p.waits for p in processes))
    return all_had_come or all(p.waits or not old(p.waits) for p in processes)


config("six", expect=holds(distinct=64, generated=194, depth=7))
