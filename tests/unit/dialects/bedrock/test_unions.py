"""Unions of Converse: an object that is one of several things is one of them, and nothing of it is lost in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, Target
from interlingua.dialects.bedrock.client_stream import ConverseStreamDecoder
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError
from interlingua.types.content import ImagePart, OpaquePart, Part
from interlingua.types.event import StreamEnd, StreamError
from interlingua.wire.eventstream import encode_event_frame
from interlingua.wire.http import HttpReply, HttpRequest

HI: dict[str, Any] = {"text": "Hi"}
PNG: dict[str, Any] = {"format": "png", "source": {"bytes": "aGk="}}
MARK = {"type": "default"}
CALL: dict[str, Any] = {"toolUseId": "t", "name": "f", "input": {}}
SPEC = {"name": "f", "inputSchema": {"json": {"type": "object"}}}


def _read(body: dict[str, Any]) -> dict[str, Any]:
    """A body of a client as it goes out to the service."""
    dialect = get_dialect("bedrock")
    http = HttpRequest(url="/model/m/converse", body=json.dumps(body).encode())
    decoded = dialect.decode_request(http, DecodeOptions())
    encoded = dialect.encode_request(decoded.request, EncodeOptions(target=Target(model="m")))
    return json.loads(encoded.body)


def _user(*blocks: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(blocks)}], **members}


def _turns(said: dict[str, Any], *answers: dict[str, Any]) -> dict[str, Any]:
    turns = [("user", [HI]), ("assistant", [said]), ("user", list(answers) or [HI])]
    return {"messages": [{"role": role, "content": content} for role, content in turns]}


def _result(*blocks: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": "t", "content": list(blocks), **members}}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (_user({**HI, "image": PNG}), "/messages/0/content/0/image"),
        (_user(HI, {**HI, "cachePoint": MARK}), "/messages/0/content/1/cachePoint"),
        (_user(HI, system=[{**HI, "cachePoint": MARK}]), "/system/0/cachePoint"),
        (_user(HI, system=[HI, {"image": PNG}]), "/system/1"),
        (_user({"image": {**PNG, "source": {"bytes": "aGk=", "s3Location": {"uri": "s3://a/b"}}}}),
         "/messages/0/content/0/image/source/s3Location"),
        (_turns({**HI, "toolUse": CALL}), "/messages/1/content/0/toolUse"),
        (_turns({"reasoningContent": {"reasoningText": {"text": "a"}, "redactedContent": "aGk="}}),
         "/messages/1/content/0/reasoningContent/redactedContent"),
        (_turns({"toolUse": CALL}, {**_result(HI), **HI}), "/messages/2/content/0/toolResult"),
        (_turns({"toolUse": CALL}, _result({**HI, "json": {"a": 1}})),
         "/messages/2/content/0/toolResult/content/0/json"),
        (_user(HI, toolConfig={"tools": [{"toolSpec": SPEC, "cachePoint": MARK}]}), "/toolConfig/tools/0/cachePoint"),
        (_user(HI, toolConfig={"tools": [{"toolSpec": SPEC}], "toolChoice": {"any": {}, "auto": {}}}),
         "/toolConfig/toolChoice"),
    ],
)  # fmt: skip
def test_a_second_member_of_a_union_is_refused_at_its_place(body: dict[str, Any], path: str) -> None:
    """One of the two would be lost; the service and the official SDK take none of them, either."""
    with pytest.raises(DecodeError) as caught:
        _read(body)
    assert caught.value.path == path


def test_a_bad_block_behind_a_result_is_named_where_it_stands() -> None:
    """Results are told first, and the place is that of the client's list all the same."""
    bad = {"image": {"format": "png", "source": {"bytes": "!!"}}}
    with pytest.raises(DecodeError) as caught:
        _read(_turns({"toolUse": CALL}, _result(HI), HI, bad))
    assert caught.value.path == "/messages/2/content/2/image/source/bytes"


def test_an_answer_with_a_second_member_is_no_answer() -> None:
    """The official SDK refuses it too: nobody can tell what was to be said."""
    body = {"output": {"message": {"role": "assistant", "content": [{**HI, "toolUse": CALL}]}}, "stopReason": "x"}
    with pytest.raises(DecodeError, match="there are text and toolUse"):
        get_dialect("bedrock").decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext())


