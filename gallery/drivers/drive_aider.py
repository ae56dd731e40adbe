"""Aider, as a program: one message, and what it prints."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from common import Driver, main

QUIETLY = ["--no-git", "--no-gitignore", "--yes-always", "--no-check-update", "--no-show-model-warnings", "--no-pretty",
           "--map-tokens", "0", "--no-show-release-notes", "--no-detect-urls", "--analytics-disable"]  # fmt: skip


class RaisedError(Exception):
    """What Aider says that LiteLLM raised."""


class Aider(Driver):
    """The scenarios of a program that talks."""

    def ask(self, model: str, *options: str) -> str:
        """What it prints."""
        words = shlex.split(self.job["code"].replace("{model}", model))
        program = str(Path(sys.executable).parent / words[0])
        command = [program, *words[1:], "--message", "Hi", *QUIETLY, *options]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=100, stdin=subprocess.DEVNULL
        )
        error = re.search(r"litellm\.(\w+Error)", done.stdout)
        if error:
            raise type(error[1], (RaisedError,), {})(done.stdout[-300:])
        return done.stdout

    def text(self, model: str) -> str:
        return self.said(self.ask(model, "--no-stream"))

    def said(self, printed: str) -> str:
        """The model's words in what was printed."""
        found = [line for line in printed.splitlines() if line.startswith("Hello from")]
        return found[0] if found else printed[-300:]

    def stream(self, model: str) -> list[str]:
        return self.said(self.ask(model, "--stream")).partition(" from")[:]  # pieces are not to be seen from outside


main(Aider)
