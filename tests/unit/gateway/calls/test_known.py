"""A body that is known again says what it would say if it were read: every body, in any order."""

import json
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import Error
from interlingua.gateway.calls import head as heads
from interlingua.gateway.calls import known as bodies
from interlingua.gateway.calls.head import Head, read_head
from interlingua.gateway.calls.known import MAX_KEPT_BYTES, KnownBodies
from interlingua.gateway.http import GatewayRequest
from interlingua.wire.json import MAX_DEPTH

OUR_ID = f"call_il{'a' * 22}"
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": 'Weather? ], [ \\ " }'},
    {"role": "assistant", "content": "Größe"},
    {"role": "tool", "content": "4", "tool_call_id": OUR_ID},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": ""}]},
    {"role": "user", "content": [{"type": "text", "text": "On."}]},
    {"role": "user", "content": [{"type": "text", "text": "On.", "cache_control": {"type": "ephemeral"}}]},
]
REST: list[dict[str, Any]] = [
    {},
    {"tools": [{"type": "function", "function": {"name": "f", "strict": True}}], "stream": True},
    {"store": True},
]
_DIALECTS = ("openai-chat", "anthropic", "openai-responses", "google")


def _written(
    messages: list[dict[str, Any]], rest: dict[str, Any], model: str, name: str, form: tuple[bool, bool]
) -> bytes:
    """A body as clients write it: with spaces or without, the model first or last."""
    spaced, begins = form
    named = {"model": model}
    told = {**(named if begins else {}), name: messages, **rest, **({} if begins else named)}
    return json.dumps(told, separators=None if spaced else (",", ":"), ensure_ascii=not spaced).encode()


_FORMS = st.tuples(st.booleans(), st.booleans())
_WRITTEN = st.builds(
    _written,
    st.lists(st.sampled_from(MESSAGES), max_size=4),
    st.sampled_from(REST),
    st.sampled_from(["m", "a/b"]),
    st.sampled_from(["messages", "input", "contents"]),
    _FORMS,
)


def _forget() -> None:
    heads.BODIES = KnownBodies[Head]()


def _asked(body: bytes, path: str = "/v1beta/models/m:generateContent") -> GatewayRequest:
    return GatewayRequest(path=path, body=body)


def _said(body: bytes, dialect: str) -> object:
    """What is read of a body, or the error."""
    try:
        head = read_head(_asked(body), dialect)
    except Error as error:
        return type(error), error.message
    return _told(head, body)


def _told(head: Head, body: bytes) -> object:
    members = {name: bytes(text) for name, text in head.members.items()}
    known = head.placed
    if known is not None:
        at = known.at if known.at > 0 else len(body) + known.at
        assert body[at : at + len(known.text)] == known.text == members["model"]
        renamed = body[:at] + b'"new"' + body[at + len(known.text) :]
        assert json.loads(renamed) == {**json.loads(body), "model": "new"}
    return (
        list(members.items()), head.model, head.stream, head.json_array, head.offered, head.says_something,
        known is None, head.is_ours, head.is_committed,
    )  # fmt: skip


def _fresh(body: bytes, dialect: str) -> object:
    kept = heads.BODIES
    _forget()
    try:
        return _said(body, dialect)
    finally:
        heads.BODIES = kept


@given(st.lists(st.tuples(_WRITTEN, st.sampled_from(_DIALECTS)), min_size=2, max_size=8))
def test_what_is_known_is_what_would_be_read(asked: list[tuple[bytes, str]]) -> None:
    """Conversations that go on, in any order, dialect and spacing, beside others that begin alike."""
    _forget()
    for body, dialect in asked:
        assert _said(body, dialect) == _fresh(body, dialect)


@given(st.data())
def test_what_is_no_json_is_not_taken_for_it(data: st.DataObject) -> None:
    """A known body in which anything was put at the end of its messages, or cut there."""
    _forget()
    body = _written(MESSAGES[:2], REST[1], "m", "messages", data.draw(_FORMS))
    assert _said(body, "openai-chat") == _fresh(body, "openai-chat")
    end = body.index(b"]", body.index(b"assistant"))
    pieces = [b",", b", ", b"1", b"{}", b"]", b"[", b"}", b'"', b'"tools": ', b' "model": "x"', b"null", b"\\", b"\xff"]
    between = b"".join(data.draw(st.lists(st.sampled_from(pieces), max_size=5)))
    other = body[:end] + between + body[end:]
    assert _said(other, "openai-chat") == _fresh(other, "openai-chat")