def test_what_a_client_says_beside_goes_back() -> None:
    """Members without a field of reasoning, a result's status, citations and an output format are not lost."""
    thought = {"reasoningContent": {"reasoningText": {"text": "a", "signature": "s", "new": 1}, "newer": 2}}
    assert _read(_turns(thought))["messages"][1]["content"] == [thought]
    result = _result(HI, status="partial")
    assert _read(_turns({"toolUse": CALL}, result))["messages"][2]["content"] == [result]
    cited = {"citationsContent": {"content": [HI], "citations": [1]}}
    assert _read(_user(cited))["messages"][0]["content"] == [cited]
    schema = json.dumps({"type": "object", "properties": {}, "additionalProperties": False})
    format_ = {"type": "new", "structure": {"jsonSchema": {"schema": schema, "name": "n", "a": 1}, "b": 2}, "c": 3}
    assert _read(_user(HI, outputConfig={"textFormat": format_}))["outputConfig"]["textFormat"].keys() == {
        "type", "structure", "c",
    }  # fmt: skip


# Streams


def _frame(name: str, **payload: Any) -> bytes:
    headers = {":message-type": "event", ":event-type": name, ":content-type": "application/json"}
    return encode_event_frame(headers, json.dumps(payload).encode())


def _end(*blocks: bytes) -> StreamEnd | StreamError:
    """The last event of an answer with these frames about its blocks."""
    decoder = ConverseStreamDecoder(DecodeContext())
    frames = (_frame("messageStart", role="assistant"), *blocks, _frame("messageStop", stopReason="end_turn"))
    last = [*decoder.feed(b"".join(frames)), *decoder.close()][-1]
    assert isinstance(last, StreamEnd | StreamError)
    return last


def _start(**start: Any) -> bytes:
    return _frame("contentBlockStart", contentBlockIndex=0, start=start)


def _delta(**delta: Any) -> bytes:
    return _frame("contentBlockDelta", contentBlockIndex=0, delta=delta)


@pytest.mark.parametrize(
    "frames",
    [
        (_delta(text="a", reasoningContent={"text": "b"}),),
        (_start(toolUse={"toolUseId": "t", "name": "f"}, image={"format": "png"}),),
        (_start(toolUse={"toolUseId": "t", "name": "f"}), _delta(toolUse={"input": {"a": 1}})),
        (_start(toolResult={"toolUseId": "t", "content": 5}), _delta(toolResult=[HI])),
    ],
)
def test_what_a_stream_cannot_mean_ends_it(frames: tuple[bytes, ...]) -> None:
    """An event that says two things, arguments that are no text, a result that is no list: an error, no loss."""
    assert isinstance(_end(*frames), StreamError)


@pytest.mark.parametrize(
    ("frames", "part"),
    [
        ((_start(),), None),
        ((_start(new={"a": 1}),), OpaquePart("bedrock", "new", {"new": {"a": 1}})),
        ((_start(image={"format": "png"}), *[_delta(image={"source": {"bytes": "aGk="}})] * 2),
         ImagePart(b"hihi", "image/png")),
        ((_start(image={"format": "png", "bytes": "x"}), _delta(image={"source": {"bytes": "aGk="}})),
         ImagePart(b"hi", "image/png", extra={"bedrock": {"bytes": "x"}})),
        ((_start(image={"format": "png"}), _delta(image={"error": {"message": "no"}})),
         OpaquePart("bedrock", "media_ref", {"image": {"format": "png", "error": {"message": "no"}}})),
        ((_start(image={"format": "png"}), _delta(image={"source": {"s3Location": {"uri": "s3://a/b"}}})),
         OpaquePart("bedrock", "media_ref",
                    {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://a/b"}}}})),
    ],
)  # fmt: skip
def test_a_block_that_is_unknown_or_elsewhere_comes_as_it_is(frames: tuple[bytes, ...], part: Part | None) -> None:
    """No picture of no bytes, no step of a tool that nobody ran, and none for a start that says nothing."""
    end = _end(*frames)
    assert isinstance(end, StreamEnd)
    assert end.response.parts == (() if part is None else (part,))
