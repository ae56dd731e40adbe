"""aimux: one model, `generate_text`; it has no asyncio."""

from __future__ import annotations

from typing import Any

import aimux

from bench.canned import DESCRIPTION, MAX_TOKENS, PARAMETERS, TEXT, TOOLS, TURNS, tool_name
from bench.peers.libraries import Calls, key, url


def calls(port: int) -> Calls:
    """Its calls."""
    model = aimux.openai(key, "gpt-test", url(port, "/v1"))
    turns = [{"role": ("user", "assistant")[number % 2], "content": TEXT} for number in range(TURNS)]
    said = [{"role": "system", "content": TEXT}, *turns]
    offered = [
        {"type": "function", "name": tool_name(number), "description": DESCRIPTION, "input_schema": PARAMETERS}
        for number in range(TOOLS)
    ]
    options: dict[str, Any] = {"tools": offered, "max_output_tokens": MAX_TOKENS}

    def whole() -> int:
        return len(aimux.generate_text(model, said, options)["tool_calls"])

    def streamed() -> int:
        parts = aimux.stream_text(model, said, options)
        return sum(len(part["TextDelta"]["delta"]) for part in parts if "TextDelta" in part)

    return Calls(whole, streamed)
