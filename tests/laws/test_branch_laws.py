"""Law of the one codec: its branch for the usual shape says what its branch for anything says."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeContext, EncodeOptions, Facts, Quirks, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import Error
from interlingua.types.content import TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply
from interlingua.wire.json import encode
from tests.support.branches import (
    check_answer,
    check_request,
    check_writing,
    check_writing_answer,
    golden_bodies,
    with_stranger,
)
from tests.support.encodings import answers, requests
from tests.support.imitated import IMITATED
from tests.support.roads import conversations
from tests.support.strategies import responses
from tests.support.usual import ANSWERS

TARGETS = (
    Target(),
    Target(quirks=Quirks(tool_only_content="empty", call_ids_back=False)),
    Target(quirks=Quirks(tool_only_content="omit", empty_result="marker")),
    Target(quirks=Quirks(result_name=True), facts=Facts(call_seals=True)),
    Target(quirks=Quirks(reasoning_echo="always")),
)
TEXTS = st.sampled_from(["Hello.", "ERROR: no", "ERROR:", "é 世界", "null", ' "quoted"\n', " "])
IDS = st.sampled_from(["call_1", "call_a", "toolu_01", "null", "x y", "call_0"])
ARGUMENTS = st.sampled_from(
    ['{"a": 1}', "{}", '{"a":"b","c":[{"d":null}]}', '{"n":\n1}', '{"a":1,"a":2}', "[]", "null"]
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Conversations of texts, calls and results, most of them in order."""
    messages: list[Message] = []
    for turn in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            messages.append(Message("user", (TextPart(draw(TEXTS)),)))
        ids = draw(st.lists(IDS, max_size=2)) if draw(st.booleans()) else [f"id_{turn}"]
        calls = [ToolCall(one, draw(st.sampled_from(["look", "put"])), draw(ARGUMENTS)) for one in ids]
        texts = (TextPart(draw(TEXTS)),) if not calls or draw(st.booleans()) else ()
        messages.append(Message("assistant", (*texts, *calls)))
        results = [ToolResult(call.id, call.name, draw(TEXTS), draw(st.booleans())) for call in calls]
        if draw(st.booleans()):
            results.reverse()
        if results:
            messages.append(Message("tool", tuple(results)))
    return tuple(messages)


@given(messages=histories(), target=st.sampled_from(TARGETS))
@settings(max_examples=60)
def test_conversations_with_a_stranger_beside_a_part_are_written_alike(
    messages: tuple[Message, ...], target: Target
) -> None:
    """By every dialect, to servers of some kinds."""
    check_writing(Request(messages=messages), (target,))


@pytest.mark.parametrize("name", IMITATED)
@given(messages=histories())
@settings(max_examples=40)
def test_conversations_said_otherwise_are_the_same(name: str, messages: tuple[Message, ...]) -> None:
    """Each as the dialect writes it."""
    options = EncodeOptions(target=TARGETS[0], history="mend")
    try:
        encoded = get_dialect(name).encode_request(Request(messages=messages), options)
    except Error:
        return
    body: Any = json.loads(encoded.body)
    check_request(name, f"http://test{encoded.path}".replace("models/:", "models/m:"), {"model": "m", **body})


@pytest.mark.parametrize("name", IMITATED)
def test_requests_said_otherwise_are_the_same(name: str) -> None:
    """Other order, white space, and a member that nobody knows in one message, part, call or function at a time."""
    checked = sum([check_request(name, url, body) for url, body in golden_bodies(name, "request")])
    url = next(golden_bodies(name, "request"))[0]
    checked += sum([check_request(name, url, body) for body in conversations(name)])
    assert checked > 10


@pytest.mark.parametrize("name", IMITATED)
def test_answers_said_otherwise_are_the_same(name: str) -> None:
    """Those of the goldens, and usual ones."""
    assert sum([check_answer(name, body) for _, body in golden_bodies(name, "response")]) > 10


def test_requests_with_a_stranger_beside_a_part_are_written_alike() -> None:
    """A member of a dialect that nobody speaks changes no byte of what any other is told."""
    assert sum([check_writing(request) for _, request, _ in requests()]) > 300


def test_answers_with_a_stranger_beside_a_part_are_written_alike() -> None:
    """The same of answers, of all kinds and of usual ones."""
    assert sum([check_writing_answer(response) for _, response in answers()]) > 20
    for name in IMITATED:
        for body in ANSWERS[name]:
            reply = HttpReply(status=200, body=encode(body))
            check_writing_answer(get_dialect(name).decode_response(reply, DecodeContext()))


@given(responses)
@settings(max_examples=60)
def test_any_answer_with_a_stranger_beside_a_part_is_written_alike(response: Response[Any]) -> None:
    """Whatever it holds, in every dialect."""
    check_writing_answer(response)


def test_only_a_lone_block_of_a_result_of_bedrocks_is_without_a_stranger() -> None:
    """Alone it is a plain text, and a stranger makes a part of it; of several blocks each one is a part."""

    def holders(*blocks: dict[str, Any]) -> list[Any]:
        content = [{"toolResult": {"toolUseId": "t", "content": list(blocks)}}]
        body = {"messages": [{"role": "user", "content": content}]}
        copies = with_stranger(body, frozenset(), Random(0))
        return [copy["messages"][0]["content"][0]["toolResult"]["content"] for copy in copies]

    text = {"text": "a"}
    assert not any(["stranger" in block for copy in holders(text) for block in copy])
    marked = [["stranger" in block for block in copy] for copy in holders(text, {"json": 1})]
    assert {(True, False), (False, True)} <= {tuple(row) for row in marked}
