"""Bodies that are expensive for their size, in each dialect: one feature of a good request, repeated up to a size.

A shape is a function of a dialect's request, a size and a random source. Twice the size is the same body with twice as
many repetitions, so that the costs of the two can be held against each other.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from fuzz.dialects import REQUEST
from interlingua.dialects._contract import EncodeOptions, Target
from interlingua.dialects.table import DIALECTS, get_dialect

__all__ = ["FRAMINGS", "REQUESTS", "SHAPES", "Shape"]

Body: TypeAlias = dict[str, Any]
Shape: TypeAlias = Callable[[str, int, Random], bytes]
"""Makes a body of a dialect with about so many bytes."""

REQUESTS: dict[str, bytes] = {
    name: get_dialect(name).encode_request(REQUEST, EncodeOptions(target=Target(model="m"))).body for name in DIALECTS
}
"""A good request of each dialect."""
HISTORIES = {"openai-responses": "input", "google": "contents"}
"""The member that holds the conversation, where it is not `messages`."""
_DEEPEST = 100


def _request(name: str) -> Body:
    body = json.loads(REQUESTS[name])
    body.setdefault("model", "m")
    return body


def _with(body: Body, member: str, text: bytes) -> bytes:
    """The body with one more member, or another value of one, as text."""
    body[member] = "\0"
    return json.dumps(body).encode().replace(b'"\\u0000"', text)


def _elements(element: bytes, size: int) -> bytes:
    return b",".join([element] * (size // (len(element) + 1) + 1))


def _turn(name: str, text: str) -> Any:
    match name:
        case "google":
            return {"role": "user", "parts": [{"text": text}]}
        case "openai-responses":
            return {"type": "message", "role": "user", "content": text}
        case "bedrock":
            return {"role": "user", "content": [{"text": text}]}
        case _:
            return {"role": "user", "content": text}


def _history(name: str, turns: bytes) -> bytes:
    return _with(_request(name), HISTORIES.get(name, "messages"), b"[%b]" % turns)


def _text(unit: bytes) -> Shape:
    def make(name: str, size: int, random: Random) -> bytes:
        del random
        turn = json.dumps(_turn(name, "\0")).encode()
        return _history(name, turn.replace(b"\\u0000", unit * (size // len(unit))))

    return make


def _messages(name: str, size: int, random: Random) -> bytes:
    turn = json.dumps(_turn(name, "a" * random.randrange(8))).encode()
    return _history(name, _elements(turn, size))


_RESULTS: dict[str, Body] = {
    "openai-chat": {"role": "tool", "tool_call_id": "c", "content": "x"},
    "openai-responses": {"type": "function_call_output", "call_id": "c", "output": "x"},
    "anthropic": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
    "google": {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]},
    "ollama": {"role": "tool", "tool_name": "f", "content": "x"},
    "cohere": {"role": "tool", "tool_call_id": "c", "content": "x"},
    "bedrock": {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "x"}]}}]},
    "unified": {"role": "tool", "parts": [{"type": "tool_result", "id": "c", "name": "f", "content": "x"}]},
}


def _results(name: str, size: int, random: Random) -> bytes:
    del random
    return _history(name, _elements(json.dumps(_RESULTS[name]).encode(), size))


def _parts(name: str, size: int, random: Random) -> bytes:
    del random
    turn = _turn(name, "a")
    kind = {"openai-responses": "input_text"}.get(name, "text")
    part = {"text": "a"} if name in ("google", "bedrock") else {"type": kind, "text": "a"}
    turn["parts" if name == "google" else "content"] = "\0"
    parts = b"[%b]" % _elements(json.dumps(part).encode(), size)
    return _history(name, json.dumps(turn).encode().replace(b'"\\u0000"', parts))


def _members(where: str) -> Shape:
    """Many members: at the top, in a message, or among data; their names are short."""

    def make(name: str, size: int, random: Random) -> bytes:
        letter = random.choice("kK_")
        members = b",".join([b'"%b%d":1' % (letter.encode(), number) for number in range(size // 10)])
        match where:
            case "top":
                return REQUESTS[name].rstrip()[:-1] + b"," + members + b"}"
            case "message":
                turn = json.dumps(_turn(name, "a")).encode()
                return _history(name, turn[:-1] + b"," + members + b"}")
            case _:
                return _with(_request(name), "metadata", b"{%b}" % members)

    return make


def _names(name: str, size: int, random: Random) -> bytes:
    """A huge name, or some."""
    count = random.choice((1, 1, 3, 10))
    members = b",".join([b'"%b%d":1' % (b"k" * (size // count), number) for number in range(count)])
    return REQUESTS[name].rstrip()[:-1] + b"," + members + b"}"


def _repeated(name: str, size: int, random: Random) -> bytes:
    """The same names again and again."""
    member = random.choice((b'"model":"m"', b'"a":1', b'"\\u0061":1'))
    return REQUESTS[name].rstrip()[:-1] + b"," + _elements(member, size) + b"}"


def _values(value: bytes) -> Shape:
    """Many values side by side, in a member that nobody knows, among data, or in place of the conversation."""

    def make(name: str, size: int, random: Random) -> bytes:
        member = random.choice(("surprise", "metadata", "tools", HISTORIES.get(name, "messages")))
        return _with(_request(name), member, b"[%b]" % _elements(value, size))

    return make


def _tools(name: str, size: int, random: Random) -> bytes:
    del random
    body = _request(name)
    if name == "bedrock":
        tools = _elements(json.dumps(body["toolConfig"]["tools"][0]).encode(), size)
        return _with(body, "toolConfig", b'{"tools":[%b]}' % tools)
    return _with(body, "tools", b"[%b]" % _elements(json.dumps(body["tools"][0]).encode(), size))


def _schema(name: str, size: int, random: Random) -> bytes:
    """One tool with many parameters."""
    del random
    properties = b",".join([b'"p%d":{"type":"string","description":"a"}' % number for number in range(size // 44)])
    return REQUESTS[name].replace(b'"x":{', b'%b,"x":{' % properties, 1)


SHAPES: dict[str, Shape] = {
    "long text": _text(b"a"),
    "escapes": _text(b"\\n"),
    "escaped letters": _text(b"\\u00e9"),
    "halves of surrogates": _text(b"\\ud800"),
    "surrogates": _text(b"\\ud83d\\ude00"),
    "letters beyond ASCII": _text("\u00e9".encode()),
    "quotes": _text(b'\\"'),
    "colons": _text(b":"),
    "backslashes": _text(b"\\\\"),
    "many messages": _messages,
    "many results": _results,
    "many parts": _parts,
    "many members": _members("top"),
    "members of a message": _members("message"),
    "members of data": _members("data"),
    "huge names": _names,
    "repeated names": _repeated,
    "many tools": _tools,
    "a large schema": _schema,
    "numbers": _values(b"1"),
    "long numbers": _values(b"9" * 300),
    "floats": _values(b"-1.5e-300"),
    "slow floats": _values(b"1e308"),
    "nulls": _values(b"null"),
    "empty objects": _values(b"{}"),
    "empty arrays": _values(b"[]"),
    "objects": _values(b'{"type":"text","text":"a"}'),
    "objects of unlike names": _values(b'{"a":1,"A":2}'),
    "deep arrays": _values(b"[" * _DEEPEST + b"]" * _DEEPEST),
    "deep objects": _values(b'{"a":' * _DEEPEST + b"1" + b"}" * _DEEPEST),
    "an array that never ends": lambda name, size, _: REQUESTS[name][:-1] + b',"a":' + b"[" * size,
    "one long number": lambda name, size, _: _with(_request(name), "temperature", b"9" * size),
    "space": lambda name, size, _: REQUESTS[name] + b" " * size,
}
"""Every shape by its name."""


def _chunks(size: int, random: Random) -> bytes:
    """A chunked request of small chunks, with or without extensions."""
    extension = random.choice((b"", b";a", b";a=b"))
    data = random.choice((b"a", b"ab" * 8))
    chunk = b"%x%b\r\n%b\r\n" % (len(data), extension, data)
    head = b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + chunk * (size // len(chunk)) + b"0\r\n\r\n"


def _extension(size: int, random: Random) -> bytes:
    del random
    head = b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + b"1;" + b"a" * size + b"\r\na\r\n0\r\n\r\n"


def _headers(size: int, random: Random) -> bytes:
    line = random.choice((b"a: b\r\n", b"a: " + b"b" * 500 + b"\r\n"))
    return b"GET / HTTP/1.1\r\nhost: a\r\n" + line * (size // len(line)) + b"\r\n"


def _requests(size: int, random: Random) -> bytes:
    del random
    request = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\na"
    return request * (size // len(request))


def _members_of_gzip(size: int, random: Random) -> bytes:
    member = gzip.compress(b"a" * random.choice((0, 1, 20_000)), mtime=0)
    return member * (size // len(member) + 1)


def _stored_blocks(size: int, random: Random) -> bytes:
    """Deflate blocks with nothing in them."""
    del random
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + b"\x00\x00\x00\xff\xff" * (size // 5) + b"\x03\x00" + bytes(8)


FRAMINGS: dict[str, tuple[str, Callable[[int, Random], bytes]]] = {
    "chunks": ("http", _chunks),
    "an extension": ("http", _extension),
    "headers": ("http", _headers),
    "requests": ("http", _requests),
    "gzip members": ("gzip", _members_of_gzip),
    "empty blocks": ("gzip", _stored_blocks),
}
"""What stands around bodies, by its name: who reads it, and what makes it."""
