"""any-llm: an `AnyLLM` client for each of its two faces, `completion` and `acompletion`."""

from __future__ import annotations

from typing import Any

import any_llm

from bench.canned import request_body
from bench.peers.libraries import Calls, key, url


def calls(port: int) -> Calls:
    """Its calls."""
    client, awaiting = (any_llm.AnyLLM.create("openai", api_key=key, api_base=url(port, "/v1")) for _ in range(2))
    asked: dict[str, Any] = request_body("gpt-test")

    def whole() -> int:
        return len(client.completion(**asked).choices[0].message.tool_calls)

    def streamed() -> int:
        return sum(len(chunk.choices[0].delta.content or "") for chunk in client.completion(**asked, stream=True))

    async def awaited() -> int:
        return len((await awaiting.acompletion(**asked)).choices[0].message.tool_calls)

    return Calls(whole, streamed, awaited)
