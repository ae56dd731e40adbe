"""One recorded exchange, judged: there and back in its own dialect, over to every other, whole and in pieces.

```
a  same dialect   decode, encode, decode again: equal values, and equal bodies in the dialect's normal form
b  facts          what the bodies say is the same, here and in every other dialect
c  not opaque     the same holds with everything taken out that travels unread
d  streams        any cut gives the same events, lawful ones; encoded again they fold to the same answer
e  errors         the class that the wire names, also after a trip through our own encoder
```

Rules
- A difference is excused only by an entry of `changes` that names it.
- An exchange without a request or an answer is judged by the half that it has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from interlingua.dialects._contract import (
    DecodeContext,
    DecodedRequest,
    DecodeOptions,
    Dialect,
    Encoded,
    EncodeOptions,
    ServerContext,
    Target,
    Undo,
)
from interlingua.errors import Error, HistoryError, UnsupportedError
from interlingua.stream.check import check
from interlingua.stream.unfold import unfold
from interlingua.testing.excuses import excused_facts, excuses_place, without
from interlingua.testing.facts import Difference, Facts, differences, first_difference, paths, reader_for
from interlingua.testing.laws import cuts, encode_stream, events_of, first_other
from interlingua.testing.opaque import stripped, weigh
from interlingua.testing.targets import faithful_target
from interlingua.testing.wirefacts.values import members, word
from interlingua.types.change import Change
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest

__all__ = ["APIS", "DialectFor", "Exchange", "Judge", "Refusal", "Verdict"]

DialectFor: TypeAlias = Callable[[str], Dialect | None]
"""Gives the dialect of a name, or None where there is none yet."""

Refusal: TypeAlias = Literal["unsupported_api", "bad_history", "invalid_json"]
"""The closed list of reasons for which an exchange is not judged."""

APIS = {
    "chat-completions": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "generateContent": "google",
    "ollama-chat": "ollama",
    "ollama-generate": "ollama",
}
"""The dialect of each wire format in the recordings."""

OPAQUE_FACTS = frozenset({"references", "server_tools"})
"""What may travel unread: references to media, and tools that the provider runs."""
_MODEL = re.compile(r"/(?:models|deployments)/([^/:?]+)")
"""Where an address names the model."""
NOT_COMPARED = frozenset({"raw", "attempts", "changes", "request", "output"})
"""What of a response takes no part in equality."""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a recording."""

    id: str
    """Stable id."""
    api: str
    """The wire format."""
    url: str | None = None
    """Host and path; None when the request is unknown."""
    request: Any = None
    """The request body; None when it is unknown."""
    status: int | None = None
    """HTTP status; None when it was not recorded."""
    response: Any = None
    """The answer's body, when it is whole JSON."""
    stream: str | None = None
    """The answer's text, when it was streamed."""
    stream_format: str | None = None
    """How the stream is framed."""
    response_text: str | None = None
    """The answer's body, when it is not JSON."""

    @property
    def model(self) -> str | None:
        """The model in the path, for formats that name it there."""
        found = _MODEL.search(self.url or "")
        return found[1] if found else None

    @property
    def stream_text(self) -> str:
        """The stream as its server framed it."""
        text = self.stream or ""
        if self.stream_format == "json-lines-unframed":
            return "".join([f"data: {line}\n\n" for line in text.split("\n") if line.strip()])
        return text


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one exchange."""

    outcome: Literal["passed", "failed", "refused"]
    """How it was judged."""
    reason: str = ""
    """The part that failed, or the reason for which it was refused."""
    detail: str = ""
    """The first differing path, or what was raised."""
    opaque: Counter[str] = msgspec.field(default_factory=Counter[str])
    """Bytes that travelled unread, by path."""


class _Fault(Exception):  # noqa: N818 - a verdict on its way up, not an error of ours
    """The exchange failed."""

    def __init__(self, part: str, detail: object) -> None:
        super().__init__(f"{part}: {detail}")
        self.part = part
        self.detail = str(detail)


class _Refused(Exception):  # noqa: N818 - the same
    """The exchange is not judged, for a reason of the closed list."""

    def __init__(self, reason: Refusal, detail: object) -> None:
        super().__init__(reason)
        self.reason: Refusal = reason
        self.detail = str(detail)


class Judge:
    """Judges exchanges; `dialect_for` gives the dialects, `others` names those that every exchange must reach."""

    def __init__(self, dialect_for: DialectFor, others: Iterable[str] = (), *, seed: int = 0) -> None:
        self._dialect_for = dialect_for
        self._others = tuple(others)
        self._seed = seed

    def judge(self, exchange: Exchange) -> Verdict:
        """The verdict on one exchange."""
        name = APIS.get(exchange.api, exchange.api)
        dialect = self._dialect_for(name)
        if dialect is None:
            return Verdict(outcome="refused", reason="unsupported_api", detail=exchange.api)
        others = [found for other in self._others if other != name and (found := self._dialect_for(other)) is not None]
        trial = _Trial(exchange, dialect, others, f"{self._seed} {exchange.id}")
        try:
            trial.run()
        except _Refused as refused:
            return Verdict(outcome="refused", reason=refused.reason, detail=refused.detail)
        except _Fault as fault:
            return Verdict(outcome="failed", reason=fault.part, detail=fault.detail, opaque=trial.opaque)
        except Exception as error:  # noqa: BLE001 - a codec under judgement may raise anything, and that is its failure
            return Verdict(outcome="failed", reason="raised", detail=f"{type(error).__name__}: {error}")
        return Verdict(outcome="passed", opaque=trial.opaque)


class _Trial:
    def __init__(self, exchange: Exchange, dialect: Dialect, others: list[Dialect], seed: str) -> None:
        self.exchange = exchange
        self.dialect = dialect
        self.others = others
        self.seed = seed
        self.facts = reader_for(dialect.name)
        self.opaque: Counter[str] = Counter()
        self.undo = Undo()

    def run(self) -> None:
        if self.exchange.request is not None:
            self._request()
        status = self.exchange.status or 200
        if self.exchange.stream is not None:
            self._stream()
        elif self.exchange.response is not None or self.exchange.response_text is not None:
            self._error(status) if self._is_error(status) else self._response(status)

    # Requests

    def _request(self) -> None:
        body = self.exchange.request
        first = self._decode_request(_dump(body))
        self.opaque += weigh(first.request)
        said = self.facts.request(body, self.exchange.model)
        encoded = self._encode_request(self.dialect, first)
        self.undo = encoded.undo
        again = _load(encoded.body)
        _equal("a request value", _plain(first), _plain(self._decode_request(encoded.body)))
        self._same_form("request", body, again, (*first.changes, *encoded.changes))
        _same("b request facts", said, self.facts.request(again, self.exchange.model))
        for other in self.others:
            self._request_elsewhere(f"b request facts in {other.name}", other, first, said)
        self._request_without_opaque(first, said)

    def _decode_request(self, body: bytes) -> DecodedRequest:
        url = f"https://{self.exchange.url or 'recorded.invalid'}"
        request = HttpRequest(url=url, body=body, dialect=self.dialect.name)
        try:
            return self.dialect.decode_request(request, DecodeOptions())
        except HistoryError as error:
            if faults := self.facts.faults(self.exchange.request):
                raise _Refused("bad_history", faults[0]) from None
            raise _Fault("a request", f"HistoryError on a sound history: {error}") from None

    def _encode_request(self, dialect: Dialect, decoded: DecodedRequest) -> Encoded:
        own = dialect is self.dialect
        target = Target(model=decoded.model)
        if own:
            named = word(members(self.exchange.request).get("model"))  # not the one that only the path names
            target = faithful_target(dialect.name, self.exchange.request, named)
        return dialect.encode_request(decoded.request, EncodeOptions(target=target, stream=decoded.stream))

    def _request_without_opaque(self, decoded: DecodedRequest, said: Facts) -> None:
        bare = msgspec.structs.replace(decoded, request=stripped(decoded.request))
        body = _load(self._encode_request(self.dialect, bare).body)
        again = self.facts.request(body, self.exchange.model)
        _same("c request facts without extra", without(said, OPAQUE_FACTS), without(again, OPAQUE_FACTS))
        for other in self.others:
            self._request_elsewhere(f"c request facts without extra in {other.name}", other, bare, said, OPAQUE_FACTS)

    def _request_elsewhere(
        self, part: str, other: Dialect, decoded: DecodedRequest, said: Facts, left_out: frozenset[str] = frozenset()
    ) -> None:
        try:
            encoded = self._encode_request(other, decoded)
        except UnsupportedError as error:
            _real(part, error.changes, decoded.request)
            return
        names = excused_facts((*decoded.changes, *encoded.changes)) | left_out
        again = reader_for(other.name).request(_load(encoded.body), decoded.model or None)
        _same(part, without(said, names), without(again, names))

    # Whole answers

    def _context(self) -> DecodeContext:
        return DecodeContext(target=Target(model=word(members(self.exchange.request).get("model"))), undo=self.undo)

    def _reply(self, status: int) -> HttpReply:
        text = self.exchange.response_text
        return _json_reply(status, _dump(self.exchange.response) if text is None else text.encode())

    def _response(self, status: int) -> None:
        body = self.exchange.response
        first = self.dialect.decode_response(self._reply(status), self._context())
        self.opaque += weigh(first)
        reply = self.dialect.encode_response(first, ServerContext(source=self.dialect.name))
        second = self.dialect.decode_response(reply, self._context())
        _equal("a response value", _compared(first), _compared(second))
        self._same_form("response", body, _load(reply.body), first.changes)
        said = self.facts.response(body)
        _same("b response facts", said, self.facts.response(_load(reply.body)))
        bare = self.dialect.encode_response(stripped(first), ServerContext(source=self.dialect.name))
        _same("c response facts without extra", said, self.facts.response(_load(bare.body)))
        for other in self.others:
            self._response_elsewhere(other, first, said)

    def _response_elsewhere(self, other: Dialect, response: Response[Any], said: Facts) -> None:
        entries: list[Change] = []
        body = _load(other.encode_response(response, ServerContext(changes=entries)).body)
        names = excused_facts((*response.changes, *entries))
        again = reader_for(other.name).response(body)
        _same(f"b response facts in {other.name}", without(said, names), without(again, names))

    def _same_form(self, kind: str, body: Any, again: Any, changes: Iterable[Change]) -> None:
        found = differences(self.dialect.normal_form(kind, body), self.dialect.normal_form(kind, again))
        _unexcused(f"a {kind} normal form", found, tuple(changes))

    # Errors

    def _is_error(self, status: int) -> bool:
        return status >= 400 or self.facts.error(status, self.exchange.response) is not None

    def _error(self, status: int) -> None:
        body = self.exchange.response
        said = self.facts.error(status, self.exchange.response_text if body is None else body)
        assert said is not None
        first = self._decode_error(self._reply(status))
        self._classed(first, said)
        reply = self.dialect.encode_error(first, ServerContext())
        second = self.dialect.decode_error(reply, self._context())
        if type(second) is not type(first):
            raise _Fault("e error again", f"{type(first).__name__} != {type(second).__name__}")
        again = self.facts.error(reply.status, _load(reply.body))
        _same("e error facts", {**said, "status": self._like(said, reply.status)}, again)
        for other in self.others:
            there = other.decode_error(other.encode_error(first, ServerContext()), DecodeContext())
            if type(there) is not type(first):
                raise _Fault(f"e error in {other.name}", f"{type(first).__name__} != {type(there).__name__}")

    def _like(self, said: Facts, told: int) -> Any:
        """The status to be told: the one that was read, or the service's own that says the same class by itself."""
        alone = self.facts.error(told, None) or {}
        return told if said["status"] is None or alone["class"] == said["class"] else said["status"]

    def _decode_error(self, reply: HttpReply) -> Error:
        if reply.status >= 400:
            return self.dialect.decode_error(reply, self._context())
        try:
            self.dialect.decode_response(reply, self._context())
        except Error as error:
            return error
        raise _Fault("e error", f"an error under {reply.status} was decoded as an answer")

    def _classed(self, error: Error, said: Facts) -> None:
        if type(error).__name__ != said["class"]:
            raise _Fault("e error class", f"{said['class']} != {type(error).__name__}")
        if error.status not in (said["status"], None):
            raise _Fault("e error status", f"{said['status']} != {error.status}")

    # Streams

    def _stream(self) -> None:
        text = self.exchange.stream_text
        try:
            said = self.facts.stream(text)
        except ValueError as error:
            raise _Refused("invalid_json", error) from None
        data = text.encode()
        events = self._cut_everywhere(data)
        if broken := check(events):
            raise _Fault("d stream laws", broken[0])
        response = self._ended(events, said.end, said.error)
        self.opaque += weigh(response)
        told = encode_stream(self.dialect, events, ServerContext(source=self.dialect.name))
        again = events_of(self.dialect, [told], self._context())
        _equal("d stream encoded again", _came(response, said.end), _came(_whole(again), said.end))
        self._stream_facts(response, said.facts, said.end)

    def _cut_everywhere(self, data: bytes) -> list[Event]:
        """The events of the whole stream, after every other way of cutting it gave the same."""
        whole = events_of(self.dialect, [data], self._context())
        for way, pieces in cuts(data, seed=self.seed):
            place = first_other(whole, events_of(self.dialect, pieces, self._context()))
            if place is not None:
                raise _Fault("d stream cuts", f"{way}: other events from number {place} on")
        return whole

    def _ended(self, events: list[Event], end: str, error: Facts | None) -> Response[Any]:
        """What the stream adds up to, after its end was the one that the wire shows."""
        last = events[-1]
        wanted = {"done": "StreamEnd", "cut": "IncompleteStreamError"}.get(end) or (error or {})["class"]
        got = last.error if isinstance(last, StreamError) else type(last).__name__
        if got != wanted:
            raise _Fault("d stream end" if end != "error" else "e stream error class", f"{wanted} != {got}")
        return _whole(events)

    def _stream_facts(self, response: Response[Any], said: Facts, end: str) -> None:
        if end == "error" and not said["choices"]:
            return  # nothing came before the error
        bodies = {"b stream facts": response, "c stream facts without extra": stripped(response)}
        for part, value in bodies.items():
            entries: list[Change] = []
            context = ServerContext(source=self.dialect.name, changes=entries)
            body = _load(self.dialect.encode_response(value, context).body)
            names = excused_facts(entries)  # a whole answer has no place for a call that was cut
            _same(part, without(_settled(said, end), names), without(_settled(self.facts.response(body), end), names))
        if end == "done":
            streamed = encode_stream(self.dialect, unfold(stripped(response))).decode()
            _same("c stream again", said, self.facts.stream(streamed).facts)


