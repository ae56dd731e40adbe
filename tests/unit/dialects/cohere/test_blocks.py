"""Blocks and calls of Cohere's histories: what stands beside them, and whose results are told in words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.wire.http import HttpRequest

URL = {"url": "data:image/png;base64,aGk="}


def _sent(body: dict[str, Any], dialect: str = "cohere") -> tuple[dict[str, Any], list[str]]:
    """A body of a client as it goes out in a dialect, and the codes of what changed."""
    http = HttpRequest(url="/v2/chat", body=json.dumps({"model": "m", **body}).encode())
    decoded = get_dialect("cohere").decode_request(http, DecodeOptions(history="mend"))
    encoded = get_dialect(dialect).encode_request(
        decoded.request, EncodeOptions(target=Target(model="m"), history="mend")
    )
    return json.loads(encoded.body), [change.code for change in (*decoded.changes, *encoded.changes)]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": "a", "image_url": URL},
        {"type": "text", "text": "a", "document": {"data": "b"}},
        {"type": "image_url", "image_url": URL, "text": "a"},
        {"type": "document", "document": {"data": "b"}, "text": "a"},
    ],
)
def test_members_of_other_blocks_go_back_and_are_noted_elsewhere(block: dict[str, Any]) -> None:
    """The type decides which member counts; the other one is a member without a field, as any."""
    body: dict[str, Any] = {"messages": [{"role": "user", "content": [block]}]}
    own, codes = _sent(body)
    assert (own["messages"][0]["content"], codes) == ([block], [])
    _, codes = _sent(body, "openai-chat")
    assert "extra_foreign" in codes


def test_the_result_of_a_broken_call_is_told_under_its_name() -> None:
    """A call that cannot be run is told in words, and what came of it with the name of its tool."""
    call = {"id": "x", "type": "function", "function": {"name": "look", "arguments": "{bad"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "x", "content": "r"},
    ]
    body, _ = _sent({"messages": messages})
    assert [message["content"] for message in body["messages"][1:]] == ["look({bad)", "look: r"]
