"""One cell, played: a client's request goes through us to an upstream, and its answer back to the client.

Besides what was sent and answered, a `Played` holds what got lost on the way without an entry of `changes`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import NamedTuple

from interlingua.dialects._contract import (
    DecodeContext,
    DecodedRequest,
    DecodeOptions,
    Encoded,
    EncodeOptions,
    ServerContext,
    Undo,
)
from interlingua.dialects.table import get_dialect
from interlingua.errors import Error, UnsupportedError
from interlingua.stream.check import check
from interlingua.testing.excuses import Excuses
from interlingua.testing.facts import Difference, Facts, reader_for, whole_answer, whole_request, whole_stream
from interlingua.testing.framed import stream_text
from interlingua.testing.judging.matching import answer_differences, request_differences
from interlingua.testing.judging.placed import placed_answer, placed_request
from interlingua.testing.laws import encode_stream, events_of
from interlingua.types.change import Change, Stage
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest
from tests.matrix import cases
from tests.matrix.cases import CASES, ERRORS, Cell

__all__ = ["Played", "play", "unsaid_answer", "unsaid_request"]

CREATED = 1_795_000_000


class Played(NamedTuple):
    """What one way of a cell, whole or streamed, came to."""

    asked: HttpRequest
    """The client's own request."""
    sent: Encoded | None = None
    """What went to the upstream; None when the request was refused."""
    answered: HttpReply | None = None
    """The whole answer, or the error, for the client."""
    streamed: bytes | None = None
    """The streamed answer for the client."""
    dialect: str = ""
    """The client's dialect."""
    changes: tuple[Change, ...] = ()
    """Everything that was said of the way there and back."""
    lost: tuple[str, ...] = ()
    """Facts that differ without an entry, and laws that are broken: none of them may stand in a snapshot."""


def play(cell: Cell, *, streamed: bool) -> Played:
    """What the cell comes to."""
    return _Play(cell, streamed=streamed).run()


def unsaid_request(
    request: Request, told: Facts, changes: Iterable[Change], stage: Stage = "encode_request"
) -> list[Difference]:
    """Where the facts that were sent (or, with its stage, read) are not the request's, and no entry names the place."""
    entries = [change for change in changes if change.stage == stage]
    return request_differences(placed_request(request, told["model"]), told, Excuses(entries))


def unsaid_answer(
    response: Response, told: Facts, changes: Iterable[Change], stage: Stage = "encode_response"
) -> list[Difference]:
    """Where the facts that were told (or, with its stage, read) are not the answer's; its model may have any name."""
    entries = [change for change in changes if change.stage == stage]
    return answer_differences(placed_answer(response)._replace(model=""), told, Excuses(entries))


