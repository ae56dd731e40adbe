"""The anthropic SDK: one client, `messages.create`."""

from __future__ import annotations

from typing import Any

import anthropic

from bench.canned import DESCRIPTION, MAX_TOKENS, PARAMETERS, TEXT, TOOLS, TURNS, tool_name
from bench.peers.libraries import Calls, key, url


def _asked() -> dict[str, Any]:
    offered = [
        {"name": tool_name(number), "description": DESCRIPTION, "input_schema": PARAMETERS} for number in range(TOOLS)
    ]
    said = [{"role": ("user", "assistant")[number % 2], "content": TEXT} for number in range(TURNS)]
    return {"model": "claude-test", "system": TEXT, "messages": said, "tools": offered, "max_tokens": MAX_TOKENS}


def calls(port: int) -> Calls:
    """Its calls."""
    client = anthropic.Anthropic(base_url=url(port), api_key=key)
    awaiting = anthropic.AsyncAnthropic(base_url=url(port), api_key=key)
    asked = _asked()

    def whole() -> int:
        return sum(block.type == "tool_use" for block in client.messages.create(**asked).content)

    def streamed() -> int:
        with client.messages.create(**asked, stream=True) as stream:
            return sum(len(event.delta.text) for event in stream if event.type == "content_block_delta")

    async def awaited() -> int:
        return sum(block.type == "tool_use" for block in (await awaiting.messages.create(**asked)).content)

    return Calls(whole, streamed, awaited)
