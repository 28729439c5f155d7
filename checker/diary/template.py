"""What an entry begins as."""

ENTRY = """# TITLE

*DATE*

What we have to decide, in a sentence or two.

## The smallest model

```python spec.py
class Counter(State):
    n: int = 0
```

## Check

```console
$ statewalk check spec.py
```

## A surprise

<!-- statewalk export .statewalk/runs/0001/small.trace.json --format mermaid -->
```mermaid
```

<details>
<summary>A question: how many states before the bug?</summary>

The answer.

</details>

## Change
"""

SPEC = '''"""A counter that is meant to stay small."""

from statewalk import State, action, always


class Counter(State):
    n: int = 0

    @action
    def count(self) -> None:
        self.n = (self.n + 1) % 5


counter = Counter()


@always
def small() -> bool:
    return counter.n < 3
'''
