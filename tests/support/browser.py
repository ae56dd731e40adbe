"""A headless Chromium, driven through its DevTools protocol: what a test needs of a browser, and no more.

```python
with browser() as opened:
    page = opened.page(url)
    page.wait("document.querySelector('h1')")
    assert page.problems == []
```
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

__all__ = ["Browser", "Page", "browser"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE_S = 20.0
_LISTENING = re.compile(r"DevTools listening on (ws://\S+)")
_FLAGS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-sandbox",  # inside of containers the process may not make one; it opens pages of the loopback alone
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)


_BY_VALUE = {"awaitPromise": True, "returnByValue": True}


class Page:
    """One page: what was asked of it, and what went wrong on it."""

    def __init__(self, link: ClientConnection) -> None:
        """The page behind a connection."""
        self.problems: list[str] = []
        self._link = link
        self._number = 0

    def call(self, method: str, **parameters: Any) -> Any:
        """What a method of the protocol gives back."""
        message = self._answer(method, **parameters)
        assert "error" not in message, message["error"]
        return message["result"]

    def _answer(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        self._link.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._link.recv(timeout=PATIENCE_S))
            if message.get("id") == self._number:
                return message
            self._note(message)

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript comes to; a promise is awaited."""
        found = self.call("Runtime.evaluate", expression=expression, **_BY_VALUE)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str, patience_s: float = PATIENCE_S) -> None:
        """Nothing, once an expression is true."""
        end_s = time.monotonic() + patience_s
        while time.monotonic() < end_s:
            found = self._answer("Runtime.evaluate", expression=f"!!({expression})", **_BY_VALUE)
            # Where the page is just being loaded there may be an exception, or nobody who could say.
            if "result" in found and found["result"]["result"].get("value") is True:
                return
            time.sleep(0.05)
        body = self.value("document.body.innerText")
        raise AssertionError(f"waited in vain for {expression}; the page says: {body}; problems: {self.problems}")

    def open(self, url: str) -> None:
        """Go there."""
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def text(self, selector: str) -> str:
        """What a person reads there."""
        return str(self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def fill(self, selector: str, text: str) -> None:
        """Put a text into a field, in the place of what it holds."""
        self.value(f"(field => {{ field.focus(); field.select?.(); }})(document.querySelector({json.dumps(selector)}))")
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click there, as a script does."""
        self.value(f"document.querySelector({json.dumps(selector)}).click()")

    def press(self, key: str, *, times: int = 1, shift: bool = False) -> None:
        """Press a key: `Tab`, `Enter`, `Escape`."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27}[key]
        known: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
        text = {"text": "\r"} if key == "Enter" else {}
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="keyDown", **known, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def size(self, width: int, height: int = 800) -> None:
        """Make the window so large."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme: str) -> None:
        """Have the person prefer `light` or `dark`."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self) -> bytes:
        """The page as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def _note(self, message: Any) -> None:
        told = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(json.dumps(told["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                self.problems.append(json.dumps(told["args"]))
            case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                self.problems.append(told["entry"]["text"] + " " + told["entry"].get("url", ""))
            case _:
                pass


class Browser:
    """A browser that runs."""

    def __init__(self, address: str) -> None:
        """The browser behind an address of its protocol."""
        self._address = address
        self._links = ExitStack()

    def page(self, url: str = "about:blank") -> Page:
        """A new page."""
        with connect(self._address, max_size=None, compression=None) as link:
            target = Page(link).call("Target.createTarget", url="about:blank")["targetId"]
        root = self._address.partition("/devtools/")[0]
        page = Page(
            self._links.enter_context(connect(f"{root}/devtools/page/{target}", max_size=None, compression=None))
        )
        for domain in ("Page", "Runtime", "Log"):
            page.call(f"{domain}.enable")
        page.size(1280)
        if url != "about:blank":
            page.open(url)
        return page

    def close(self) -> None:
        """Let go of its pages."""
        self._links.close()


@contextmanager
def browser() -> Generator[Browser]:
    """A headless Chromium; the test is skipped where there is none."""
    path = os.environ.get("CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROMIUM")
    with TemporaryDirectory(ignore_cleanup_errors=True) as home:
        log = Path(home) / "log"
        with log.open("wb") as told:
            command = [path, *_FLAGS, f"--user-data-dir={home}/profile", "about:blank"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told)
        try:
            opened = Browser(_address(process, log))
            try:
                yield opened
            finally:
                opened.close()
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s and process.poll() is None:
        if found := _LISTENING.search(log.read_text("utf-8", errors="replace")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"the browser did not start: {log.read_text('utf-8', errors='replace')[-2000:]}")
