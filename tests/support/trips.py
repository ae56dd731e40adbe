"""The ways of a dialect over the wire and back, and the laws that hold for each of them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import msgspec

from interlingua.dialects._contract import DecodeContext, DecodeOptions, Dialect, EncodeOptions, ServerContext, Target
from interlingua.errors import Error
from interlingua.stream.check import check
from interlingua.stream.unfold import unfold
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest

__all__ = ["Trips", "cut"]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """`data` in pieces."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


class Trips:
    """What a dialect writes, and what it reads of it."""

    def __init__(self, dialect: Dialect, *, model: str = "m", url: str = "http://test/") -> None:
        """Requests go to `model`, and arrive at `url`."""
        self.dialect = dialect
        self.asked = EncodeOptions(target=Target(model=model))
        self.own = ServerContext(source=dialect.name)
        self.url = url

    def sent(self, request: Request) -> bytes:
        """The body of a request."""
        return self.dialect.encode_request(request, self.asked).body

    def read(self, body: bytes, url: str = "", **options: Any) -> Request:
        """The request that a body is."""
        return self.dialect.decode_request(
            HttpRequest(url=url or self.url, body=body), DecodeOptions(**options)
        ).request

    def answered(self, body: bytes) -> Response[Any]:
        """A whole answer."""
        return self.dialect.decode_response(HttpReply(status=200, body=body), DecodeContext())

    def streamed(self, response: Response[Any], context: ServerContext | None = None) -> bytes:
        """An answer as a stream."""
        return self.written(list(unfold(response)), context or self.own)

    def written(self, events: list[Event], context: ServerContext) -> bytes:
        """Events as a stream."""
        encoder = self.dialect.stream_encoder(context)
        return b"".join(map(encoder.encode, events))

    def events_of(self, pieces: list[bytes]) -> list[Event]:
        """The events of a stream that comes in these pieces."""
        decoder = self.dialect.stream_decoder(DecodeContext())
        return [*(event for piece in pieces for event in decoder.feed(piece)), *decoder.close()]

    # Laws

    def check_request(self, request: Request) -> None:
        """What the dialect can say is read as it was said; a second trip changes no byte."""
        encoded = self.dialect.encode_request(request, self.asked)
        assert encoded.changes == ()
        assert self.read(encoded.body) == request
        assert self.sent(self.read(encoded.body)) == encoded.body

    def check_answer(self, response: Response[Any], context: ServerContext | None = None) -> None:
        """Whole and streamed it is the same response."""
        assert self.answered(self.dialect.encode_response(response, self.own).body) == response
        last = self.events_of([self.streamed(response, context)])[-1]
        assert isinstance(last, StreamEnd)
        assert last.response == response

    def check_cuts(self, raw: bytes, places: list[int]) -> None:
        """Cut at any places, and byte by byte, a stream has the same lawful events."""
        whole = self.events_of([raw])
        assert check(whole) == ()
        assert self.events_of(cut(raw, places)) == whole
        if len(raw) < 2_000:
            assert self.events_of([raw[at : at + 1] for at in range(len(raw))]) == whole

    def incomplete(self, raw: bytes) -> Response[Any]:
        """What came of a stream that ends too early, and lawfully as an error."""
        found = self.events_of([raw])
        assert check(found) == ()
        last = found[-1]
        assert isinstance(last, StreamError)
        assert last.error == "IncompleteStreamError"
        assert last.partial is not None
        return last.partial

    def check_bytes(self, body: bytes, url: str = "") -> None:
        """Requests under both policies, answers, errors: ours or our own error; what was read can be written."""
        for policy in ("refuse", "mend"):
            try:
                self.sent(self.read(body, url, history=policy))
            except Error:
                continue
        try:
            response = self.answered(body)
            self.dialect.encode_response(response, self.own)
            self.dialect.encode_response(response, ServerContext())
            assert check(list(unfold(response))) == ()
        except Error:
            pass
        assert isinstance(self.dialect.decode_error(HttpReply(status=400, body=body), DecodeContext()), Error)

    def check_stream(self, raw: bytes, other: ServerContext | None = None) -> None:
        """Whole and in pieces of seven bytes, the same lawful events; they can be written for us and for others."""
        found = self.events_of([raw])
        assert check(found) == ()
        assert self.events_of([raw[at : at + 7] for at in range(0, len(raw), 7)]) == found
        for context in (self.own, other or ServerContext()):
            assert isinstance(self.written(found, context), bytes)

    def check_normal_form(self, body: dict[str, Any], kind: str, url: str = "") -> None:
        """Of a body that is read it is JSON."""
        raw = msgspec.json.encode(body)
        try:
            _ = self.read(raw, url) if kind == "request" else self.answered(raw)
        except Error:
            return
        assert json.dumps(self.dialect.normal_form(kind, body))