def _texts(count: int, length: int = 10) -> bytes:
    return _written([{"role": "user", "content": "x" * length}] * count, {}, "m", "messages", (True, True))


def test_a_conversation_that_goes_on_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is new is parsed."""
    _forget()
    first = read_head(_asked(_texts(2)), "openai-chat")
    parsed: list[int] = []

    def parse(text: bytes, kind: type, max_depth: int) -> None:
        assert (kind, max_depth) == (msgspec.Raw, MAX_DEPTH - 1)
        parsed.append(len(text))

    monkeypatch.setattr(bodies, "decode", parse)
    monkeypatch.delattr(heads, "decode")
    assert read_head(_asked(_texts(2)), "openai-chat") is first
    further = read_head(_asked(_texts(3)), "openai-chat")
    assert parsed == [len(_texts(3)) - len(_texts(2)) + 1]
    assert bytes(further.members["messages"]).count(b"user") == 3


@pytest.mark.parametrize("deep", [126, 127])
def test_depth_is_bounded_in_what_goes_on(deep: int) -> None:
    """As in a body that is read whole: 128 levels, no more."""
    _forget()
    begun = b'{"model":"m","messages":[1]}'
    body = b'{"model":"m","messages":[1,%b]}' % (b"[" * deep + b"]" * deep)
    assert _said(begun, "openai-chat") == _fresh(begun, "openai-chat")
    assert _said(body, "openai-chat") == _fresh(body, "openai-chat")


def test_long_bodies_are_not_kept() -> None:
    """Nor what one that is kept grows to."""
    _forget()
    long = _texts(1, MAX_KEPT_BYTES)
    assert read_head(_asked(long), "openai-chat") is not read_head(_asked(long), "openai-chat")
    short, grown = _texts(1), _texts(MAX_KEPT_BYTES // 20)
    assert read_head(_asked(short), "openai-chat") is read_head(_asked(short), "openai-chat")
    assert read_head(_asked(grown), "openai-chat") is not read_head(_asked(grown), "openai-chat")


def test_memory_is_two_generations() -> None:
    """What was not asked for lately is forgotten first."""
    kept = [_texts(1, length) for length in (11, 12, 13, 14)]
    memory: KnownBodies[Head] = KnownBodies(max_generation_bytes=len(kept[-1]))
    for body in kept:
        _forget()
        memory.keep(body, "openai-chat", "messages", body.index(b"["), read_head(_asked(body), "openai-chat"))
    assert [memory.find(body, "openai-chat") is not None for body in kept] == [False, False, True, True]


def test_what_stands_before_marks_is_known_when_they_move() -> None:
    """An agent marks the last of its messages: what came before the marks is not read again."""
    _forget()
    history: list[dict[str, Any]] = []
    parsed: list[bool] = []
    for _ in range(5):
        history += [MESSAGES[4], MESSAGES[1]]
        body = _written([*history, MESSAGES[5]], REST[1], "m", "messages", (False, True))
        expected = _fresh(body, "anthropic")
        with mock.patch.object(heads, "_head", wraps=vars(heads)["_head"]) as read:
            assert _said(body, "anthropic") == expected
        parsed.append(read.called)
    assert parsed == [True, False, False, False, False]


@pytest.mark.parametrize(("more", "stays"), [("On.", True), ('"role":"developer"', False), (OUR_ID, False)])
def test_where_a_body_can_go_holds_for_what_goes_on_unless_that_says_otherwise(more: str, stays: bool) -> None:
    """Targets that take a body as it came take it with more messages, too, if none of these is marked or ours."""
    relayed: Any = (object(), ())
    head = Head("openai-chat", "m", False, False, {}, None, True, relayed=relayed)
    head.members = {"messages": msgspec.Raw(b'[{"role":"user"}]')}
    assert not head.is_ours
    assert not head.has_mark("messages", b'"developer"')
    further = head.gone_on("messages", b'[{"role":"user"},{%b}]' % more.encode(), more.encode())
    assert (further.relayed is relayed) is stays
    assert further.has_mark("messages", b'"developer"') is ("developer" in more)
    assert not head.has_mark("messages", b'"developer"')
