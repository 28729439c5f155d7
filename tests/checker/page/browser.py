"""A browser without a window, spoken to over two pipes in the protocol of its developer tools."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

FOUND = shutil.which("chromium") or shutil.which("google-chrome")
SECONDS = 60.0
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --remote-debugging-pipe --no-first-run "
    "--disable-extensions --disable-background-networking --disable-component-update"
)


class Browser:
    """One page of a browser. ``said`` are the errors and warnings of its console."""

    def __init__(self, folder: Path, size: tuple[int, int] = (1400, 900)) -> None:
        assert FOUND is not None
        self.said: list[str] = []
        self._frames: dict[str, str] = {}
        self._number = 0
        self._rest = b""
        here, theirs = os.pipe(), os.pipe()  # what we say, what it says
        window = f"--window-size={size[0]},{size[1]}"
        command = [FOUND, *_FLAGS.split(), window, f"--user-data-dir={folder}", "about:blank"]
        # the browser reads from 3 and writes to 4
        script = f'exec "$@" 3<&{here[0]} 4>&{theirs[1]}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command],
            pass_fds=(here[0], theirs[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(here[0])
        os.close(theirs[1])
        self._out, self._in = here[1], theirs[0]
        pages = self._ask("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)  # as if it were in front

    _session: str | None = None

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return what the page answers a command."""
        return self._ask(method, **parameters)

    def open(self, address: str) -> None:
        """Go to an address, and wait until it is loaded."""
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && document.querySelector('main') !== null")

    def value(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def in_frames(self, expression: str) -> list[Any]:
        """The values of an expression in frames that have a process of their own."""
        page, self._session = self._session, None
        found = []
        try:
            for target in self._ask("Target.getTargets")["targetInfos"]:
                if target["type"] == "iframe":
                    if target["targetId"] not in self._frames:
                        made = self._ask(
                            "Target.attachToTarget", targetId=target["targetId"], flatten=True
                        )
                        self._frames[target["targetId"]] = made["sessionId"]
                    self._session = self._frames[target["targetId"]]
                    found.append(self.value(expression))
                    self._session = None
        finally:
            self._session = page
        return found

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        ended = time.monotonic() + SECONDS
        while not self.value(expression):
            assert time.monotonic() < ended, f"never true: {expression}; {self.said}"
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Press a key."""
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def type(self, text: str) -> None:
        """Write where the cursor is."""
        self.ask("Input.insertText", text=text)

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                assert "error" not in found, found
                result: dict[str, Any] = found["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], SECONDS)[0], "the browser says nothing"
            more = os.read(self._in, 1 << 20)
            assert more, "the browser has gone"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        self._hear(found)
        return found

    def _hear(self, found: dict[str, Any]) -> None:
        said = found.get("params", {})
        if found.get("method") == "Runtime.exceptionThrown":
            self.said.append(json.dumps(said["exceptionDetails"]))
        elif found.get("method") == "Log.entryAdded" and said["entry"]["level"] != "verbose":
            self.said.append(said["entry"]["text"])
        elif found.get("method") == "Runtime.consoleAPICalled":
            self.said.append(json.dumps(said["args"]))
