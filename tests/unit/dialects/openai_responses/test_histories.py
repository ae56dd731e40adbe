"""Histories that OpenAI takes: reasoning stands directly before the item that it led to, or is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from interlingua.dialects._contract import Encoded, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.providers.rows import ROWS
from interlingua.testing.upstream import judge_body
from interlingua.types.content import Part, Sealed, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.tool import Tool

RESPONSES = get_dialect("openai-responses")
REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
THOUGHT = ThinkingPart("", Sealed("openai-responses", REASONING))
CALL = ToolCall("call_1", "look", "{}")
RESULT = Message("tool", (ToolResult("call_1", "look", "4 degrees"),))


def _encoded(*parts: Part, then: Message | None = None) -> Encoded:
    """The request that goes on after a turn of these parts, for OpenAI."""
    messages = (user("Weather?"), Message("assistant", parts), then or user("Go on."))
    request = Request(messages=messages, tools=(Tool(name="look"),))
    target = Target(model="gpt-6-astra", provider="openai", quirks=ROWS["openai"].quirks)
    encoded = RESPONSES.encode_request(request, EncodeOptions(target=target))
    verdict = judge_body("openai-responses", encoded.body, path="/v1/responses")
    assert verdict.ok, str(verdict)
    return encoded


def _turn(encoded: Encoded) -> list[Any]:
    """The items of the assistant's turn."""
    return json.loads(encoded.body)["input"][1:-1]


def _changes(encoded: Encoded) -> list[tuple[str, str]]:
    return [(change.code, change.path) for change in encoded.changes if change.path.startswith("/messages")]


def test_his_01_reasoning_that_was_cut_off_is_left_out() -> None:
    """An answer that ended while it was thinking goes back without its reasoning, and an entry says so."""
    encoded = _encoded(THOUGHT)
    assert _turn(encoded) == []
    assert _changes(encoded) == [("thinking_unsupported", "/messages/1/parts/0")]


def test_his_01_reasoning_before_a_text_of_the_client_alone_is_left_out() -> None:
    """A text without the id of the provider's message is nothing that reasoning led to."""
    encoded = _encoded(THOUGHT, TextPart("Let me look that up."))
    assert _turn(encoded) == [{"role": "assistant", "content": "Let me look that up."}]
    assert _changes(encoded) == [("thinking_unsupported", "/messages/1/parts/0")]


def test_his_01_a_text_of_the_client_goes_before_the_reasoning() -> None:
    """Text that a client put between reasoning and its call is told first: nothing is lost."""
    encoded = _encoded(THOUGHT, TextPart("Let me look that up."), CALL, then=RESULT)
    assert [item.get("type") for item in _turn(encoded)] == [None, "reasoning", "function_call"]
    assert _turn(encoded)[1] == REASONING
    assert _changes(encoded) == [("order_changed", "/messages/1/parts/0")]


def test_his_01_reasoning_goes_back_with_the_item_it_led_to() -> None:
    """Reasoning directly before the provider's own message, and several before a call, stay as they are."""
    own = TextPart("Oslo.", sealed=Sealed("openai-responses", {"id": "msg_1"}))
    second = ThinkingPart("", Sealed("openai-responses", {**REASONING, "id": "rs_2"}))
    third = ThinkingPart("", Sealed("openai-responses", {**REASONING, "id": "rs_3"}))
    encoded = _encoded(THOUGHT, own, second, third, CALL, then=RESULT)
    assert [item.get("id") for item in _turn(encoded)] == ["rs_1", "msg_1", "rs_2", "rs_3", None]
    assert _changes(encoded) == []


@pytest.mark.parametrize(
    ("freeform", "takes_freeform", "item_id", "sent"),
    [
        (True, True, "ctc_1", ("custom_tool_call", "ctc_1")),
        (True, False, "ctc_1", ("function_call", "fc_1")),
        (True, True, "fc_1", ("custom_tool_call", "ctc_1")),
        (False, True, "fc_1", ("function_call", "fc_1")),
        (False, False, "call_item", ("function_call", "call_item")),
    ],
)
def test_the_id_of_a_call_fits_the_type_of_its_item(
    freeform: bool, takes_freeform: bool, item_id: str, sent: tuple[str, str]
) -> None:
    """OpenAI refuses a function call under the id of a custom one: "Expected an ID that begins with 'fc'"."""
    seal = Sealed("openai-responses", {"id": item_id})
    call = ToolCall("call_1", "look", '{"input":"x"}', freeform=freeform, sealed=seal)
    quirks = replace(ROWS["openai"].quirks, freeform_tools=takes_freeform)
    request = Request(messages=(user("Weather?"), Message("assistant", (call,)), RESULT), tools=(Tool(name="look"),))
    options = EncodeOptions(target=Target(model="gpt-6-astra", provider="openai", quirks=quirks))
    item = json.loads(RESPONSES.encode_request(request, options).body)["input"][1]
    assert (item["type"], item["id"]) == sent


@pytest.mark.parametrize("blank", [(), (THOUGHT,), (THOUGHT, TextPart(" "))])
def test_an_agent_goes_on_after_a_blank_answer(blank: tuple[Part, ...]) -> None:
    """A turn that says nothing, after a result, and the words of the agent behind it: no reasoning stands alone."""
    messages = (
        user("Weather?"),
        Message("assistant", (THOUGHT, CALL)),
        RESULT,
        Message("assistant", blank),
        user("Go on."),
    )
    target = Target(model="gpt-6-astra", provider="openai", quirks=ROWS["openai"].quirks)
    encoded = RESPONSES.encode_request(
        Request(messages=messages, tools=(Tool(name="look"),)), EncodeOptions(target=target)
    )
    verdict = judge_body("openai-responses", encoded.body, path="/v1/responses")
    assert verdict.ok, str(verdict)
    kinds = [item.get("type") or item["role"] for item in json.loads(encoded.body)["input"]]
    said = ["assistant"] if len(blank) > 1 else []
    assert kinds == ["user", "reasoning", "function_call", "function_call_output", *said, "user"]


def test_the_mark_of_an_assistants_text_is_lost_with_an_entry() -> None:
    """Responses has no cache marks, for nobody's text."""
    encoded = _encoded(TextPart("Oslo.", cache="5m"))
    assert _changes(encoded) == [("cache_unsupported", "/messages/1/parts/0/cache")]
