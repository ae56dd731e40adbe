"""One cell, played: a client's request goes through us to an upstream, and its answer back to the client.

Besides what was sent and answered, a `Played` holds what got lost on the way without an entry of `changes`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
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
from interlingua.testing.excuses import excused_facts, without
from interlingua.testing.facts import Difference, Facts, differences, reader_for
from interlingua.testing.laws import encode_stream, events_of
from interlingua.types.change import Change
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.request import Request
from interlingua.wire.http import HttpReply, HttpRequest
from tests.matrix import cases
from tests.matrix.cases import CASES, ERRORS, Cell

__all__ = ["Played", "play", "unsaid"]

CREATED = 1_795_000_000
CONTENT = ("messages", "system", "tools", "extra", "tool_choice", "schema_name", "schema_description")
"""Members of a request that are no options: the facts compare them, or they mean nothing elsewhere."""
KNOBS = [name for name in Request.__struct_fields__ if name not in CONTENT]


def _never(dialect: str, request: Request) -> bool:
    return False


IMPLIED: dict[str, Callable[[str, Request], bool]] = {
    "schema_strict": lambda dialect, _: dialect == "anthropic",  # its answers always hold to the schema
    "thinking": lambda _, request: request.effort is not None,  # who says how hard says that
}
"""What a sent request says without saying it."""


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
    changes: tuple[Change, ...] = ()
    """Everything that was said of the way there and back."""
    lost: tuple[str, ...] = ()
    """Facts that differ without an entry, and laws that are broken: none of them may stand in a snapshot."""


def play(cell: Cell, *, streamed: bool) -> Played:
    """What the cell comes to."""
    return _Play(cell, streamed=streamed).run()


def unsaid(said: Facts, again: Facts, changes: Iterable[Change]) -> list[Difference]:
    """The facts that differ although no entry names them; the model's name is nobody's loss.

    An entry about a request excuses nothing of an answer, and the other way round; one about a seal excuses no thought.
    """
    side = "response" if "choices" in said else "request"
    found = [change for change in changes if str(change.stage).endswith(side)]
    others = [change for change in found if change.code != "seal_foreign"]
    names = excused_facts(others) | {"model"} | ({"seals"} if len(others) < len(found) else set[str]())
    return differences(without(said, names), without(again, names))


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
            return Played(self.asked, changes=tuple(self.entries), lost=tuple(self.lost))
        self.entries += sent.changes
        self._same_request(sent)
        self._same_knobs(decoded, sent)
        context = DecodeContext(target=self.whom, undo=sent.undo)
        server = self._server(decoded)
        given = cases.stream(self.cell.target, self.answer) if self.streamed else None
        if given is not None:
            told = self._stream(given, context, server)
            return Played(self.asked, sent, None, told, tuple(self.entries), tuple(self.lost))
        whole = self._error if self.cell.case in ERRORS else self._response
        reply = whole(cases.reply(self.cell.target, self.answer), context, server)
        return Played(self.asked, sent, reply, None, tuple(self.entries), tuple(self.lost))

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

    def _differ(self, what: str, said: Facts, again: Facts) -> None:
        """Note every fact that is another one now, unless an entry names it; the name of the model always is."""
        self.lost += [f"{what} {found}" for found in unsaid(said, again, self.entries)]

    def _same_request(self, sent: Encoded) -> None:
        said = reader_for(self.cell.source).request(json.loads(self.asked.body), None)
        again = reader_for(self.cell.target).request(json.loads(sent.body), self.whom.model)
        self._differ("request", said, again)
        if again["model"] != self.whom.model:
            self.lost.append(f"the model sent is {again['model']!r}")

    def _same_knobs(self, decoded: DecodedRequest, sent: Encoded) -> None:
        """Note every option of the client that the upstream is told otherwise, unless an entry names it."""
        url = f"https://upstream.example{sent.path}"
        again = self.target.decode_request(HttpRequest(url=url, headers=sent.headers, body=sent.body), DecodeOptions())
        named = {entry.path.split("/")[1] for entry in self.entries}
        for name in KNOBS:
            said, told = getattr(decoded.request, name), getattr(again.request, name)
            implied = IMPLIED.get(name, _never)(self.cell.target, again.request)
            if said is not None and said != told and name not in named and not implied:
                self.lost.append(f"request option {name}: {said!r} != {told!r}")

    def _shows_the_model(self, facts: Facts) -> None:
        wanted = json.loads(self.asked.body).get("model", "gemini-3-pro")
        if facts["model"] != wanted:
            self.lost.append(f"the model shown is {facts['model']!r}, not {wanted!r}")

    # Answers

    def _response(self, given: HttpReply, context: DecodeContext, server: ServerContext) -> HttpReply:
        response = self.target.decode_response(given, context)
        self.entries += response.changes
        reply = self.source.encode_response(response, server)
        said = reader_for(self.cell.target).response(json.loads(given.body))
        again = reader_for(self.cell.source).response(json.loads(reply.body))
        self._differ("answer", said, again)
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
        self._same_stream(given.decode(), told.decode(), again[-1])
        return told

    def _same_stream(self, given: str, told: str, last: Event) -> None:
        said = reader_for(self.cell.target).stream(given)
        again = reader_for(self.cell.source).stream(told)
        if said.end != again.end:
            self.lost.append(f"the stream's end {said.end} is {again.end}")
        if said.error is not None:
            self._same_stream_error(said.error, again.error, last)
            return
        self._differ("stream", said.facts, again.facts)
        self._shows_the_model(again.facts)

    def _same_stream_error(self, said: Facts, again: Facts | None, last: Event) -> None:
        found = (again and again["class"], last.error if isinstance(last, StreamError) else None)
        if found != (said["class"], said["class"]):
            self.lost.append(f"the error's class {said['class']} is {found[0]} on the wire, read as {found[1]}")
