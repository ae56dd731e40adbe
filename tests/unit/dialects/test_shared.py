"""What all dialects share: members without a field, seals, statuses, the table of dialects."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, Facts, ServerContext, Target
from interlingua.dialects._errors.classes import class_of_status, request_id
from interlingua.dialects._members import foreign_extras, members_of, merge_members, plain
from interlingua.dialects._seals import seal_fits
from interlingua.dialects.openai_chat.wire import FunctionWire, MessageWire, RequestWire, ToolWire
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import BadRequestError, DecodeError, Error, InternalServerError, OverloadedError, UsageError
from interlingua.types.content import ImagePart, OpaquePart, Part, Sealed, TextPart, ToolCall
from interlingua.types.event import (
    BlockEnd,
    BlockStart,
    StreamEnd,
    StreamStart,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
)
from interlingua.types.response import Response
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import Extra, encode

PIXEL = "data:image/png;base64,iVBORw0KGgo="


def test_members_go_out_of_a_wire_object_and_back() -> None:
    """Unknown ones alone; known ones are written over deeply."""
    wire = ToolWire(type="function", function=FunctionWire(name="f", parameters={"a": {"b": 1}}), extra=Extra(x=1))
    assert members_of(wire, "d") == {"d": {"x": 1}}
    assert members_of(ToolWire(), "d") == {}
    merge_members(wire, {"x": 2, "y": 3, "function": {"name": "g", "parameters": {"a": {"c": 2}, "d": 4}, "z": 5}})
    assert plain(wire) == {
        "type": "function",
        "function": {"name": "g", "parameters": {"a": {"b": 1, "c": 2}, "d": 4}, "z": 5},
        "x": 2,
        "y": 3,
    }


def test_a_member_replaces_what_is_no_object() -> None:
    """A text, a list, nothing."""
    wire = RequestWire(model="m", messages=[MessageWire(role="user")])
    merge_members(wire, {"reasoning": {"effort": "low"}, "model": "n"})
    assert plain(wire) == {"model": "n", "messages": [{"role": "user"}], "reasoning": {"effort": "low"}}


def test_foreign_extras_are_those_of_other_dialects() -> None:
    """In their order; an empty one says nothing."""
    assert foreign_extras({"b": {"x": 1}, "a": {"x": 1}, "c": {"x": 1}, "d": {}}, "a") == ["b", "c"]


SEAL = Sealed("openai-chat", {}, "p", "m")


@pytest.mark.parametrize(
    ("sealed", "target", "fits"),
    [
        (SEAL, Target(model="m", provider="p"), True),
        (SEAL, Target(), True),
        (SEAL, Target(provider="p"), True),
        (Sealed("openai-chat", {}), Target(model="m", provider="p"), True),
        (SEAL, Target(model="m", provider="q"), False),
        (SEAL, Target(model="n", provider="p"), False),
        (SEAL, Target(model="n", provider="p", facts=Facts(seals_carry_over=True)), True),
        (SEAL, Target(model="n", provider="p", facts=Facts(seals_carry_over=False)), False),
        (Sealed("anthropic", {}), Target(model="m", provider="p"), False),
    ],
)
def test_r22_a_seal_goes_back_to_its_issuer_alone(sealed: Sealed, target: Target, fits: bool) -> None:
    """Dialect and provider match; the model is the same, unknown, or seals carry over."""
    assert seal_fits(sealed, "openai-chat", target) is fits


@pytest.mark.parametrize(
    ("status", "kind"),
    [(451, BadRequestError), (529, OverloadedError), (520, InternalServerError), (302, InternalServerError)],
)
def test_a_status_without_a_row_is_somebodys_fault(status: int, kind: type[Error]) -> None:
    """The request's below 500, the server's elsewhere."""
    assert class_of_status(status) is kind


def test_the_id_of_a_request_has_several_names() -> None:
    """The first known one that is not empty."""
    assert request_id((("cf-ray", "c"), ("x-request-id", ""), ("request-id", "b"))) == "b"
    assert request_id(()) is None


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("choice", [0, 1])
def test_text_that_is_no_text_is_told_in_no_stream(name: str, choice: int) -> None:
    """A lone surrogate is refused, in the first piece of a block and in any other one."""
    for before in ([], [TextDelta(0, "Hi", choice)], [TextDelta(0, "Hi", choice), TextDelta(0, "Ho", choice)]):
        encoder = get_dialect(name).stream_encoder(ServerContext())
        events = [StreamStart("m"), BlockStart(0, "text", choice=choice), *before]
        for event in events:
            encoder.encode(event)
        if choice and name not in ("openai-chat", "google", "unified"):
            continue  # the dialect has one choice
        with pytest.raises(UsageError, match="surrogate"):
            encoder.encode(TextDelta(0, "a\ud800b", choice))


@pytest.mark.parametrize("name", DIALECTS)
def test_a_call_without_arguments_needs_no_delta(name: str) -> None:
    """A server that says nothing of them has said an empty object, and every client gets one."""
    call = ToolCall("call_1", "look", "{}")
    encoder = get_dialect(name).stream_encoder(ServerContext())
    ends = [BlockEnd(0, call), ToolCallReady(0, call), StreamEnd(Response(parts=(call,), finish_reason="tool_calls"))]
    events = [StreamStart("m"), BlockStart(0, "tool_call", "call_1", "look"), *ends]
    decoder = get_dialect(name).stream_decoder(DecodeContext())
    told = [*decoder.feed(b"".join(map(encoder.encode, events))), *decoder.close()]
    assert [event.call.arguments_json for event in told if isinstance(event, ToolCallReady)] == ["{}"]
    assert [event.arguments for event in told if isinstance(event, ToolCallDelta)] == ["{}"]


CONTENT_TYPES = {"ollama": "application/json; charset=utf-8"}


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("part", [TextPart("Hi."), OpaquePart("x", "new", {})], ids=["usual", "unusual"])
def test_an_answer_says_what_it_is(name: str, part: Part) -> None:
    """JSON, in the words that the vendor's own servers have for it, by either road."""
    reply = get_dialect(name).encode_response(Response(parts=(part,), model="m", id="r"), ServerContext())
    kind = CONTENT_TYPES.get(name, "application/json")
    assert [value for header, value in reply.headers if header == "content-type"] == [kind]


