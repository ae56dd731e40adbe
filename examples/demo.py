"""A real language model on this machine: it calls a Python function, fills in a dataclass, streams text.

Run `make demo`, or `il models pull tiny` once and then `python examples/demo.py`. No key, no account, no server.
The model is SmolLM2 with 135 million parameters, one of the smallest there are. What it says is what it said.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import interlingua as il

FORECASTS = {
    "Oslo": "light rain, 4 degrees",
    "Lisbon": "sunny, 21 degrees",
    "Tokyo": "cloudy, 15 degrees",
}
QUESTION = "Tell me the weather in Oslo."
SENTENCE = "Maria is 29 years old and lives in Lisbon."
TOPIC = "What is photosynthesis?"


@dataclass
class Person:
    """What is asked for in step 2."""

    name: str
    age: int
    city: str


def get_weather(city: str) -> str:
    """Weather forecast for a city.

    Args:
        city: City name, in English.
    """
    return FORECASTS.get(city, f"no forecast for {city}")


def main() -> int:
    """The exit code: 0 when all three steps worked."""
    began = time.perf_counter()
    model = il.model("local/tiny", temperature=0)
    print("interlingua: a model on this machine, through the same calls as any other\n")
    try:
        call_a_function(model)
        fill_in_a_dataclass(model)
        stream_text(model)
    except il.Error as problem:
        print(f"\n{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    print(f"\nAll of it took {time.perf_counter() - began:.1f} s, loading the model included.")
    print('Any other model is one word away: il.model("anthropic/…"), il.model("openai/…"), il.model("ollama/…").')
    return 0


def call_a_function(model: il.Model) -> None:
    """Let the model call `get_weather`, run it, and let the model answer with the result."""
    heading(1, "The model calls a Python function")
    show("prompt", QUESTION)
    tools = il.Toolbox([get_weather])
    began = time.perf_counter()
    reply = model.generate(QUESTION, tools=tools)
    if not reply.tool_calls:
        raise il.ToolError(f"the model called nothing; it said: {reply.text}")
    while reply.tool_calls:
        for call in reply.tool_calls:
            show("call", f"{call.name}({call.arguments_json})")
        results = tools.execute(reply.tool_calls)
        for result in results.tool_results:
            show("returned", str(result.content))
        reply = model.generate(results, history=reply, tools=tools)
    show("answer", reply.text)
    timing(reply.usage, began)


def fill_in_a_dataclass(model: il.Model) -> None:
    """Read a sentence into a `Person`."""
    heading(2, "The answer is a dataclass")
    show("prompt", SENTENCE)
    began = time.perf_counter()
    reply = model.generate(SENTENCE, output=Person)
    show("output", repr(reply.output))
    timing(reply.usage, began)


def stream_text(model: il.Model) -> None:
    """Print text while it is generated."""
    heading(3, "Text comes as it is generated")
    show("prompt", TOPIC)
    print("  stream    ", end="", flush=True)
    began = time.perf_counter()
    first_s = None
    with model.stream(TOPIC, system="You answer in one short sentence.", max_tokens=80) as stream:
        for piece in stream.text_stream:
            first_s = first_s or time.perf_counter() - began
            print(piece, end="", flush=True)
        reply = stream.finish()
    print()
    timing(reply.usage, began, first_s)


def heading(number: int, text: str) -> None:
    """Print the headline of a step."""
    print(f"\n{number}. {text}")


def show(what: str, text: str) -> None:
    """Print one labelled line."""
    print(f"  {what:<9} {text}")


def timing(usage: il.Usage | None, began: float, first_s: float | None = None) -> None:
    """Print how long a step took, and how fast the last answer was."""
    took_s = time.perf_counter() - began
    parts = [f"{took_s:.1f} s"]
    if first_s is not None:
        parts.append(f"first text after {first_s:.1f} s")
    if usage is not None and (tokens := usage.output_tokens) is not None:
        parts.append(f"{tokens} tokens in the last answer")
        if first_s is not None and took_s > first_s:
            parts.append(f"{tokens / (took_s - first_s):.0f} tokens/s")
    show("took", ", ".join(parts))


if __name__ == "__main__":
    sys.exit(main())
