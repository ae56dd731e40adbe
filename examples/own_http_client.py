"""Only the translation: three functions of `interlingua.codec`, an HTTP client of one's own, and any provider.

Run: OPENAI_API_KEY=… python examples/own_http_client.py
"""

from __future__ import annotations

import os
from typing import Any

import httpx

import interlingua as il
from interlingua import codec

URL = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions"


def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"4 °C in {city}"


def main() -> None:
    """Send definitions, read calls, send results, until the model is done."""
    weather = il.tool(get_weather)
    headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    body: dict[str, Any] = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Weather in Oslo?"}]}
    body["tools"] = codec.encode_definitions([weather], "openai")
    while True:
        answer = httpx.post(URL, json=body, headers=headers).raise_for_status().json()
        body["messages"].append(answer["choices"][0]["message"])
        calls = codec.decode_tool_calls(answer, "openai", definitions=[weather])
        if not calls:
            return print(answer["choices"][0]["message"]["content"])
        body["messages"] += codec.encode_result(il.Toolbox([weather]).execute(calls).tool_results, "openai")


if __name__ == "__main__":
    main()
