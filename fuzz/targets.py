"""What is fuzzed: every decoder with small samples of what it reads.

A target is one line in `TARGETS`. Its function takes any bytes and either returns or raises an `interlingua.Error`;
the samples are where mutation starts. The decoders of the dialects are in `fuzz.dialects`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import msgspec

from fuzz.dialects import dialect_targets
from fuzz.target import Target
from interlingua.dialects.table import DIALECTS
from interlingua.errors import Error
from interlingua.media.header import read_header
from interlingua.schema.partials import PartialReader
from interlingua.schema.repair import repair_output
from interlingua.schema.validate import validate
from interlingua.wire.arguments import check_arguments, parse_unique
from interlingua.wire.json import WireStruct, decode_any, decode_wire, encode, encode_wire
from interlingua.wire.ndjson import JsonArrayDecoder, NdjsonDecoder
from interlingua.wire.partial import JsonReader
from interlingua.wire.sse import SseDecoder, encode_event, sniff
from tests.support.http1_fuzz import fuzz_http1
from tests.support.http1_requests import fuzz_requests
from tests.support.tiny import PNG

__all__ = ["TARGETS", "Target"]


class LeafWire(WireStruct):
    """A struct with free JSON."""

    kind: str = ""
    free: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class OneWire(WireStruct, tag="one", tag_field="type"):
    """A tagged struct."""

    leaf: LeafWire | None = None


class TwoWire(WireStruct, tag="two", tag_field="type"):
    """Another one."""

    leaves: dict[str, LeafWire] = {}


class BodyWire(WireStruct):
    """Every kind of place in which a struct can lie."""

    model: str
    content: str | list[LeafWire] | LeafWire | None = None
    tools: list[OneWire | TwoWire] = []
    temperature: float | None = None


def _any(data: bytes) -> None:
    encode(decode_any(data, repairs=[]))


def _wire(data: bytes) -> None:
    value = decode_wire(data, BodyWire, repairs=[])
    if decode_wire(encode_wire(value), BodyWire) != value:
        raise AssertionError("a wire struct changed on the way out and back")


def _arguments(data: bytes) -> None:
    check_arguments(data)
    check_arguments(data.decode(errors="replace"), ended_early=True)


def _stream(make: Callable[[], SseDecoder | NdjsonDecoder | JsonArrayDecoder]) -> Callable[[bytes], None]:
    """Feeds a stream whole and in pieces whose sizes come from the stream itself."""

    def run(data: bytes) -> None:
        whole = make()
        expected = [*whole.feed(data), *whole.close()]
        decoder, at = make(), 0
        seen: list[object] = []
        while at < len(data):
            step = 1 + data[at] % 7
            seen += decoder.feed(data[at : at + step])
            at += step
        seen += decoder.close()
        if seen != expected or decoder.cut != whole.cut:
            raise AssertionError("the cut of the bytes changed what came out")

    return run


def _sniff(data: bytes) -> None:
    sniff(data[:20].decode(errors="replace"), data[20:])


def _image(data: bytes) -> None:
    header = read_header(data)
    if header is not None and not header.fault and header.pixels <= 0:
        raise AssertionError("an image without a fault has no pixels")


def _answer(data: bytes) -> None:
    """A typed answer: read while it comes as when it is whole, and repaired so that it fits."""
    text = data.decode(errors="replace")
    reader, partials = JsonReader(), PartialReader(_SCHEMA, lenient=True)
    for start in range(0, len(text), 3):
        reader.feed(text[start : start + 3])
        partials.feed(text[start : start + 3])
    try:
        whole = parse_unique(text)  # of two values under one key none is chosen, either way
    except Error:
        whole = None
    if isinstance(whole, dict | list) and (reader.root, reader.complete) != (whole, True):
        raise AssertionError("JSON that came in pieces is other JSON")
    value, _ = cast("tuple[object, object]", repair_output(text, cast("object", _SCHEMA)))
    if validate(_SCHEMA, value):
        raise AssertionError("what was repaired does not fit")


_SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "kind": {"enum": ["a", "b"]},
        "below": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["n"],
}
_ANSWER = (
    b'{"n":1,"kind":"a","below":[{"n":2,"kind":"b","below":[]},'
    b'{"n":-3,"x":[1.5e3,true,null,"\\ud83d\\ude00\xc3\xa9"]}]}'
)
_OBJECT = (
    b'{"model":"m","content":[{"kind":"\xc3\xa9","free":{"a":[1,-2.5e3,true,null,"\\ud83d\\ude00"]}}],"new":{"b":1}}'
)
_TOOLS = (
    b'{"model":"m","tools":[{"type":"one","leaf":{"kind":"a","x":1}},'
    b'{"type":"two","leaves":{"k":{"y":2}}}],"temperature":1}'
)
_EVENTS = b"".join(
    (b": ping\n\n", encode_event(_OBJECT, event="delta", id="1"), b"data:\n", _TOOLS, b"\r\n\r\ndata: [DONE]\n\n")
)
_CHAT_CALL = b'{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\\"x\\":1}"}}'
_CHAT_REQUEST = (
    b'{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text",'
    b'"text":"Hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},{"role":"assistant","content":null,'
    b'"tool_calls":[' + _CHAT_CALL + b']},{"role":"tool","tool_call_id":"a","content":"ERROR: no"}],"tools":[{"type":'
    b'"function","function":{"name":"f","parameters":{}}}],"tool_choice":{"type":"function","function":{"name":"f"}}}'
)
_CHAT_RESPONSE = (
    b'{"id":"c","model":"m","choices":[{"index":0,"message":{"content":"Hi","reasoning":"Hm","tool_calls":['
    + _CHAT_CALL
    + b']},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}'
)
_CHAT_STREAM = (
    b'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}\n\n: ping\n\n'
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":['
    + _CHAT_CALL
    + b']}}]}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
)

_REPLY = b"\x01HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
_CHUNKED = b"\x80HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"

_REQUESTS = (
    b"GET /v1/models?limit=2 HTTP/1.1\r\nhost: localhost\r\nx-api-key: k \t\r\n\r\n",
    b"POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}GET /%2e HTTP/1.0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nx: y\r\n\r\n",
    b"HEAD http://a/b?c HTTP/1.1\r\nhost: a\r\n\r\n\r\nOPTIONS * HTTP/1.1\r\nhost:a\r\nconnection: close\r\n\r\n",
    b"GET / HTTP/1.0\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
)

_EXIF = b"MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
_IMAGES = (
    b"\xff\xd8\xff\xe1\x00\x22Exif\x00\x00"
    + _EXIF
    + b"\xff\xc0\x00\x0b\x08\x00\x02\x00\x03\x01\x01\x11\x00\xff\xda\x00\x02\xff\xd9",
    PNG,
    b"GIF89a\x02\x00\x03\x00\x80\x00\x00"
    + bytes(6)
    + b"!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x02\x00\x03\x00\x00\x02\x01\x44\x00;",
    b"RIFF\x1e\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x38\x00\x00\x00\x01\x00\x00\x02\x00\x00EXIF\x1a\x00\x00\x00" + _EXIF,
    b"BM\x3a\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x18"
    + bytes(30),
    b"II*\x00\x08\x00\x00\x00\x02\x00\x00\x01\x03\x00\x01\x00\x00\x00\x05\x00\x00\x00\x01\x01\x03\x00\x01\x00\x00\x00\x06"
    + bytes(7),
    (
        b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic\x00\x00\x00\x30meta\x00\x00\x00\x00\x00\x00\x00\x24iprp\x00\x00\x00\x1cipco"
        b"\x00\x00\x00\x14ispe\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x08"
    ),
)
"""One image of each format, with as little in it as a header needs."""

_SAMPLES = {
    "openai-chat-request": (_CHAT_REQUEST,),
    "openai-chat-response": (_CHAT_RESPONSE, b'{"error":{"message":"m","code":429}}'),
    "openai-chat-stream": (_CHAT_STREAM,),
}
"""Bodies as other servers and clients write them."""
_DIALECTS = {name: target for dialect in DIALECTS for name, target in dialect_targets(dialect).items()}


def _with(target: Target, samples: tuple[bytes, ...]) -> Target:
    return target._replace(samples=(*samples, *target.samples))


TARGETS: dict[str, Target] = {
    "json": Target(_any, (_OBJECT, _TOOLS, b"[" * 130 + b"]" * 130, b"1e999", b'"\\ud800"', b"\xef\xbb\xbf{}")),
    "wire": Target(_wire, (_OBJECT, _TOOLS)),
    "arguments": Target(_arguments, (b'{"city":"Oslo","days":[1,2],"deep":{"a":1e5,"b":"x:y"}}', b'{"a":1,"a":NaN}')),
    "answer": Target(
        _answer, (_ANSWER, _ANSWER.replace(b'"', b"'"), b"```json\n" + _ANSWER + b"\n```", b'"{\\"n\\":\\"1\\"}"')
    ),
    "sse": Target(_stream(SseDecoder), (_EVENTS, encode_event(b"a\nb"))),
    "ndjson": Target(_stream(NdjsonDecoder), (_OBJECT + b"\n" + _TOOLS + b"\r\n",)),
    "json-array": Target(_stream(JsonArrayDecoder), (b"[" + _OBJECT + b"\n,\r\n" + _TOOLS + b"]",)),
    **{name: _with(target, _SAMPLES.get(name, ())) for name, target in _DIALECTS.items()},
    "http1": Target(fuzz_http1, (_REPLY, _CHUNKED)),
    "requests": Target(fuzz_requests, _REQUESTS),
    "image": Target(_image, _IMAGES),
    "sniff": Target(_sniff, (b"text/event-stream   data: 1", b"application/json    " + _OBJECT)),
}
"""Every target by its name."""
