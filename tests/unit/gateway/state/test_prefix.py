"""The digest of a conversation: what it costs, and that no history breaks it."""

from __future__ import annotations

import re
from hashlib import sha256

import pytest

from interlingua.gateway.state import turns as module
from interlingua.gateway.state.reasoning_store import memory_reasoning_store
from interlingua.gateway.state.turns import Prefix
from interlingua.types.content import (
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.response import Response


async def test_a_request_is_digested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One digest for each turn of the model, for the answer and for each file, restoring and remembering together.

    A turn without calls that is not stored under its key takes one more, with what was said before it, and so does
    the answer.
    """
    lengths: list[int] = []

    def counted(data: bytes) -> object:
        lengths.append(len(data))
        return sha256(data)

    monkeypatch.setattr(module, "sha256", counted)
    reasoning_store = memory_reasoning_store(lambda: 0.0)
    hello = Message("assistant", (TextPart("Hello."),))
    picture, paper = ImagePart(b"i" * 5_000, "image/png"), DocumentPart(b"d" * 7_000, "application/pdf")
    first = Request(messages=(user("Hi"),))
    await reasoning_store.remember(
        "", await reasoning_store.restore("", first), Response(parts=(ThinkingPart("Hm."),)), {}
    )
    lengths.clear()
    asked = Request(messages=(user("Hi", picture), hello, user("x" * 900, paper), hello, user("And now?")))
    restored = await reasoning_store.restore("", asked)
    await reasoning_store.remember("", restored, Response(parts=(ThinkingPart("Hm."), TextPart("So."))), {})
    assert sorted(lengths)[-2:] == [5_000, 7_000]
    assert len(lengths) == 2 + 2 + 1 + 2 + 1
    assert sum(lengths) < 12_000 + 2 * 900 + 600


@pytest.mark.parametrize("messages", [1_000, 4_000])
def test_a_digest_reads_each_text_once(messages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the speakers alternate: the bytes that are digested are those of the conversation, and a key a turn."""
    sizes: list[int] = []

    def counted(data: bytes) -> object:
        sizes.append(len(data))
        return sha256(data)

    monkeypatch.setattr(module, "sha256", counted)
    roles = ("user", "system", "user", "assistant")
    history = [Message(roles[place % 4], (TextPart("0123456789"),)) for place in range(messages)]
    assert len(Prefix(Request(messages=tuple(history))).turns) == messages // 4
    assert sum(sizes) < messages * 40


@pytest.mark.parametrize(
    "arguments",
    [
        '{"n": 123456789012345678901234567890}',
        '{"s": "\\ud800"}',
        '{"e": 1e400}',
        '{"d": ' + "[" * 120 + "]" * 120 + "}",
    ],
    ids=["a large number", "half a character", "beyond a float", "deep"],
)
def test_strange_arguments_have_a_digest(arguments: str) -> None:
    """What cannot be read as values counts as text."""
    turns = Prefix(Request(messages=(Message("assistant", (ToolCall("c", "f", arguments),)),))).turns
    assert re.fullmatch(r"[0-9a-f]{32}", turns[0].key)


def test_every_kind_of_part_counts() -> None:
    """Also one that only one dialect knows, and a broken call."""
    parts = [
        OpaquePart("anthropic", "server_tool_use", {"id": "srvtoolu_1"}),
        OpaquePart("anthropic", "server_tool_use", {"id": "srvtoolu_2"}),
        OpaquePart("anthropic", "web_search_result", {"id": "srvtoolu_1"}),
        BrokenToolCall("c", "f", "{", "malformed"),
        BrokenToolCall("c", "g", "{", "malformed"),
        ImagePart(b"1", "image/png"),
        DocumentPart(b"2", "application/pdf"),
    ]
    said, answer = Message("assistant", (TextPart("So."),)), (TextPart("Yes."),)
    keys = {Prefix(Request(messages=(Message("user", (part,)), said))).turns[0].key for part in parts}
    later = {Prefix(Request(messages=(Message("assistant", (part,)), user("?")))).answer_key(answer) for part in parts}
    assert (len(keys), len(later)) == (len(parts), len(parts))
