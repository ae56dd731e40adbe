"""Items between a call and its result, reasoning that says nothing, names of messages: what is read and told."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import DecodedRequest, DecodeOptions, EncodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.errors import HistoryError
from interlingua.types.content import TextPart, ToolCall, ToolResult
from interlingua.types.message import Message, user
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode

NAME = "openai-responses"


def call(call_id: str) -> dict[str, Any]:
    """A call."""
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}


def output(call_id: str, text: str = "ok") -> dict[str, Any]:
    """Its result."""
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def said(text: str, role: str = "user") -> dict[str, Any]:
    """What somebody says."""
    return {"role": role, "content": text}


def read(*items: dict[str, Any]) -> DecodedRequest:
    """A request of these items."""
    http = HttpRequest(method="POST", url="/v1/responses", body=encode({"model": "m", "input": items}))
    return get_dialect(NAME).decode_request(http, DecodeOptions())


def told(changes: Any) -> list[str]:
    """What was changed."""
    return [f"{one.action} {one.code} {one.path}" for one in changes]


def result(call_id: str, text: str = "ok") -> ToolResult:
    """A result as it is read."""
    return ToolResult(call_id, "f", text)


def calls(*call_ids: str) -> Message:
    """A turn that only calls."""
    return Message("assistant", tuple([ToolCall(call_id, "f", "{}") for call_id in call_ids]))


def test_a_result_after_the_next_prompt_is_told_right_after_its_call() -> None:
    """Somebody who speaks while a tool runs stands between the two; other services want them side by side."""
    for _ in range(3):
        found = read(said("a"), call("c1"), said("Hurry."), output("c1"), said("Well?"))
        answer = Message("tool", (result("c1"),))
        assert found.request.messages == (user("a"), calls("c1"), answer, user("Hurry."), user("Well?"))
        assert told(found.changes) == ["approximated order_changed /messages/2/parts/0"]


def test_results_of_several_calls_find_their_turns() -> None:
    """Each result goes to the turn of its own call, behind those that are there."""
    found = read(
        call("c1"), call("c2"), output("c2", "2"), said("a"), said("b", "developer"), call("c3"), said("c"),
        output("c3", "3"), output("c1", "1"), said("d", "assistant"),
    )  # fmt: skip
    messages = found.request.messages
    assert [message.role for message in messages] == [
        "assistant", "tool", "user", "system", "assistant", "tool", "user", "assistant",
    ]  # fmt: skip
    assert messages[1].parts == (result("c2", "2"), result("c1", "1"))
    assert messages[5].parts == (result("c3", "3"),)
    assert told(found.changes) == [f"approximated order_changed /messages/{at}" for at in ("5/parts/0", "1/parts/1")]


def test_places_of_open_calls_follow_what_is_put_before_them() -> None:
    """A late result of an earlier turn moves the later turns by one."""
    found = read(call("c1"), said("a"), call("c2"), said("b"), output("c1", "1"), output("c2", "2"))
    assert found.request.messages == (
        calls("c1"), Message("tool", (result("c1", "1"),)), user("a"),
        calls("c2"), Message("tool", (result("c2", "2"),)), user("b"),
    )  # fmt: skip


@pytest.mark.parametrize("late", [[], [output("c2")], [output("c1"), output("c1")]])
def test_what_has_no_result_or_two_is_still_a_fault(late: list[dict[str, Any]]) -> None:
    """A result that comes late is found; one that never comes, or comes twice, is not made up."""
    with pytest.raises(HistoryError):
        read(call("c1"), said("a"), *late)


def test_reasoning_that_nobody_knows_again_is_told() -> None:
    """Without an id and without its seal the service refuses it, whatever it says."""
    for summary in ([], [{"type": "summary_text", "text": "Hm."}]):
        request = read(said("a"), {"type": "reasoning", "summary": summary}, said("b", "assistant")).request
        encoded = get_dialect(NAME).encode_request(request, EncodeOptions())
        body: Any = decode_any(encoded.body)
        assert body["input"] == [said("a"), said("b", "assistant")]
        assert told(encoded.changes) == ["dropped thinking_unsupported /messages/1/parts/0"]


def test_the_name_of_a_message_stays_in_its_dialect_and_is_told_elsewhere() -> None:
    """No official type has one, and some clients of Chat leave it there."""
    items = [{**said("a"), "name": "bob"}, {**said("b", "assistant"), "name": "al"}, said("c")]
    request = read(*items).request
    assert request.messages[0].parts == (TextPart("a"),)
    same: Any = decode_any(get_dialect(NAME).encode_request(request, EncodeOptions()).body)
    assert [item.get("name") for item in same["input"]] == ["bob", "al", None]
    other = get_dialect("openai-chat").encode_request(request, EncodeOptions())
    assert told(other.changes) == [
        "dropped extra_foreign /messages/0/extra/openai-responses",
        "dropped seal_foreign /messages/1/parts/0/sealed",
    ]
