"""Several registers that one operation reads and writes at once (Knossos' multi-register).

``txn`` takes steps, each of a word, a key and a value, and returns them with what was read.
"""

from statewalk import Constant, State, action, always, any_of, config, holds
from statewalk.models.objects.values import Scalar

Step = tuple[str, Scalar, Scalar]
INITIAL: Constant[int | None] = None
TRIED = (
    (("write", "x", 1), ("write", "y", 1)),
    (("read", "x", None), ("write", "y", 2)),
)


class Registers(State):
    values: dict[Scalar, Scalar] = {}

    @action
    def txn(self, steps: tuple[Step, ...] = any_of(TRIED)) -> list[Step]:
        done = []
        for word, key, value in steps:
            if word in ("w", "write"):
                self.values[key] = value
                done.append((word, key, value))
            else:
                done.append((word, key, self.values.get(key, INITIAL)))
        return done


registers = Registers()


@always
def x_is_written_with_y() -> bool:
    return registers.values.get("x") is None or registers.values.get("y") is not None


config("two", expect=holds(distinct=4))