def _settled(facts: Facts, end: str) -> Facts:
    """Facts of an answer; one that did not come to its end has no finish reason."""
    return facts if end == "done" else without(facts, ("finish_reason", "usage"))


def _whole(events: list[Event]) -> Response[Any]:
    """What events add up to: the response of a proper end, or what had come before an error."""
    match events[-1] if events else None:
        case StreamEnd(response=response):
            return response
        case StreamError(partial=partial):
            return partial or Response(finish_reason="error")
        case _:
            raise _Fault("d stream end", "no terminal event")


def _came(response: Response[Any], end: str) -> Any:
    """What of a streamed answer has to survive: everything, or the parts that came before the stream broke."""
    return _compared(response) if end == "done" else {"parts": response.parts}


def _compared(response: Response[Any]) -> Any:
    names = [name for name in response.__struct_fields__ if name not in NOT_COMPARED]
    return {name: getattr(response, name) for name in names}


def _plain(decoded: DecodedRequest) -> Any:
    return {"model": decoded.model, "stream": decoded.stream, "request": decoded.request}


def _equal(part: str, first: Any, second: Any) -> None:
    """Two canonical values are the same."""
    if first != second:
        found = first_difference(msgspec.to_builtins(first), msgspec.to_builtins(second))
        raise _Fault(part, found or Difference.at("", first, second))


def _unexcused(part: str, found: list[Difference], changes: tuple[Change, ...]) -> None:
    for difference in found:
        if not excuses_place(changes, difference.path):
            raise _Fault(part, difference)


def _same(part: str, said: Any, again: Any) -> None:
    if (difference := first_difference(said, again)) is not None:
        raise _Fault(part, difference)


def _real(part: str, refusals: Iterable[Change], request: Any) -> None:
    """Every refusal names something that is really in the request."""
    there = paths(msgspec.to_builtins(request))
    for refusal in refusals:
        if refusal.path not in there:
            raise _Fault(part, f"refused {refusal.path}, which is not there")


def _json_reply(status: int, body: bytes) -> HttpReply:
    return HttpReply(status=status, headers=(("content-type", "application/json"),), body=body)


def _dump(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _load(body: bytes) -> Any:
    return msgspec.json.decode(body)