class _Play:
    def __init__(self, cell: Cell, *, streamed: bool) -> None:
        self.cell = cell
        self.case = CASES.get(cell.case, CASES["text"])
        self.answer = self.case.answer if cell.case in CASES else cell.case
        self.source = get_dialect(cell.source)
        self.target = get_dialect(cell.target)
        self.whom = cases.target(cell.target, cell.case)
        self.streamed = streamed
        self.asked = cases.request(cell.source, self.case.request, streamed=streamed)
        self.entries: list[Change] = []
        self.lost: list[str] = []

    def run(self) -> Played:
        decoded = self.source.decode_request(self.asked, DecodeOptions())
        self.entries += decoded.changes
        if decoded.stream is not self.streamed:
            self.lost.append(f"the client's wish for a stream was read as {decoded.stream}")
        options = EncodeOptions(target=self.whom, stream=self.streamed, stream_usage=self.streamed)
        try:
            sent = self.target.encode_request(decoded.request, options)
        except UnsupportedError as error:
            self.entries += error.changes
            return Played(self.asked, dialect=self.source.name, changes=tuple(self.entries), lost=tuple(self.lost))
        self.entries += sent.changes
        self._same_request(decoded, sent)
        context = DecodeContext(target=self.whom, undo=sent.undo)
        server = self._server(decoded)
        given = cases.stream(self.cell.target, self.answer) if self.streamed else None
        if given is not None:
            told = self._stream(given, context, server)
            return Played(self.asked, sent, None, told, self.source.name, tuple(self.entries), tuple(self.lost))
        whole = self._error if self.cell.case in ERRORS else self._response
        reply = whole(cases.reply(self.cell.target, self.answer), context, server)
        return Played(self.asked, sent, reply, None, self.source.name, tuple(self.entries), tuple(self.lost))

    def _server(self, decoded: DecodedRequest) -> ServerContext:
        numbers = itertools.count(1)
        return ServerContext(
            model=decoded.model,
            created=CREATED,
            make_id=lambda: f"made-{next(numbers)}",
            source=self.cell.target,
            path=self.asked.url.partition("gateway.example")[2],
            json_array=decoded.json_array,
            changes=self.entries,
        )

    # Judging

    def _same_request(self, decoded: DecodedRequest, sent: Encoded) -> None:
        said = whole_request(self.cell.source, json.loads(self.asked.body), decoded.model)
        read = unsaid_request(decoded.request, said, decoded.changes, "decode_request")
        again = whole_request(self.cell.target, json.loads(sent.body), self.whom.model)
        self.lost += [f"request read {found}" for found in read]
        self.lost += [f"request {found}" for found in unsaid_request(decoded.request, again, self.entries)]
        if again["model"] != self.whom.model:
            self.lost.append(f"the model sent is {again['model']!r}")

    def _shows_the_model(self, facts: Facts) -> None:
        wanted = json.loads(self.asked.body).get("model", "gemini-3-pro")
        if self.cell.source == "cohere":
            wanted = ""  # an answer does not name its model
        if facts["model"] is not None and facts["model"] != wanted:
            self.lost.append(f"the model shown is {facts['model']!r}, not {wanted!r}")

    # Answers

    def _response(self, given: HttpReply, context: DecodeContext, server: ServerContext) -> HttpReply:
        response = self.target.decode_response(given, context)
        self.entries += response.changes
        reply = self.source.encode_response(response, server)
        said = whole_answer(self.cell.target, json.loads(given.body))
        read = unsaid_answer(response, said, response.changes, "decode_response")
        again = whole_answer(self.cell.source, json.loads(reply.body))
        self.lost += [f"answer read {found}" for found in read]
        self.lost += [f"answer {found}" for found in unsaid_answer(response, again, self.entries)]
        self._shows_the_model(again)
        return reply

    def _error(self, given: HttpReply, context: DecodeContext, server: ServerContext) -> HttpReply:
        error = self.target.decode_error(given, context)
        reply = self.source.encode_error(error, server)
        said = reader_for(self.cell.target).error(given.status, json.loads(given.body))
        again = reader_for(self.cell.source).error(reply.status, json.loads(reply.body))
        self._same_error(said, again, self.source.decode_error(reply, DecodeContext()))
        return reply

    def _same_error(self, said: Facts | None, again: Facts | None, decoded: Error) -> None:
        wanted = said and said["class"]
        found = (again and again["class"], type(decoded).__name__)
        if found != (wanted, wanted):
            self.lost.append(f"the error's class {wanted} is {found[0]} on the wire, read as {found[1]}")

    # Streams

    def _stream(self, given: bytes, context: DecodeContext, server: ServerContext) -> bytes:
        events = events_of(self.target, [given], context)
        self.lost += [f"upstream's events: {law}" for law in check(events)]
        if isinstance(events[-1], StreamEnd):
            self.entries += events[-1].response.changes
        told = encode_stream(self.source, events, server)
        again = events_of(self.source, [told], DecodeContext(undo=Undo()))
        self.lost += [f"events for the client: {law}" for law in check(again)]
        given_text, told_text = stream_text(self.target.name, given), stream_text(self.source.name, told)
        self._same_stream(given_text, told_text, events[-1], again[-1])
        return told

    def _same_stream(self, given: str, told: str, end: Event, last: Event) -> None:
        said = whole_stream(self.cell.target, given)
        again = whole_stream(self.cell.source, told)
        if said.end != again.end:
            self.lost.append(f"the stream's end {said.end} is {again.end}")
        if said.error is not None:
            self._same_stream_error(said.error, again.error, last)
            return
        assert isinstance(end, StreamEnd)
        read = unsaid_answer(end.response, said.facts, end.response.changes, "decode_response")
        self.lost += [f"stream read {found}" for found in read]
        self.lost += [f"stream {found}" for found in unsaid_answer(end.response, again.facts, self.entries)]
        self._shows_the_model(again.facts)

    def _same_stream_error(self, said: Facts, again: Facts | None, last: Event) -> None:
        found = (again and again["class"], last.error if isinstance(last, StreamError) else None)
        if found != (said["class"], said["class"]):
            self.lost.append(f"the error's class {said['class']} is {found[0]} on the wire, read as {found[1]}")
