"""Laws of the embedded engine: what it does not heed of a request is told in `changes`, or refused."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from interlingua.dialects._contract import EncodeOptions, Target
from interlingua.dialects.openai_chat.client import encode_request
from interlingua.errors import UnsupportedError
from interlingua.local.chat import Plan, plan
from interlingua.providers.rows import ROWS
from interlingua.types.change import Change
from interlingua.types.content import TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request, ServerState
from interlingua.types.tool import Tool
from tests.support.cells import cells

TARGET = Target(model="tiny", provider="local", quirks=ROWS["local"].quirks)
TOOL = Tool(name="f", description="F.", parameters={"type": "object", "properties": {"a": {"type": "string"}}})
ASKED = Request(messages=(Message("user", (TextPart("q"),)),))
WITH_TOOL, WITH_SCHEMA = replace(ASKED, tools=(TOOL,)), replace(ASKED, output_schema={"type": "object"})
SAID: dict[str, list[tuple[Request, Any]]] = {
    "messages": [(ASKED, (Message("user", (TextPart("r"),)),))],
    "system": [(ASKED, (TextPart("s"),))],
    "tools": [(ASKED, (TOOL,))],
    "tool_choice": [(WITH_TOOL, "required"), (WITH_TOOL, "none"), (ASKED, "auto")],
    "output_schema": [(ASKED, {"type": "object", "properties": {"a": {}}}), (WITH_TOOL, {"type": "object"})],
    "schema_description": [(WITH_SCHEMA, "d")],
    "json_mode": [(ASKED, True), (WITH_TOOL, True)],
    "max_tokens": [(ASKED, 5)],
    "temperature": [(ASKED, 0.5), (WITH_TOOL, 0.5)],
    "top_p": [(ASKED, 0.5)],
    "top_k": [(ASKED, 3)],
    "min_p": [(ASKED, 0.1)],
    "stop": [(ASKED, ("a",)), (WITH_TOOL, ("a",)), (WITH_SCHEMA, ("a",)), (replace(ASKED, json_mode=True), ("a",))],
    "seed": [(ASKED, 1)],
    "presence_penalty": [(ASKED, 1.0)],
    "frequency_penalty": [(ASKED, 1.0)],
    "logit_bias": [(ASKED, {"1": 1.0})],
    "logprobs": [(ASKED, 0), (ASKED, 2)],
    "n": [(ASKED, 2)],
    "effort": [(ASKED, "high"), (ASKED, "none")],
    "thinking": [(ASKED, True)],
    "thinking_summary": [(ASKED, "auto")],
    "thinking_budget": [(ASKED, 100)],
    "parallel_tool_calls": [(WITH_TOOL, True), (ASKED, True)],
    "verbosity": [(ASKED, "low")],
    "service_tier": [(ASKED, "flex")],
    "user": [(ASKED, "u")],
    "metadata": [(ASKED, {"a": "b"})],
    "store": [(ASKED, True)],
    "cache": [(ASKED, "5m")],
    "cache_key": [(ASKED, "k")],
    "continues": [(ASKED, ServerState("openai-responses", {"previous_response_id": "r"}))],
    "extra": [(ASKED, {"openai-chat": {"reasoning_effort": "high"}}), (ASKED, {"google": {"labels": {}}})],
}
"""Each field with values, and the requests in which they are said."""
REFUSED = frozenset({"n", "continues"})
"""Fields that would change what the answer is."""
UNHEARD = {
    "schema_name": "a name on the wire alone, which no model sees",
    "schema_strict": "a grammar holds the model to each schema anyway",
}
"""Fields that change nothing, and why nobody misses them."""


def planned(request: Request) -> tuple[Plan, tuple[Change, ...]]:
    """What the engine is asked, and what is told of it."""
    encoded = encode_request(request, EncodeOptions(target=TARGET))
    return plan(encoded.body), encoded.changes


def test_every_field_of_a_request_has_a_value() -> None:
    """A new field is not forgotten here."""
    assert sorted([*SAID, *UNHEARD]) == sorted(Request.__struct_fields__)


@cells(("name", "asked", "value"), [(name, *case) for name, cases in SAID.items() for case in cases])
def test_local_heeds_a_field_or_says_that_it_does_not(name: str, asked: Request, value: object) -> None:
    """Something else is asked of the engine, or an entry names the field, or it is refused before anything runs."""
    if name in REFUSED:
        with pytest.raises(UnsupportedError, match=f"local/tiny cannot take /{name}"):
            planned(replace(asked, **{name: value}))
        return
    heeded, changes = planned(replace(asked, **{name: value}))
    told = [change for change in changes if change.path == f"/{name}" or change.path.startswith(f"/{name}/")]
    assert (heeded != planned(asked)[0]) != bool(told), (heeded, changes)


def test_local_is_silent_where_it_does_what_is_asked() -> None:
    """One call at most is what it does anyway; an entry would be noise."""
    assert planned(replace(WITH_TOOL, parallel_tool_calls=False))[1] == ()
    assert planned(replace(WITH_TOOL, tool_choice="none", stop=("a",)))[0].sampling["stop"] == ["a"]
