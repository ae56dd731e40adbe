"""The ollama client: one client, `chat`."""

from __future__ import annotations

from typing import Any

import ollama

from bench.canned import MAX_TOKENS, request_body
from bench.peers.libraries import Calls, url


def calls(port: int) -> Calls:
    """Its calls."""
    client, awaiting = ollama.Client(host=url(port)), ollama.AsyncClient(host=url(port))
    body = request_body("llama-test")
    asked: dict[str, Any] = {"model": "llama-test", "messages": body["messages"], "tools": body["tools"]}
    asked["options"] = {"num_predict": MAX_TOKENS}

    def whole() -> int:
        return len(client.chat(**asked).message.tool_calls or [])

    def streamed() -> int:
        return sum(len(chunk.message.content or "") for chunk in client.chat(**asked, stream=True))

    async def awaited() -> int:
        return len((await awaiting.chat(**asked)).message.tool_calls or [])

    return Calls(whole, streamed, awaited)
