"""One conversation, one snapshot per provider: the exact request that each row makes of it, losses included.

Invented cases: no provider was called. `make golden-update` writes them anew, and the diff is the review.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlingua.dialects._contract import EncodeOptions
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.providers.rows import ROWS
from interlingua.registry.resolve import Registry
from interlingua.types.content import ImagePart, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import NamedTool, Tool

FOLDER = Path(__file__).parent / "provider-requests"
KEY = "the-key-of-the-row"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

CONVERSATION = Request(
    system=(TextPart("You are terse."),),
    messages=(
        user("Weather and time here?", ImagePart(b"\x89PNG", "image/png")),
        assistant(
            ThinkingPart("Two lookups."),
            ToolCall("call_0123456789_0123456789_0123456789_0123456789", "get_weather", '{"city":"Oslo"}'),
            ToolCall("call_2", "get_time", "{}"),
        ),
        Message(
            "tool",
            (
                ToolResult("call_0123456789_0123456789_0123456789_0123456789", "get_weather", '{"celsius":4}'),
                ToolResult("call_2", "get_time", "clock is down", is_error=True),
            ),
        ),
        assistant("4 degrees; no clock."),
        user("Try the clock again."),
    ),
    tools=(
        Tool(name="get_weather", description="Weather of a city.", parameters=CITY, strict=True),
        Tool(name="get_time", description="The time here."),
    ),
    tool_choice=NamedTool("get_time"),
    parallel_tool_calls=True,
    max_tokens=500,
    temperature=0.5,
    top_k=40,
    seed=7,
    effort="low",
    user="u-1",
)

EXTRACTION = Request(
    messages=(user("Oslo is 4 degrees."),), output_schema=CITY, schema_name="place", schema_strict=True, logprobs=0
)

CASES = {"conversation": CONVERSATION, "extraction": EXTRACTION}
SPOKEN = [name for name, row in ROWS.items() if set(row.dialects) & set(DIALECTS)]


def _registry(name: str) -> Registry:
    """The row with a key; one without an address gets one from a DSN."""
    row = ROWS[name]
    environ = dict.fromkeys(row.key_env[:1], KEY)
    environ |= {variable.env[0]: f"the-{variable.name}" for variable in row.variables}
    variable = f"LLM_{name.replace('-', '_').upper()}"
    return Registry(environ | ({variable: f"{name}://{KEY}@host.example"} if row.needs_host else {}))


def _snapshot(name: str, request: Request) -> dict[str, Any]:
    """What a transport would be given, readable."""
    (endpoint,) = _registry(name).resolve(f"{name}/some/model")
    options = EncodeOptions(
        target=endpoint.target, stream=True, stream_usage=True, allow=frozenset({"images", "output_schema"})
    )
    encoded = get_dialect(endpoint.dialect).encode_request(request, options)
    sent = endpoint.http_request(encoded, stream=True)
    return {
        "url": sent.url,
        "headers": [f"{key}: {value}" for key, value in sent.headers],
        "body": json.loads(sent.body),
        "changes": [f"{change.action} {change.code} {change.path}" for change in encoded.changes],
    }


@pytest.mark.parametrize("name", SPOKEN)
def test_each_provider_gets_its_own_request(name: str, golden_update: bool) -> None:
    """Address, headers, body and changes of both cases are exactly those of the snapshot."""
    made = {case: _snapshot(name, request) for case, request in CASES.items()}
    path = FOLDER / f"{name}.json"
    if golden_update:
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8")) == made


def test_no_snapshot_is_left_over() -> None:
    """Every snapshot belongs to a row."""
    assert {path.stem for path in FOLDER.glob("*.json")} == set(SPOKEN)
