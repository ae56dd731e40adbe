"""Members that somebody gives for a dialect: what is no object there is told, and nothing else is raised."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import UsageError
from interlingua.stream.unfold import unfold
from interlingua.types.content import OpaquePart, Part, RefusalPart, Sealed, TextPart, ThinkingPart
from interlingua.types.event import Extra, StreamStart
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.usage import Usage
from tests.support.cells import cells


def answered(name: str, **members: Any) -> Response[Any]:
    """An answer with such members of a dialect."""
    return Response(parts=(TextPart("Hi"),), finish_reason="stop", finish_reason_raw="stop", extra={name: members})


@cells("value", [True, 7, "x", [1]])
@cells(
    ("name", "member"),
    [
        *(("openai-chat", member) for member in ("top", "choice", "message")),
        *(("google", member) for member in ("top", "candidate", "content")),
    ],
)
def test_members_of_an_answer_that_are_no_object(name: str, member: str, value: object) -> None:
    """Whole and streamed alike; nothing at all is an object without members."""
    dialect = get_dialect(name)
    with pytest.raises(UsageError, match="is written as an object"):
        dialect.encode_response(answered(name, **{member: value}), ServerContext())
    encoder = dialect.stream_encoder(ServerContext())
    with pytest.raises(UsageError, match="is written as an object"):
        [encoder.encode(event) for event in unfold(answered(name, **{member: value}))]
    whole = dialect.encode_response(answered(name, **{member: None}), ServerContext())
    assert whole.body == dialect.encode_response(answered(name), ServerContext()).body


def test_counts_and_lists_that_are_none_are_left_to_who_gets_them() -> None:
    """A count of tools that is no number takes nothing off, and an `include` that is no list goes out as it is."""
    counted = Usage(input_tokens=3, output_tokens=2, extra={"google": {"toolUsePromptTokenCount": {"a": 1}}})
    response = Response(parts=(TextPart("Hi"),), finish_reason="stop", finish_reason_raw="stop", usage=counted)
    assert b'"promptTokenCount":3' in get_dialect("google").encode_response(response, ServerContext()).body
    request = Request(messages=(user("Hi"),), extra={"openai-responses": {"include": 1.5}})
    written = get_dialect("openai-responses").encode_request(request, EncodeOptions(target=Target(model="m")))
    assert b'"include":1.5' in written.body


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("openai-chat", {"choice": {"message": 5}}),
        ("ollama", {"message": ["x"]}),
        ("cohere", {"message": ["x"]}),
        ("google", {"promptFeedback": "x"}),
    ],
)
def test_a_value_in_the_place_of_an_object_that_we_write(name: str, members: dict[str, Any]) -> None:
    """Told by its name, whole and streamed."""
    dialect = get_dialect(name)
    with pytest.raises(UsageError, match=r"an opaque (message|promptFeedback) is written as an object"):
        dialect.encode_response(answered(name, **members), ServerContext())


def test_members_of_the_message_in_a_choice() -> None:
    """They are the message's, and null says nothing."""
    dialect = get_dialect("openai-chat")
    said = dialect.encode_response(answered("openai-chat", choice={"message": {"x": 1}}), ServerContext()).body
    assert b'"annotations":[],"x":1},"finish_reason":"stop"' in said
    silent = dialect.encode_response(answered("openai-chat", choice={"message": None}), ServerContext()).body
    assert silent == dialect.encode_response(answered("openai-chat"), ServerContext()).body


def test_a_list_of_somebody_else_is_not_written_into() -> None:
    """What a message's members say instead of its blocks stays as long as it was, and a list it must be."""
    given: list[Any] = [{"type": "text", "text": "Told."}]
    first = Message("user", (TextPart("Hi"),), extra={"anthropic": {"content": given}})
    options = EncodeOptions(target=Target(model="m"))
    body = get_dialect("anthropic").encode_request(Request(messages=(first, user("Go on."))), options).body
    assert given == [{"type": "text", "text": "Told."}]
    assert b'[{"type":"text","text":"Told."},{"type":"text","text":"Go on."}]' in body
    wrong = Message("user", (TextPart("Hi"),), extra={"anthropic": {"content": {"a": 1}}})
    with pytest.raises(UsageError, match="an opaque content is written as a list, and this one is dict"):
        get_dialect("anthropic").encode_request(Request(messages=(wrong,)), options)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("anthropic", TextPart("Hi", extra={"anthropic": {"cache_control": 5}})),
        ("openai-chat", ThinkingPart("Hm", Sealed("openai-chat", {"reasoning_details": 5}))),
        ("openai-chat", OpaquePart("openai-chat", "media_ref", {"audio": {"id": "audio_1"}})),
        ("openai-chat", ThinkingPart("Hm", extra={"openai-chat": {"field": {}}})),
        ("openai-responses", TextPart("Hi", sealed=Sealed("openai-responses", {"content": []}))),
    ],
)
def test_members_of_a_part_that_only_pass_through(name: str, part: Part) -> None:
    """Whole and streamed, whatever they are."""
    response = Response(parts=(part,), finish_reason="stop", finish_reason_raw="stop")
    encoder = get_dialect(name).stream_encoder(ServerContext(source=name))
    assert get_dialect(name).encode_response(response, ServerContext()).status == 200
    assert b"".join([encoder.encode(event) for event in unfold(response)])


@pytest.mark.parametrize(
    "part",
    [
        RefusalPart("No.", {"openai-responses": {"item": ["x"]}}),
        OpaquePart("openai-responses", "content_part", {"part": 5}),
    ],
)
def test_items_that_are_no_objects(part: Part) -> None:
    """Refused by their name, whole and streamed."""
    dialect = get_dialect("openai-responses")
    response = Response(parts=(part,), finish_reason="stop", finish_reason_raw="completed")
    with pytest.raises(UsageError, match=r"an opaque (item|part) is written as an object"):
        dialect.encode_response(response, ServerContext())
    encoder = dialect.stream_encoder(ServerContext())
    with pytest.raises(UsageError, match=r"an opaque (item|part) is written as an object"):
        [encoder.encode(event) for event in unfold(response)]


def test_an_event_with_members_named_like_our_own_parameters() -> None:
    """Every name is one that a provider may use."""
    encoder = get_dialect("openai-responses").stream_encoder(ServerContext(source="openai-responses"))
    encoder.encode(StreamStart(model="m"))
    event = Extra("openai-responses", {"type": "response.later", "kind": "x", "self": "y"})
    assert b'{"type":"response.later","kind":"x","self":"y","sequence_number":' in encoder.encode(event)


def test_a_first_turn_whose_parts_are_given() -> None:
    """Parts in the wire's own words are looked at by nobody."""
    first = Message("assistant", (TextPart("Hi"),), extra={"google": {"parts": [{"text": "Hello"}]}})
    options = EncodeOptions(target=Target(model="m"))
    body = get_dialect("google").encode_request(Request(messages=(first, user("Go on."))), options).body
    assert b'{"contents":[{"parts":[{"text":"Hello"}],"role":"model"},' in body
