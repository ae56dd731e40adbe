"""The openai SDK: one client, `chat.completions.create`."""

from __future__ import annotations

from typing import Any

import openai

from bench.canned import request_body
from bench.peers.libraries import Calls, key, url


def calls(port: int) -> Calls:
    """Its calls."""
    client = openai.OpenAI(base_url=url(port, "/v1"), api_key=key)
    awaiting = openai.AsyncOpenAI(base_url=url(port, "/v1"), api_key=key)
    asked: dict[str, Any] = request_body("gpt-test")

    def whole() -> int:
        return len(client.chat.completions.create(**asked).choices[0].message.tool_calls)

    def streamed() -> int:
        with client.chat.completions.create(**asked, stream=True) as stream:
            return sum(len(chunk.choices[0].delta.content or "") for chunk in stream)

    async def awaited() -> int:
        return len((await awaiting.chat.completions.create(**asked)).choices[0].message.tool_calls)

    return Calls(whole, streamed, awaited)
