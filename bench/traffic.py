"""Requests as users send them: no two alike, about 10 kB each, in the form of a Chat client with ten tools.

Kinds
- *grown*: conversations of agents that grow by a step of two calls with their results; every turn is a request. Many
  go on side by side, so that the next turn of one comes after a turn of each other one.
- *new text*: conversations that nobody had before, with tools that everybody has.
- *new*: conversations and tools that nobody had before.
- *pydantic*: those tools as pydantic writes their parameters: `title`, `default`, `anyOf` with null, `$defs`.

Texts are made from a seed: a run sends the same requests as the next one, and none of them twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, islice
from random import Random
from typing import Any

from bench.canned import DESCRIPTION, MAX_TOKENS, PARAMETERS, TOOLS, tool_name

__all__ = ["KINDS", "bodies", "conversations", "requests"]

KINDS = ("grown", "new-text", "new", "pydantic")
SIDE_BY_SIDE = 64
"""How many conversations grow at a time."""
STEPS = 5
"""How many steps a conversation has; the mean of its requests is 9 kB."""
_SYSTEM_WORDS, _PROMPT_WORDS, _RESULT_WORDS, _REPLY_WORDS = 150, 60, 90, 30
_WORDS = [f"{first}{second}{third}" for first in "bdgklmnprst" for second in "aeiou" for third in ("n", "r", "st", "")]
_SEEDS = {kind: count(number * 10**9) for number, kind in enumerate(KINDS, 1)}


def requests(kind: str, model: str, number: int) -> list[bytes]:
    """So many bodies of a kind, in the order in which they are sent; no call gives one that another call gave."""
    return list(islice(bodies(kind, model), number))


def bodies(kind: str, model: str) -> Iterator[bytes]:
    """Those bodies without an end."""
    while True:
        side_by_side = [conversations(kind, model, next(_SEEDS[kind])) for _ in range(SIDE_BY_SIDE)]
        if kind == "grown":
            for turn in zip(*side_by_side, strict=True):
                yield from turn
        else:
            yield from [list(conversation)[STEPS // 2 + 1] for conversation in side_by_side]


def conversations(kind: str, model: str, seed: int) -> Iterator[bytes]:
    """The requests of one conversation, turn by turn."""
    random = Random(seed)
    tools = [_TOOLS[kind](random, number) for number in range(TOOLS)]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": _text(random, _SYSTEM_WORDS)},
        {"role": "user", "content": _text(random, _PROMPT_WORDS)},
    ]
    for step in range(STEPS + 1):
        body = {"model": model, "messages": messages, "max_tokens": MAX_TOKENS, "tools": tools}
        yield json.dumps(body, separators=(",", ":")).encode()
        messages += _step(random, [tool["function"]["name"] for tool in tools], f"{seed}{step}")


def _step(random: Random, names: list[str], number: str) -> Iterator[dict[str, Any]]:
    """Two calls of the model with their results, and what the user says to its answer."""
    ids = [f"call_{number}{place}" for place in (0, 1)]
    calls = [_call(random, one, random.choice(names)) for one in ids]
    yield {"role": "assistant", "content": _text(random, _REPLY_WORDS), "tool_calls": calls}
    for one in ids:
        yield {"role": "tool", "tool_call_id": one, "content": _text(random, _RESULT_WORDS)}
    yield {"role": "assistant", "content": _text(random, _REPLY_WORDS)}
    yield {"role": "user", "content": _text(random, _PROMPT_WORDS // 2)}


def _call(random: Random, call_id: str, name: str) -> dict[str, Any]:
    arguments = json.dumps({"city": _text(random, 1), "days": random.randint(1, 7)})
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _tool(_: Random, number: int) -> dict[str, Any]:
    """One of the ten tools that everybody has."""
    return _function(tool_name(number), DESCRIPTION, PARAMETERS)


def _new_tool(random: Random, number: int) -> dict[str, Any]:
    """One that nobody has seen: another name, description and member."""
    members = {**PARAMETERS["properties"], _text(random, 1): {"type": "string"}}
    name = f"{tool_name(number)}_{random.randrange(10**9)}"
    return _function(name, _text(random, 6), {**PARAMETERS, "properties": members})


def _pydantic_tool(random: Random, number: int) -> dict[str, Any]:
    """One that nobody has seen, with parameters in the words of pydantic."""
    name, unit = f"{tool_name(number)}_{random.randrange(10**9)}", _text(random, 1).title()
    members = {
        "city": {"description": "Name of the city, in English.", "title": "City", "type": "string"},
        "days": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "title": "Days"},
        "units": {"$ref": f"#/$defs/{unit}", "default": "metric"},
        _text(random, 1): {"default": False, "title": "Hourly", "type": "boolean"},
    }
    definitions = {unit: {"enum": ["metric", "imperial"], "title": unit, "type": "string"}}
    schema = {"$defs": definitions, "properties": members, "required": ["city"], "title": "Forecast", "type": "object"}
    return _function(name, _text(random, 6), schema)


def _function(name: str, about: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


_TOOLS = {"grown": _tool, "new-text": _tool, "new": _new_tool, "pydantic": _pydantic_tool}


def _text(random: Random, words: int) -> str:
    return " ".join(random.choices(_WORDS, k=words))
