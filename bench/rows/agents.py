"""What a turn of a coding agent costs: Messages, the ends of the last two prompts marked for the prompt cache.

Nearly every agent that speaks Messages sends such requests, and what they mark moves from turn to turn, so that no body
begins as the one before it ended. `conversation` gives the turns as the agent sends them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

from bench.canned import DESCRIPTION, PARAMETERS, TOOLS, tool_name
from bench.measure import Batches, batch_ratios
from bench.rows import Row
from bench.rows.pairs import standard
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.wire.http import HttpRequest

__all__ = ["STEPS", "URL", "conversation"]

URL = "https://bench.example/v1/messages"
STEPS = 12
"""Calls with their results before the turn that is measured."""
BODIES = 20
"""How many conversations one turn of a measurement takes."""
LINES = 30
"""Lines in the result of a call."""
_LEARNED_IN = 4
"""So many turns before the measured one come first: it takes three to know a conversation and how it is written."""
_MARK = {"type": "ephemeral"}
_MARKED = 2
_NUMBERS = count(1_000_000)


def conversation(number: int, steps: range) -> Iterator[bytes]:
    """What an agent sends after so many steps of its work, one body for each of `steps`; it is asked to think, too."""
    history: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": f"Mend {number}. " * 9}]}]
    for step in range(steps.stop):
        if step in steps:
            yield json.dumps(_asked(history), separators=(",", ":")).encode()
        call_id = f"toolu_{number}_{step}"
        given = {"city": f"{number}/{step}", "days": step}
        call = {"type": "tool_use", "id": call_id, "name": tool_name(step % TOOLS), "input": given}
        said = [{"type": "thinking", "thinking": f"Step {step} of {number}.", "signature": "c2lnbmVk" * 20}, call]
        result = {"type": "tool_result", "tool_use_id": call_id, "content": f"{step}: line of {number}\n" * LINES}
        history += [{"role": "assistant", "content": said}, {"role": "user", "content": [result]}]


def _asked(history: list[dict[str, Any]]) -> dict[str, Any]:
    """A body in which the last two prompts are marked, as the system text is."""
    prompts = range(len(history))[::2][-_MARKED:]
    told = [_marked(message) if place in prompts else message for place, message in enumerate(history)]
    tools = [
        {"name": tool_name(number), "description": DESCRIPTION, "input_schema": PARAMETERS} for number in range(TOOLS)
    ]
    system = [{"type": "text", "text": "You write programs. " * 40, "cache_control": _MARK}]
    thinking = {"type": "enabled", "budget_tokens": 16_000}
    return {
        "model": "m", "messages": told, "system": system, "tools": tools, "max_tokens": 32_000, "thinking": thinking
    }  # fmt: skip


def _marked(message: dict[str, Any]) -> dict[str, Any]:
    *before, last = message["content"]
    return {**message, "content": [*before, {**last, "cache_control": _MARK}]}


def _turns(target: str) -> Batches:
    """The turn of an agent to one dialect, in conversations that have come before, turn by turn."""
    read, write = get_dialect("anthropic").decode_request, get_dialect(target).encode_request
    options = EncodeOptions(target=Target(model="m"))

    def translate(bodies: list[bytes]) -> object:
        return [write(read(HttpRequest(url=URL, body=body), DecodeOptions()).request, options) for body in bodies]

    def make() -> list[bytes]:
        steps = range(STEPS - _LEARNED_IN, STEPS + 1)
        told = [list(conversation(number, steps)) for number in islice(_NUMBERS, BODIES)]
        for bodies in list(zip(*told, strict=True))[:-1]:
            translate(list(bodies))
        return [bodies[-1] for bodies in told]

    return Batches(make, translate, standard)


ROWS = (
    Row(
        "codec/marked-step",
        "the turn of an agent whose cache marks move, after 12 steps, decoded and encoded, against stdlib json",
        None,
        "x",
        lambda: batch_ratios({name: _turns(name) for name in DIALECTS}, turns=9),
    ),
)
