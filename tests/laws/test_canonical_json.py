"""The laws of canonical JSON: what is dumped is loaded again, and nothing else is."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import DecodeError, LimitExceededError, UsageError
from interlingua.stream.fold import fold
from interlingua.types.dump import dump, load
from interlingua.types.event import Event, StreamEnd
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.response import RawReply, Response
from interlingua.types.tool import Tool
from interlingua.wire.json import decode_any, encode
from tests.support import strategies as some


@given(some.conversations)
def test_messages_survive(messages: tuple[Message, ...]) -> None:
    """Messages come back as they were, as a tuple."""
    assert load(dump(messages)) == messages


@given(some.requests)
def test_requests_survive(request: Request) -> None:
    """A request comes back as it was, every knob of it."""
    assert load(dump(request)) == request


@given(some.responses)
def test_responses_survive(response: Response[Any]) -> None:
    """A response comes back as it was, with changes, attempts and the request it answered."""
    loaded = load(dump(response))
    assert loaded == response
    assert (loaded.changes, loaded.attempts, loaded.request) == (response.changes, response.attempts, response.request)
    assert loaded.messages == response.messages


@given(some.event_lists)
def test_events_survive(events: list[Event]) -> None:
    """Events come back as they were, in order, lawful or not."""
    assert load(dump(events)) == tuple(events)


@given(some.streams)
def test_a_loaded_stream_folds_to_the_same_response(events: list[Event]) -> None:
    """A stored stream is still its response."""
    last = events[-1]
    assert isinstance(last, StreamEnd)
    assert fold(load(dump(events))) == last.response


@given(some.requests | some.responses)
def test_dumping_is_stable(value: Any) -> None:
    """Dumping what was loaded gives the same text, byte by byte."""
    text = dump(value)
    assert dump(load(text)) == text


SAID_EVEN_WHEN_EMPTY = {"output_schema", "metadata", "logit_bias"}
"""Members of a request whose default is None: an empty object says something else."""


@given(some.requests)
def test_none_and_empty_members_are_left_out(request: Request) -> None:
    """A member that says nothing is not written."""
    written = decode_any(dump(request))
    silent = {name for name, value in written.items() if value in (None, [], {}, "", False) and value != 0}
    assert silent - SAID_EVEN_WHEN_EMPTY - {"schema_strict", "parallel_tool_calls", "store"} == set()


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_text_loads_or_is_our_error(text: bytes | str) -> None:
    """Whatever is loaded, nothing but an error of ours comes out."""
    with suppress(DecodeError, LimitExceededError):
        load(text)


@given(some.requests, some.texts, some.json_values)
def test_unknown_members_are_ignored(request: Request, name: str, value: Any) -> None:
    """A later minor version's member does not stop a reader."""
    document = decode_any(dump(request))
    document.setdefault(f"later {name}", value)
    assert load(encode(document)) == request


def test_the_document_is_exactly_this() -> None:
    """The text of a small conversation, byte by byte."""
    assert dump([user("Hé")]) == (
        '{"interlingua":1,"kind":"messages","messages":[{"role":"user","parts":[{"type":"text","text":"Hé"}]}]}'
    )
    assert dump(Request()) == '{"interlingua":1,"kind":"request"}'
    assert dump([]) == '{"interlingua":1,"kind":"messages","messages":[]}'


def test_handlers_raw_and_output_stay_behind() -> None:
    """What is code, or not ours, is not written; a loaded tool has no handler."""
    tool = Tool(name="f", handler=print)
    response = Response[Any](raw_reply=RawReply.of({"id": 1}), output=object(), request=Request(tools=(tool,)))
    loaded = load(dump(response))
    assert loaded.raw is None
    assert loaded.output is None
    assert loaded.request.tools == (msgspec.structs.replace(tool, handler=None),)
    assert load(dump([StreamEnd(response)])) == (StreamEnd(loaded),)


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        ('{"interlingua":2,"kind":"messages"}', "version 2", "/interlingua"),
        ('{"interlingua":1,"kind":"riddle"}', "kind 'riddle'", "/kind"),
        ('{"kind":"messages"}', "interlingua", ""),
        ('{"interlingua":1,"kind":"messages","messages":[{"role":"me"}]}', "'me'", "/messages/0/role"),
        ("[]", "no canonical JSON, as il.dump writes it: expected `object`", ""),
        ("", "no canonical JSON, as il.dump writes it: the text is not JSON", ""),
    ],
)
def test_what_cannot_be_loaded_says_where(text: str, message: str, path: str) -> None:
    """The error names what is wrong and points at it."""
    with pytest.raises(DecodeError, match=message) as caught:
        load(text)
    assert caught.value.path == path


@pytest.mark.parametrize("given", [{"messages": []}, None, 7])
def test_what_is_no_text_cannot_be_loaded(given: Any) -> None:
    """A parsed document is not the text of one."""
    with pytest.raises(UsageError, match=r"il\.load takes the text that il\.dump wrote, not "):
        load(given)


@pytest.mark.parametrize("value", [user("x"), "text", 7, [user("x"), 7]])
def test_what_has_no_canonical_json_is_refused(value: Any) -> None:
    """Anything else is a usage error that says what is taken."""
    with pytest.raises(UsageError, match=r"il\.dump takes messages, a Request, a Response, a run or events"):
        dump(value)


def test_what_json_cannot_say_is_refused() -> None:
    """A number that is not finite is an error with its place, not a null."""
    with pytest.raises(UsageError, match="/temperature"):
        dump(Request(temperature=float("nan")))
