"""What a kB of a request costs, from small requests to the largest: no size may be a cliff.

Each point is the translation of one request from Chat to Messages, less that of a request that says nothing, for each
kB of its body; no body comes twice. A row gives, for each axis, the worst point for each unit of the median point.
"""

from __future__ import annotations

import base64
import itertools
import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from bench.rows import Row
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.wire.http import HttpRequest

__all__ = ["AXES", "ROWS", "fresh", "request_at", "translate"]

BAR = 2.0
MARK = b"@@@@@@@@"
"""What differs from body to body."""
WORDS = "words that somebody wrote "
LEAST_TURNS, TURN_KB = 3, 2_000
_READ, _WRITE = get_dialect("openai-chat").decode_request, get_dialect("anthropic").encode_request
_OPTIONS = EncodeOptions(target=Target(model="model-x"))
_NUMBERS = itertools.count(10_000_000)


def _texts(kilobytes: int) -> dict[str, Any]:
    """One long text."""
    return {"messages": [{"role": "user", "content": MARK.decode() + WORDS * (kilobytes * 40)}]}


def _messages(kilobytes: int) -> dict[str, Any]:
    """Many messages; beyond 524,288 bytes, where conversations that grow once had a cliff."""
    said = [
        {"role": ("user", "assistant")[number % 2], "content": f"{number} {MARK.decode()} {WORDS * 8}"}
        for number in range(kilobytes * 4)
    ]
    return {"messages": [*said, {"role": "user", "content": "and now?"}]}


def _tools(number: int) -> dict[str, Any]:
    """Many tools, their parameters as pydantic writes them."""
    members: dict[str, Any] = {
        "city": {"title": "City", "type": "string"},
        "days": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "title": "Days"},
        "unit": {"$ref": "#/$defs/Unit"},
    }
    unit = {"enum": ["metric", "imperial"], "title": "Unit", "type": "string"}
    tools: list[dict[str, Any]] = [
        {
            "type": "function",
            "function": {
                "name": f"look_{place}",
                "description": f"Looks {MARK.decode()}.",
                "parameters": {
                    "$defs": {"Unit": unit}, "properties": members, "required": ["city", "unit"],
                    "title": f"Look{place}", "type": "object",
                },
            },
        }
        for place in range(number)
    ]  # fmt: skip
    return {"messages": [{"role": "user", "content": "look"}], "tools": tools}


def _pictures(kilobytes: int) -> dict[str, Any]:
    """A picture; random bytes stand for it."""
    data = base64.b64encode(random.Random(kilobytes).randbytes(kilobytes * 750)).decode()
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": MARK.decode()},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    ]
    return {"messages": [{"role": "user", "content": parts}]}


AXES: dict[str, tuple[Callable[[int], dict[str, Any]], tuple[int, ...]]] = {
    "text": (_texts, (10, 100, 1_000, 4_000, 16_000)),
    "messages": (_messages, (10, 100, 400, 600, 1_000, 4_000)),
    "tools": (_tools, (10, 50, 100, 250, 500)),
    "pictures": (_pictures, (10, 100, 1_000, 4_000, 16_000)),
}
"""What grows, by name: what makes a request of a size, and the sizes, in kB or tools."""


def request_at(axis: str, size: int) -> bytes:
    """A body at a point of an axis, with its marks."""
    return json.dumps({"model": "model-x", **AXES[axis][0](size)}, separators=(",", ":")).encode()


def fresh(body: bytes) -> bytes:
    """A body like it that nobody had before."""
    return body.replace(MARK, b"%d" % next(_NUMBERS))


def translate(body: bytes) -> object:
    """What is measured: a request with no body like it."""
    request = HttpRequest(url="https://bench.example/v1/chat/completions", body=body)
    return _WRITE(_READ(request, DecodeOptions()).request, _OPTIONS)


def _cost_us(body: bytes) -> float:
    """The processor time of the quickest of several translations."""
    spent: list[float] = []
    for _ in range(max(LEAST_TURNS, TURN_KB * 1_000 // len(body))):
        new = fresh(body)
        begun_s = time.process_time()
        translate(new)
        spent.append(time.process_time() - begun_s)
    return min(spent) * 1e6


def _worst(axis: str) -> float:
    """The worst point of an axis for each unit of the median one."""
    empty_us = _cost_us(request_at("text", 0))
    bodies = [request_at(axis, size) for size in AXES[axis][1]]
    costs = [(_cost_us(body) - empty_us) / (len(body) / 1_000) for body in bodies]
    return max(costs) / statistics.median(costs)


ROWS = (
    Row(
        "codec/axes", "a kB of a request at the worst size / at the median size of its axis", BAR, "x",
        lambda: {axis: _worst(axis) for axis in AXES},
    ),
)  # fmt: skip
