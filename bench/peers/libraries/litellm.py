"""LiteLLM: `completion` and `acompletion`, its banner and its telemetry off."""

from __future__ import annotations

from typing import Any

import litellm

from bench.canned import request_body
from bench.peers.libraries import Calls, key, url


def calls(port: int) -> Calls:
    """Its calls."""
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    asked: dict[str, Any] = {**request_body("openai/gpt-test"), "api_base": url(port, "/v1"), "api_key": key}

    def whole() -> int:
        return len(litellm.completion(**asked).choices[0].message.tool_calls)

    def streamed() -> int:
        return sum(len(chunk.choices[0].delta.content or "") for chunk in litellm.completion(**asked, stream=True))

    async def awaited() -> int:
        return len((await litellm.acompletion(**asked)).choices[0].message.tool_calls)

    return Calls(whole, streamed, awaited)
