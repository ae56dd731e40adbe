"""Any model over plain HTTP: the unified format of the gateway, without a line of this library.

Run: il serve -m local/tiny, and beside it: python examples/unified_over_http.py
"""

from __future__ import annotations

import os
from typing import Any

import httpx

URL = os.environ.get("GATEWAY", "http://127.0.0.1:8787") + "/unified/v1/generate"
CITY = {"type": "string", "description": "Name of the city."}
WEATHER = {
    "name": "get_weather",
    "description": "Tell the weather of a city.",
    "parameters": {"type": "object", "properties": {"city": CITY}, "required": ["city"]},
}


def main() -> None:
    """Ask, answer the model's calls, and go on until there are none."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Weather in Oslo?"}]
    while True:
        body = {"model": "smart", "tools": [WEATHER], "messages": messages}
        answer = httpx.post(URL, json=body).raise_for_status().json()
        calls = answer.get("tool_calls", [])
        if not calls:
            break
        messages.append({"role": "assistant", "parts": answer["parts"]})
        results = [{"type": "tool_result", "tool_call_id": call["id"], "content": "4 °C"} for call in calls]
        messages.append({"role": "tool", "parts": results})
    print(answer["text"])


if __name__ == "__main__":
    main()
