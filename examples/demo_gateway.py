"""The official SDKs of OpenAI, Anthropic, Google and Ollama talk to a model on this machine, through the gateway.

Run `make demo`, or `il models pull tiny` once and then `python examples/demo_gateway.py`, which starts `il serve` by
itself and stops it. Each SDK asks for a tool call, and then for a text as it is generated. Nothing of theirs is changed
but the address.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import anthropic
import ollama
import openai
from google import genai
from google.genai import types

QUESTION = "Tell me the weather in Oslo."
TOPIC = "What is photosynthesis? One short sentence."
NAME, WHAT_IT_IS = "get_weather", "Weather forecast for a city."
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "City name, in English."}},
    "required": ["city"],
}
MODEL = "local/tiny"
Said: TypeAlias = tuple[list[tuple[str, Any]], Iterator[str]]
"""The calls that came, and a text as it comes."""


def main() -> int:
    """The exit code: 0 when every SDK got its call and its stream."""
    print("\ninterlingua: the gateway, in front of the same model\n")
    with gateway() as url:
        print(f"  il serve listens on {url}")
        silent = [title for title, speak in SDKS.items() if not played(title, speak, url)]
    if silent:
        print(f"\nno call or no text came through {', '.join(silent)}", file=sys.stderr)
        return 1
    print(
        "\nStart it yourself: il serve -m local/tiny, then point any client to it; il launch does so for coding agents."
    )
    return 0


@contextmanager
def gateway() -> Generator[str]:
    """The address of `il serve` on a free port, for as long as the block runs."""
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603 - our own
    try:
        yield address_of(process)
    finally:
        process.terminate()
        process.wait()


def address_of(process: subprocess.Popen[str]) -> str:
    """Where it says that it listens."""
    said: list[str] = []
    for line in process.stdout or ():
        said.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    raise SystemExit(f"il serve did not start:\n{''.join(said)}")


def played(title: str, speak: Callable[[str], Said], url: str) -> bool:
    """Whether one SDK got a call and a text; both are printed."""
    print(f"\n{title}")
    began = time.perf_counter()
    calls, pieces = speak(url)
    for name, arguments in calls:
        print(f"  call      {name}({arguments})")
    print("  stream    ", end="", flush=True)
    text = ""
    for piece in pieces:
        text += piece
        print(piece, end="", flush=True)
    print(f"\n  took      {time.perf_counter() - began:.1f} s")
    return bool(calls and text)


def speak_openai(url: str) -> Said:
    """Chat Completions, by the `openai` package."""
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none")
    function: Any = {
        "type": "function",
        "function": {"name": NAME, "description": WHAT_IT_IS, "parameters": PARAMETERS},
    }
    question: Any = [{"role": "user", "content": QUESTION}]
    reply: Any = client.chat.completions.create(
        model=MODEL, messages=question, tools=[function], tool_choice="required", temperature=0
    )
    calls = [(call.function.name, call.function.arguments) for call in reply.choices[0].message.tool_calls or ()]
    topic: Any = [{"role": "user", "content": TOPIC}]
    chunks = client.chat.completions.create(model=MODEL, messages=topic, temperature=0, max_tokens=60, stream=True)
    return calls, (chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def speak_anthropic(url: str) -> Said:
    """Messages, by the `anthropic` package."""
    client = anthropic.Anthropic(base_url=url, api_key="none")
    tool: Any = {"name": NAME, "description": WHAT_IT_IS, "input_schema": PARAMETERS}
    reply = client.messages.create(
        model=MODEL,
        max_tokens=200,
        messages=[{"role": "user", "content": QUESTION}],
        tools=[tool],
        tool_choice={"type": "any"},
        extra_body={"temperature": 0},
    )
    calls = [(block.name, block.input) for block in reply.content if block.type == "tool_use"]

    def pieces() -> Iterator[str]:
        topic: Any = [{"role": "user", "content": TOPIC}]
        with client.messages.stream(
            model=MODEL, max_tokens=60, messages=topic, extra_body={"temperature": 0}
        ) as stream:
            yield from stream.text_stream

    return calls, pieces()


def speak_google(url: str) -> Said:
    """generateContent, by the `google-genai` package."""
    client: Any = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url))
    function = types.FunctionDeclaration(name=NAME, description=WHAT_IT_IS, parameters_json_schema=PARAMETERS)
    must = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
    asked = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[function])],
        tool_config=types.ToolConfig(function_calling_config=must),
        temperature=0,
    )
    reply = client.models.generate_content(model=MODEL, contents=QUESTION, config=asked)
    calls = [(call.name, call.args) for call in reply.function_calls or ()]

    def pieces() -> Iterator[str]:
        plain = types.GenerateContentConfig(temperature=0, max_output_tokens=60)
        for frame in client.models.generate_content_stream(model=MODEL, contents=TOPIC, config=plain):
            yield frame.text or ""

    return calls, pieces()


def speak_ollama(url: str) -> Said:
    """/api/chat, by the `ollama` package; it cannot demand a call, so the model decides."""
    client: Any = ollama.Client(host=url)
    function = {"type": "function", "function": {"name": NAME, "description": WHAT_IT_IS, "parameters": PARAMETERS}}
    question = [{"role": "user", "content": QUESTION}]
    reply = client.chat(model=MODEL, messages=question, tools=[function], options={"temperature": 0})
    calls = [(call.function.name, dict(call.function.arguments)) for call in reply.message.tool_calls or ()]
    topic = [{"role": "user", "content": TOPIC}]
    lines = client.chat(model=MODEL, messages=topic, options={"temperature": 0, "num_predict": 60}, stream=True)
    return calls, (line.message.content or "" for line in lines)


SDKS = {
    "1. The openai package": speak_openai,
    "2. The anthropic package": speak_anthropic,
    "3. The google-genai package": speak_google,
    "4. The ollama package": speak_ollama,
}

if __name__ == "__main__":
    sys.exit(main())
