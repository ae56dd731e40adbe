"""aisuite: one client, `chat.completions.create`; it has no asyncio."""

from __future__ import annotations

from typing import Any

import aisuite

from bench.canned import request_body
from bench.peers.libraries import Calls, key, url


def calls(port: int) -> Calls:
    """Its calls."""
    client = aisuite.Client({"openai": {"api_key": key, "base_url": url(port, "/v1")}})
    asked: dict[str, Any] = request_body("openai:gpt-test")

    def whole() -> int:
        return len(client.chat.completions.create(**asked).choices[0].message.tool_calls)

    def streamed() -> int:
        stream = client.chat.completions.create(**asked, stream=True)
        return sum(len(chunk.choices[0].delta.content or "") for chunk in stream)

    return Calls(whole, streamed)