def test_the_table_knows_the_dialect_by_its_name() -> None:
    """And by no other."""
    assert get_dialect("openai-chat").name == "openai-chat"


def _asked(*parts: object) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(parts)}]}


def _grammar(**members: object) -> dict[str, Any]:
    return {"input": "x", "tools": [{"type": "custom", "name": "f", "format": {"type": "grammar", **members}}]}


IMAGE = {"type": "image_url", "image_url": {"url": PIXEL, "detail": 5}}
FILE: dict[str, Any] = {"type": "file", "file": {"file_data": PIXEL, "filename": []}}
DOCUMENT = {"type": "document_url", "document_url": PIXEL, "document_name": 5}
BLOCK = {"type": "document", "source": {"type": "base64", "data": "", "media_type": 5}}
CITED: dict[str, Any] = {"type": "text", "text": "x", "citations": [{}, 5]}


@pytest.mark.parametrize(
    ("name", "body", "path"),
    [
        ("openai-chat", _asked(IMAGE), "/messages/0/content/0/image_url/detail"),
        ("openai-chat", _asked(FILE), "/messages/0/content/0/file/filename"),
        ("openai-chat", _asked(DOCUMENT), "/messages/0/content/0/document_name"),
        ("anthropic", _asked(BLOCK), "/messages/0/content/0/source/media_type"),
        ("anthropic", _asked(CITED), "/messages/0/content/0/citations/1"),
        ("openai-responses", _grammar(syntax=5), "/tools/0/format/syntax"),
        ("openai-responses", _grammar(definition={}), "/tools/0/format/definition"),
    ],
)
def test_a_member_of_another_kind_is_an_error_with_its_place(name: str, body: dict[str, Any], path: str) -> None:
    """What a canonical text or object is made of."""
    asked = HttpRequest(url="http://host/", body=encode({"model": "m", **body}))
    with pytest.raises(DecodeError) as caught:
        get_dialect(name).decode_request(asked, DecodeOptions())
    assert caught.value.path == path


def test_schemas_in_the_form_of_openapi_with_odd_members() -> None:
    """What is no list there is left to whoever checks the schema."""
    schema = {"type": "STRING", "nullable": True, "enum": 5}
    function = {
        "name": "f",
        "parameters": {"type": "OBJECT", "properties": {"a": schema, "b": {"nullable": True, "anyOf": 5}}},
    }
    body = encode({"contents": [{"parts": [{"text": "Hi"}]}], "tools": [{"functionDeclarations": [function]}]})
    asked = HttpRequest(url="http://host/models/m:generateContent", body=body)
    decoded = get_dialect("google").decode_request(asked, DecodeOptions())
    (tool,) = decoded.request.tools
    assert isinstance(tool, Tool)
    assert tool.parameters["properties"] == {"a": {"type": ["string", "null"], "enum": 5}, "b": {"anyOf": 5}}


def test_a_resolution_that_is_no_word_passes_through() -> None:
    """Beside the image, as it came."""
    part = {"inlineData": {"mimeType": "image/png", "data": ""}, "mediaResolution": {"level": ["x"]}}
    body = encode({"contents": [{"role": "user", "parts": [part]}]})
    asked = HttpRequest(url="http://host/models/m:generateContent", body=body)
    decoded = get_dialect("google").decode_request(asked, DecodeOptions())
    (image,) = decoded.request.messages[0].parts
    assert image == ImagePart(b"", "image/png", extra={"google": {"mediaResolution": {"level": ["x"]}}})
