"""A provider that writes all that it may, and keeps the bill."""

from __future__ import annotations

import threading
import time
from typing import Any

from interlingua.testing.upstream import Say, Upstream
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any

__all__ = ["GreedyUpstream"]

INPUT_TOKENS = 20
UNBOUNDED = 32_768
"""What it writes where nobody limits it."""


class GreedyUpstream(Upstream):
    """An OpenAI Chat provider whose answers use up their limit, in each choice."""

    def __init__(self, *, takes_s: float = 0.0) -> None:
        """Nothing was written; an answer takes that long."""
        super().__init__("openai-chat")
        self._takes_s = takes_s
        self._writing = threading.Lock()
        self.billed: list[int] = []
        """The tokens of each answer, as a provider bills them."""

    def answer(self, request: HttpRequest) -> Any:
        """As many tokens as the request lets be written."""
        time.sleep(self._takes_s)
        body: Any = decode_any(request.body)
        written = (body.get("max_completion_tokens") or body.get("max_tokens") or UNBOUNDED) * (body.get("n") or 1)
        with self._writing:
            self._answers = [Say(text="x", input_tokens=INPUT_TOKENS, output_tokens=written)]
            line = super().answer(request)
            self.billed.append(INPUT_TOKENS + written)
            return line
