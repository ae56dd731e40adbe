"""The laws that every dialect and every stream must hold to, as checks that any test can call.

Each check raises an AssertionError that says what is broken; none needs a test framework.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from interlingua.dialects._contract import DecodeContext, Dialect, ServerContext
from interlingua.stream.check import check
from interlingua.stream.fold import fold
from interlingua.stream.unfold import unfold
from interlingua.types.event import Event
from interlingua.types.response import Response

__all__ = [
    "assert_any_cut",
    "assert_lawful",
    "assert_reply_round_trip",
    "assert_stream_round_trip",
    "cuts",
    "encode_stream",
    "events_of",
    "first_other",
]

BYTEWISE = 4096
"""How many bytes are fed one by one."""
PLACES = 8
"""How many places a stream is cut at."""


def assert_lawful(events: Sequence[Event]) -> None:
    """Every stream law holds for `events`."""
    broken = check(events)
    assert not broken, "; ".join(broken)


def cuts(data: bytes, *, seed: int | str = 0) -> Iterator[tuple[str, list[bytes]]]:
    """Ways to cut `data` up, each with its name: byte by byte (the first 4 kB), and at eight seeded places."""
    head = [data[place : place + 1] for place in range(min(BYTEWISE, len(data)))]
    yield "byte by byte", [*head, data[BYTEWISE:]]
    rng = random.Random(f"cuts {seed}")  # noqa: S311 - places to cut at are no secret
    places = sorted(rng.randrange(len(data) + 1) for _ in range(PLACES))
    bounds = zip([0, *places], [*places, len(data)], strict=True)
    yield f"cut at {places}", [data[start:end] for start, end in bounds]


def events_of(dialect: Dialect, pieces: Iterable[bytes], context: DecodeContext | None = None) -> list[Event]:
    """The events that a dialect's decoder makes of the pieces of a stream."""
    decoder = dialect.stream_decoder(context or DecodeContext())
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [*events, *decoder.close()]


def encode_stream(dialect: Dialect, events: Iterable[Event], context: ServerContext | None = None) -> bytes:
    """The bytes that a dialect's encoder makes of the events of a stream."""
    encoder = dialect.stream_encoder(context or ServerContext(source=dialect.name))
    return b"".join([encoder.encode(event) for event in events])


def first_other(one: Sequence[Event], other: Sequence[Event]) -> int | None:
    """The place of the first event in which two streams differ; None when they do not."""
    places = range(max(len(one), len(other)))
    return next((place for place in places if one[place : place + 1] != other[place : place + 1]), None)


def assert_any_cut(
    dialect: Dialect, data: bytes, context: DecodeContext | None = None, *, seed: int | str = 0
) -> list[Event]:
    """The events of a stream, which are the same however its bytes are cut, and lawful."""
    whole = events_of(dialect, [data], context)
    for way, pieces in cuts(data, seed=seed):
        place = first_other(whole, events_of(dialect, pieces, context))
        assert place is None, f"{way}: other events from number {place} on"
    assert_lawful(whole)
    return whole


def assert_reply_round_trip(dialect: Dialect, response: Response[Any]) -> None:
    """A response encoded and decoded again is the same response."""
    reply = dialect.encode_response(response, ServerContext(source=dialect.name))
    assert dialect.decode_response(reply, DecodeContext()) == response


def assert_stream_round_trip(dialect: Dialect, response: Response[Any]) -> None:
    """A response unfolded, encoded as a stream, decoded and folded again is the same response."""
    data = encode_stream(dialect, unfold(response))
    assert fold(assert_any_cut(dialect, data)) == response
