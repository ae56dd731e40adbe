"""The google-genai SDK: one client, `models.generate_content`; calling functions by itself is off."""

from __future__ import annotations

from google import genai
from google.genai import types

from bench.canned import DESCRIPTION, MAX_TOKENS, PARAMETERS, TEXT, TOOLS, TURNS, tool_name
from bench.peers.libraries import Calls, key, url


def _config() -> types.GenerateContentConfig:
    offered = [
        types.FunctionDeclaration(name=tool_name(number), description=DESCRIPTION, parameters_json_schema=PARAMETERS)
        for number in range(TOOLS)
    ]
    return types.GenerateContentConfig(
        system_instruction=TEXT,
        tools=[types.Tool(function_declarations=offered)],
        max_output_tokens=MAX_TOKENS,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )


def calls(port: int) -> Calls:
    """Its calls."""
    client = genai.Client(api_key=key, http_options=types.HttpOptions(base_url=url(port)))
    said = [types.Content(role=("user", "model")[number % 2], parts=[types.Part(text=TEXT)]) for number in range(TURNS)]
    config = _config()

    def whole() -> int:
        answer = client.models.generate_content(model="gemini-test", contents=said, config=config)
        return len(answer.function_calls or [])

    def streamed() -> int:
        stream = client.models.generate_content_stream(model="gemini-test", contents=said, config=config)
        return sum(len(chunk.text or "") for chunk in stream)

    async def awaited() -> int:
        answer = await client.aio.models.generate_content(model="gemini-test", contents=said, config=config)
        return len(answer.function_calls or [])

    return Calls(whole, streamed, awaited)
