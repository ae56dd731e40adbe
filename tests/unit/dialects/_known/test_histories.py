"""Conversations that were read before: what is kept, what is read again, and what nobody can change."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any, cast

import msgspec
import pytest

from interlingua.dialects._contract import DecodedRequest, DecodeOptions, EncodeOptions, Target
from interlingua.dialects._known.histories import MAX_TEXT_BYTES, HistoryMemo, KnownMessages
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.types.change import Changes
from interlingua.types.content import TextPart
from interlingua.types.dump import dump
from interlingua.types.message import Message, user
from interlingua.wire.http import HttpRequest

CHAT = get_dialect("openai-chat")
LONG = "A text that is long enough to be worth remembering. " * 4


def said(*messages: dict[str, Any]) -> DecodedRequest:
    """A Chat request of these messages, read."""
    body = json.dumps({"model": "m", "messages": messages}).encode()
    return CHAT.decode_request(HttpRequest(url="http://test/v1/chat/completions", body=body), DecodeOptions())


def asked(text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": text}


def step(number: int) -> list[dict[str, Any]]:
    """A call and its result."""
    function = {"name": "look", "arguments": '{"at": 1}'}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": LONG},
    ]


class Reader:
    """Reads texts through a memo of its own, and counts what was read."""

    def __init__(self, **options: Any) -> None:
        self.memo = HistoryMemo(**options)
        self.read_texts: list[bytes] = []

    def decode(self, text: bytes, changes: Changes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
        """Each string is what the user said, or the assistant in every second place."""
        del changes
        self.read_texts.append(text)
        roles = ("user", "assistant")
        first = 1 if text.startswith(b'["answer') else 0
        texts = enumerate(json.loads(text), first)
        return (), tuple([Message(roles[place % 2], (TextPart(one),)) for place, one in texts])

    def read(self, *texts: str) -> tuple[Message, ...]:
        """The messages of a conversation."""
        return self.memo.read(json.dumps(texts).encode(), Changes("d", "decode_request"), self.decode)[1]


def test_a_text_is_known_from_the_second_time_on() -> None:
    """The first time leaves the text, the second the messages; the third reads nothing."""
    reader = Reader()
    found = [reader.read(LONG, "answer", LONG) for _ in range(4)]
    assert [type(one) for one in found] == [tuple, KnownMessages, KnownMessages, KnownMessages]
    assert len(reader.read_texts) == 2
    assert found[0] == found[3]


def test_only_what_goes_on_is_read() -> None:
    """A known conversation with more behind it costs its end; one that only begins alike is read as a whole."""
    reader = Reader()
    for _ in range(2):
        reader.read(LONG)
    assert reader.read(LONG, "answer one") == (
        Message("user", (TextPart(LONG),)), Message("assistant", (TextPart("answer one"),)),
    )  # fmt: skip
    assert reader.read_texts[2:] == [b'["answer one"]']
    reader.read(LONG + "!", "answer two")
    assert reader.read_texts[3:] == [json.dumps([LONG + "!", "answer two"]).encode()]


def test_memory_is_bounded() -> None:
    """Short texts and very long ones are not kept; with the generations full, the oldest is forgotten."""
    reader = Reader(max_generation_bytes=1_000)
    for text in ("short", "x" * MAX_TEXT_BYTES):
        for _ in range(3):
            reader.read(text)
    assert len(reader.read_texts) == 6
    for _ in range(2):
        reader.read(LONG)
    for number in range(20):
        reader.read(f"{number} {LONG}")
    reader.read(LONG)
    assert reader.read_texts[-1] == json.dumps([LONG]).encode()


def test_nothing_is_forgotten_while_there_is_room() -> None:
    """Of many conversations that are together as long as may be kept, the first one is found."""
    texts = [f"{number} {LONG}" for number in range(8)]
    reader = Reader(max_generation_bytes=sum(len(json.dumps([text])) for text in texts))
    for text in texts:
        for _ in range(2):
            reader.read(text)
    seen = len(reader.read_texts)
    assert (reader.read(texts[0]), len(reader.read_texts) - seen) == ((user(texts[0]),), 0)


def test_what_is_shared_cannot_be_changed() -> None:
    """Members of a known message refuse to be changed; copies and pickles are plain."""
    messages = (asked(LONG), {"role": "assistant", "content": "Yes.", "odd": {"a": 1}}, asked("And now?"))
    known = [said(*messages) for _ in range(3)][-1].request.messages
    with pytest.raises(TypeError, match="deepcopy"):
        known[1].extra["openai-chat"]["odd"] = 2
    assert type(copy.deepcopy(known)) is type(pickle.loads(pickle.dumps(known))) is tuple


def test_nothing_that_requests_share_can_be_filled() -> None:
    """An empty `extra` of a known message or part refuses to be filled, and JSON leaves it out all the same."""
    known, other = ([said(asked(LONG)) for _ in range(3)][-1].request for _ in range(2))
    for value in (known.messages[0].extra, cast("TextPart", known.messages[0].parts[0]).extra):
        with pytest.raises(TypeError, match="deepcopy"):
            value["openai-chat"] = {"mine": True}
    assert other.messages[0].extra == {}
    assert dump(known.messages) == dump([user(LONG)])
    assert dump(known) == dump(msgspec.structs.replace(known, messages=(user(LONG),)))


def test_each_step_is_written_behind_the_same_bytes() -> None:
    """An agent that goes on: every dialect says the turns before in the same bytes, and the new one behind them."""
    messages = [asked(LONG)]
    for _ in range(3):
        said(*messages)
    before = b""
    for number in range(4):
        messages += step(number)
        request = said(*messages).request
        body = CHAT.encode_request(request, EncodeOptions(target=Target(model="m"))).body
        assert len(request.messages) == 3 + 2 * number
        assert body.startswith(before[:-2])
        before = body


def test_a_result_of_an_earlier_call_makes_the_whole_be_read() -> None:
    """What goes on with a result for a known call cannot be read by itself."""
    call, result = step(1)
    messages = (asked(LONG), call)
    body = json.dumps({"model": "m", "messages": [*messages, result]}).encode()
    found = CHAT.decode_request(HttpRequest(url="http://test/v1/chat/completions", body=body), DecodeOptions())
    assert found.request.messages[-1].tool_results[0].name == "look"


def test_calls_of_the_user_are_counted_in_no_conversation() -> None:
    """A client that gives a call to the user has it named to the model, and no id of it is taken, known or not."""
    google = get_dialect("google")
    call = {"functionCall": {"id": "c1", "name": "look", "args": {"at": 1}}}
    turns = [{"role": "user", "parts": [{"text": LONG}]}, {"role": "me", "parts": [call]}]
    body = json.dumps({"contents": turns}).encode()
    http = HttpRequest(url="http://test/v1beta/models/m:generateContent", body=body)
    told = [google.decode_request(http, DecodeOptions()).request for _ in range(4)]
    assert isinstance(told[-1].messages, KnownMessages)
    undone = [google.encode_request(request, EncodeOptions(target=Target(model="m"))).undo for request in told]
    assert [(undo.first_index, undo.taken_ids) for undo in undone] == [(0, frozenset())] * 4


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("turn", [{}, {"content": ""}, {"content": " "}, {"reasoning_content": "Hm."}])
def test_a_turn_that_says_nothing_parts_nothing_that_is_one_message(name: str, turn: dict[str, Any]) -> None:
    """Where it is left out, what the user says behind it and before it is written as if nothing had been known."""
    options = EncodeOptions(target=Target(model="m"))
    turns = [asked(f"{LONG} {name} {turn}"), {"role": "assistant", **turn}, asked("And now?")]
    whole = get_dialect(name).encode_request(said(*turns).request, options)
    for _ in range(4):
        get_dialect(name).encode_request(said(turns[0]).request, options)
    for _ in range(3):
        assert get_dialect(name).encode_request(said(*turns).request, options).body == whole.body
