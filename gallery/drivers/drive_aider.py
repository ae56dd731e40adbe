"""Aider, as a program: one message, and what it prints."""

from __future__ import annotations

import contextlib
import io
import re
import shlex

from common import Driver, main

QUIETLY = ["--no-git", "--no-gitignore", "--yes-always", "--no-check-update", "--no-show-model-warnings", "--no-pretty",
           "--map-tokens", "0", "--no-show-release-notes", "--no-detect-urls", "--analytics-disable"]  # fmt: skip


class RaisedError(Exception):
    """What Aider says that LiteLLM raised."""


class Aider(Driver):
    """The scenarios of a program that talks."""

    def ask(self, model: str, *options: str) -> str:
        """What it prints; its program is called inside this process, since it takes many seconds to load."""
        from aider.main import main as aider

        words = shlex.split(self.job["code"].replace("{model}", model))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            aider([*words[1:], "--message", "Hi", *QUIETLY, *options])
        error = re.search(r"litellm\.(\w+Error)|hit a (token) limit", printed.getvalue())
        if error:
            raise type(error[1] or "ContextWindow", (RaisedError,), {})(printed.getvalue()[-300:])
        return printed.getvalue()

    def text(self, model: str) -> str:
        return self.said(self.ask(model, "--no-stream"))

    def said(self, printed: str) -> str:
        """The model's words in what was printed."""
        found = [line for line in printed.splitlines() if line.startswith("Hello from")]
        return found[0] if found else printed[-300:]


main(Aider)
