"""Tasks for a worker with a costly body, and their way there and back.

Strategy: a task is a function of bytes and small values. What is large goes as one block of bytes that is copied and
never parsed on the event loop: the text of a body, or a request in MessagePack, which is read ten times as fast as a
pickle of it. The rest is pickled; both sides are this program.

Rules
- What comes back holds at most `MAX_CONTAINERS` objects, so that to read it takes no longer than a cheap body.
- Errors of ours come back as they are.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from interlingua.dialects.table import get_dialect
from interlingua.gateway.calls.reading import check_values, read_request
from interlingua.types.content import with_bytes
from interlingua.types.request import Request
from interlingua.wire.body import Body

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodedRequest, DecodeOptions, Encoded, EncodeOptions
    from interlingua.wire.http import HttpRequest

__all__ = ["TASKS", "Message", "body_from", "decoded_from", "encoded_from", "packed_request"]

_PACK = msgspec.msgpack.Encoder().encode
_UNPACK = msgspec.msgpack.Decoder(Request).decode
_PICKLED = b"\xc1"
"""Begins a request that MessagePack cannot say; no MessagePack begins so."""


class Message(NamedTuple):
    """A message to a worker, or back."""

    facts: Any
    """Small values."""
    block: bytes
    """The large part."""


def packed_request(request: Request) -> bytes:
    """A request as bytes."""
    messages = [msgspec.structs.replace(message, parts=with_bytes(message.parts)) for message in request.messages]
    request = msgspec.structs.replace(request, messages=tuple(messages))
    try:
        return _PACK(request)
    except (OverflowError, TypeError, UnicodeEncodeError, msgspec.ValidationError):  # numbers of any length, say
        return _PICKLED + pickle.dumps(request, 5)


def _unpacked(block: bytes) -> Request:
    return pickle.loads(block[1:]) if block[:1] == _PICKLED else _UNPACK(block)  # noqa: S301 - of this program


# Reading


def _read(facts: str, block: bytes) -> Message:
    """The body of a request in the dialect `facts`; of any other one, where that is empty."""
    check_values(block)
    body = read_request(block, facts)
    return Message(body.facts(), b"" if body.text == block else body.text)


def body_from(message: Message, sent: bytes) -> Body:
    """The body that was read of the bytes that were sent."""
    return Body.of(message.block or sent, message.facts)


# Decoding


def _decode(facts: tuple[str, HttpRequest, DecodeOptions], block: bytes) -> Message:
    """The request in a dialect whose body is `block`."""
    name, request, options = facts
    decoded = get_dialect(name).decode_request(msgspec.structs.replace(request, body=block), options)
    return Message(msgspec.structs.replace(decoded, request=Request()), packed_request(decoded.request))


def decoded_from(message: Message) -> DecodedRequest:
    """The request that was decoded."""
    return msgspec.structs.replace(message.facts, request=_unpacked(message.block))


# Encoding


def _encode(facts: tuple[str, EncodeOptions], block: bytes) -> Message:
    """A request on the wire of a target."""
    name, options = facts
    encoded = get_dialect(name).encode_request(_unpacked(block), options)
    return Message(msgspec.structs.replace(encoded, body=b""), encoded.body)


def encoded_from(message: Message) -> Encoded:
    """The request that was encoded."""
    return msgspec.structs.replace(message.facts, body=message.block)


TASKS: dict[str, Callable[[Any, bytes], Message]] = {"read": _read, "decode": _decode, "encode": _encode}
"""The tasks of a worker, by name."""
