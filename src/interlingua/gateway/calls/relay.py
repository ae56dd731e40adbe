"""A body that goes out as it came: to a target of the client's own dialect, observed on its way back.

Strategy: the relay is another way to make a try, so it has its place in the same chain, with retries and health. The
reply is read beside being passed on: whole by the dialect's decoder, a stream frame by frame.

Rules
- Of the body only the model's name is changed; what the caller wrote as text stays that text. Of the headers only those
  that belong to the body's dialect go along, and never a credential of the client's.
- A member that a target is known not to take is left out, with an entry. A target that would need the body said in
  another way, and a history with turns that were translated, are translated instead.
- Broken arguments fail the request. Whether they are broken is known at the end alone, so while a call is open, frames
  that add nothing to it are held back, the finish among them.
- A frame is passed on whole or not at all, so that an error can follow any of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from msgspec.structs import force_setattr

from interlingua.client.call.attempt import answered, fault
from interlingua.client.call.live import Live
from interlingua.client.meter import count
from interlingua.client.price import cost_of
from interlingua.dialects._contract import DecodeContext, Encoded
from interlingua.dialects.table import DIALECTS, STREAM_TYPES
from interlingua.errors import DecodeError, LimitExceededError, UnsupportedError
from interlingua.gateway.calls.head import TOOL_MARKS
from interlingua.gateway.calls.reading import is_plain, known_name, pieces_of
from interlingua.types.change import Changes
from interlingua.types.event import BlockEnd, BlockStart, StreamEnd, StreamError, TextDelta, UsageUpdate
from interlingua.wire.cache import ByteCache
from interlingua.wire.json import MAX_EVENT_BYTES

if TYPE_CHECKING:
    from interlingua.client.call.job import Job, Lane
    from interlingua.dialects._contract import Quirks, StreamDecoder
    from interlingua.gateway.calls.asked import Asked
    from interlingua.gateway.calls.head import Head
    from interlingua.gateway.calls.plan import Plan
    from interlingua.gateway.http import GatewayRequest
    from interlingua.registry.endpoint import Endpoint
    from interlingua.types.change import Change
    from interlingua.types.event import Event
    from interlingua.types.response import Response
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["BODY_TYPES", "Minded", "RelayedStream", "kept_headers", "minded_by", "outgoing", "overheard", "relayed"]

_PATHS = {"openai-chat": "/chat/completions", "openai-responses": "/responses", "anthropic": "/messages"}
_HEADERS: dict[str, frozenset[str]] = {
    "anthropic": frozenset({"anthropic-beta", "anthropic-version"}),
    "openai-chat": frozenset({"openai-beta"}),
    "openai-responses": frozenset({"openai-beta"}),
}
"""Headers of a request that belong to its body."""
_DEFAULTS: dict[str, Headers] = {"anthropic": (("anthropic-version", "2023-06-01"),)}
_KEPT = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after")
"""How headers of a reply begin that are passed on."""
BODY_TYPES: dict[str, Headers] = {
    **dict.fromkeys(DIALECTS, (("content-type", "application/json"),)),
    "ollama": (("content-type", "application/json; charset=utf-8"),),
}
"""What a whole reply is that was read: SDKs go by its type, and some servers say another one, or none."""
_ENDINGS = (b"\n\n", b"\r\n\r\n", b"\r\r")
"""What ends a server-sent event."""
_LONGEST_ENDING = max(map(len, _ENDINGS))
_LONG_BYTES = 65_536
"""A frame is long of which so much has come without its end."""
_BETAS = frozenset({"container", "context_management", "mcp_servers", "output_format", "speed"})
"""Members of a Messages request that a server only knows together with a beta feature."""


class _Trigger(NamedTuple):
    """What makes a body one that a server of that kind takes only in other words."""

    quirk: str
    """The flag of the server."""
    harmless: frozenset[object]
    """Its values that change nothing."""
    member: str
    """The member that is concerned."""
    mark: bytes = b""
    """What stands in it then."""


_FOREIGN = (_Trigger("effort_field", frozenset({"as_read", "reasoning.effort"}), "reasoning"),)
"""Words that some servers of a dialect have taught their clients, and others do not know."""
_TRIGGERS = (
    *_FOREIGN,
    _Trigger("max_tokens_field", frozenset({"max_completion_tokens"}), "max_completion_tokens"),
    _Trigger("seed_field", frozenset({"seed"}), "seed"),
    _Trigger("effort_field", frozenset({"as_read", "reasoning_effort"}), "reasoning_effort"),
    _Trigger("system_role", frozenset({"as_read"}), "messages", b'"developer"'),
    _Trigger("reasoning_echo", frozenset({"as_given"}), "messages", b'"assistant"'),
    _Trigger("reasoning_field", frozenset({"as_read"}), "messages", b'"reasoning'),
    _Trigger("call_id_rule", frozenset({"any", "max40"}), "messages", b'"tool_call_id"'),
    _Trigger("result_name", frozenset({False}), "messages", b'"tool_call_id"'),
    _Trigger("output_schema", frozenset({"json_schema"}), "response_format"),
    _Trigger("json_mode", frozenset({True}), "response_format"),
    _Trigger("output_schema_with_tools", frozenset({True}), "response_format"),
    _Trigger("tool_choice", frozenset({"full"}), "tool_choice"),
    _Trigger("allowed_tools", frozenset({True}), "tool_choice", b'"allowed_tools"'),
    _Trigger("strict_schemas", frozenset({True}), "tools", b'"strict"'),
    _Trigger("freeform_tools", frozenset({True}), "tools", b'"custom"'),
    _Trigger("parallel_explicit", frozenset({False}), "tools"),
    _Trigger("parameters_required", frozenset({False}), "tools"),
    _Trigger("cache_marks", frozenset({"cache_control"}), "messages", b'"cache_control"'),
    _Trigger("document_part", frozenset({"file"}), "messages", b'"file"'),
    _Trigger("call_ids_back", frozenset({True}), "contents", b'"function'),
)
"""Flags of servers that are no reference of their dialect, and what in a body they concern."""


def relayed(asked: Asked, plan: Plan) -> tuple[Lane, ...]:
    """The targets to which the body can go out as it came."""
    head, own = asked.head, plan.own
    if not own or head.json_array or (asked.keeping is not None and asked.keeping.is_changed):
        return ()
    known = head.relayed
    if known is None or known[0] is not plan:
        found = () if head.is_ours else tuple([lane for lane, minded in own if _takes(head, minded)])
        known = head.relayed = plan, plan.lanes if len(found) == len(plan.lanes) else found
    return known[1]


def _takes(head: Head, minded: Minded) -> bool:
    """Whether a target takes the body as it is."""
    offered = head.offered
    if not minded.members.isdisjoint(head.members):
        return False
    if offered is not None and not minded.tool_marks.isdisjoint(offered.marks):
        return False
    return not any([head.has_mark(member, mark) for member, mark in minded.marks])


class Minded(NamedTuple):
    """What a server wants in other words."""

    members: frozenset[str]
    """Members that it must not get."""
    tool_marks: frozenset[bytes]
    """What must not stand among tools."""
    marks: tuple[tuple[str, bytes], ...]
    """What must not stand in other members."""


@lru_cache(maxsize=256)
def minded_by(quirks: Quirks) -> Minded:
    """What has to be looked for: a reference server of its dialect takes whatever the dialect can say."""
    is_reference = quirks.allowed_tools and quirks.freeform_tools and quirks.call_ids_back
    looked_for = _FOREIGN if is_reference else _TRIGGERS
    found = [one for one in looked_for if getattr(quirks, one.quirk) not in one.harmless]
    return Minded(
        quirks.unsupported.union([one.member for one in found if not one.mark]),
        frozenset([one.mark for one in found if one.mark in TOOL_MARKS]),
        tuple([(one.member, one.mark) for one in found if one.mark and one.mark not in TOOL_MARKS]),
    )


def outgoing(asked: Asked, lane: Lane, *, strict: bool) -> Encoded:
    """The request for one target, in the client's own words.

    Raises: UnsupportedError under `strict` for a member that the target does not take.
    """
    name, endpoint = asked.dialect.name, lane.endpoint
    left_out, changes = (), ()
    if name == "anthropic" and not _BETAS.isdisjoint(asked.head.members) and "*" not in endpoint.target.quirks.betas:
        left_out = tuple([member for member in asked.head.members if member in _BETAS])
        changes = _left_out(left_out, endpoint, strict=strict)
    return Encoded(
        path=_PATHS[name] if not asked.http.query and name in _PATHS else _path(asked, endpoint.model),
        body=_body(asked, "" if name == "google" else endpoint.model, left_out),
        headers=_headers(asked.http, name, left_out),
        changes=changes,
    )


def _left_out(members: tuple[str, ...], endpoint: Endpoint, *, strict: bool) -> tuple[Change, ...]:
    """That members of a Messages request are left out, since a target does not take them."""
    changes = Changes("anthropic", "encode_request")
    for member in members:
        changes.add("parameter_unsupported", f"/extra/anthropic/{member}", f"{endpoint.spec} does not take it")
    done = changes.done()
    if strict:
        told = "; ".join(str(change) for change in done)
        raise UnsupportedError(f"{endpoint.spec} cannot take the request as it is (strict): {told}", changes=done)
    return done


def _body(asked: Asked, model: str, left_out: tuple[str, ...]) -> bytes:
    """The body with the target's own name of the model."""
    body, head = asked.http.body, asked.head
    if not left_out and not model:
        return body
    if head.placed is not None and not left_out:
        at, known = head.placed
        at = at if at > 0 else len(body) + at
        return body[:at] + known_name(model) + body[at + len(known) :]
    members = {name: text for name, text in head.members.items() if name not in left_out}
    known = members.get("model")
    if known is None:
        return b"".join(pieces_of(members)) if left_out else body
    if not left_out and is_plain(body, "model"):
        place = body.index(bytes(known), body.index(b'"model"') + len(b'"model"'))
        return body[:place] + known_name(model) + body[place + len(bytes(known)) :]
    return b"".join(pieces_of({**members, "model": known_name(model) if model else known}))


def _path(asked: Asked, model: str) -> str:
    name, http = asked.dialect.name, asked.http
    if name == "google":
        known = model.startswith(("models/", "tunedModels/", "publishers/"))
        told = quote(model if known else f"models/{model}", safe="/@-._~")
        return f"/{told}:streamGenerateContent?alt=sse" if asked.head.stream else f"/{told}:generateContent"
    if name == "ollama":
        return http.path
    return f"{_PATHS[name]}?beta=true" if "beta=true" in http.query.split("&") else _PATHS[name]


def _headers(http: GatewayRequest, name: str, left_out: tuple[str, ...]) -> Headers:
    carried = http.seen.carried
    if carried is None:
        wanted = _HEADERS.get(name, frozenset())
        own = [pair for pair in http.headers if pair[0] in wanted]
        carried = http.seen.carried = (*_DEFAULTS.get(name, ()), *own)
    if left_out:  # a feature and its member travel together or not at all
        return tuple([pair for pair in carried if pair[0] != "anthropic-beta"])
    return carried


def overheard(job: Job, lane: Lane, encoded: Encoded, reply: HttpReply) -> Response[Any]:
    """The answer in a reply that goes out as it came, counted and with its price; what the head says stays in the head.

    Raises: as `answered`.
    """
    if 200 <= reply.status < 300:
        context = DecodeContext(target=lane.endpoint.target, undo=encoded.undo)
        try:
            response = lane.dialect.decode_response(reply, context)
        except DecodeError:
            return answered(job, lane, encoded, reply)
        if fault(response) is None:
            if encoded.changes:
                force_setattr(response, "changes", encoded.changes + response.changes)
            force_setattr(response, "cost_usd", cost_of(job, lane, response))
            count(response)
            return response
    return answered(job, lane, encoded, reply)


def kept_headers(headers: Headers) -> Headers:
    """The headers of a reply that are the client's business."""
    return tuple([pair for pair in headers if _is_kept[pair[0]]])


def _is_passed_on(name: str) -> bool:
    return name.startswith(_KEPT)


_is_kept = ByteCache(200_000, _is_passed_on)
"""Whether headers are passed on, by their names; servers have the same ones each time."""


# Streams


class RelayedStream(Live):
    """A stream that is passed on as it comes, and read beside that."""

    __slots__ = ("_held", "_long", "_open", "_passed", "_separator", "_tail", "is_done", "last_frame")

    def __init__(self, lane: Lane, encoded: Encoded, headers: Headers, decoder: StreamDecoder | None) -> None:
        """A stream of which nothing has come."""
        super().__init__(lane, encoded, headers, decoder)
        self._separator = b"\n" if lane.dialect.name in STREAM_TYPES else b""
        self._tail = b""
        self._long = bytearray()
        self._passed: list[bytes] = []
        self._held: list[bytes] = []
        self._open: set[tuple[int, int]] = set()
        self.last_frame: bytes = b""
        """The last frame that was passed on."""
        self.is_done: bool = False
        """Whether the marker came that ends a stream of Chat."""

    def taken(self) -> bytes:
        """What came since the last time and may be passed on."""
        data = b"".join(self._passed)
        self._passed.clear()
        return data

    def fed(self, piece: bytes) -> list[Event]:
        """The events of the frames that a piece completes, or those of the end."""
        if not piece:
            return self._ending()
        if len(self._tail) >= _LONG_BYTES and not (piece := self._grown(piece)):
            return []
        data = self._tail + piece if self._tail else piece
        separator = self._separator = self._separator or _separator_in(data)
        *frames, self._tail = data.split(separator) if separator else (data,)
        if len(self._tail) > MAX_EVENT_BYTES:
            raise LimitExceededError(f"{self.lane.endpoint.spec} sent an event of more than {MAX_EVENT_BYTES} bytes")
        events: list[Event] = []
        for frame in frames:
            events += self._frame(frame + self._separator)
        return events

    def _grown(self, piece: bytes) -> bytes:
        """All of a long frame, once it has ended: a picture comes in hundreds of pieces, and is copied once."""
        long = self._long
        long += piece if long else self._tail + piece
        recent = bytes(long[-len(piece) - _LONGEST_ENDING :])
        ends = self._separator in recent if self._separator else bool(_separator_in(recent))
        if not ends and len(long) <= MAX_EVENT_BYTES:
            return b""
        self._tail, self._long = b"", bytearray()
        return bytes(long)

    def _frame(self, frame: bytes) -> list[Event]:
        events = super().fed(frame)
        last = events[-1] if events else None
        if type(last) is TextDelta and len(events) == 1 and not (self._open or self._held):
            self._passed.append(frame)
            self.last_frame = frame
            return events
        if isinstance(last, StreamError):
            return events  # told anew, as the last thing that the client hears
        self.is_done = self.is_done or frame.startswith((b"data: [DONE]", b"data:[DONE]"))
        if isinstance(last, StreamEnd):
            self._settle(last, frame)
        elif self._grows(events):
            self._passed += [*self._held, frame]
            self._held.clear()
            self.last_frame = frame
        else:
            self._held.append(frame)
        return events

    def _grows(self, events: list[Event]) -> bool:
        """Whether a frame may be passed on: no call is open after it, or it adds to one and is not the finish."""
        for event in events:
            if type(event) is BlockStart and event.block == "tool_call":
                self._open.add((event.choice, event.index))
            elif type(event) is BlockEnd:
                self._open.discard((event.choice, event.index))
        return not self._open or not (self.decoder is None or self.decoder.terminal or not _adds(events))

    def _ending(self) -> list[Event]:
        tail = bytes(self._long) or self._tail
        self._tail, self._long = b"", bytearray()
        events = [] if not tail else super().fed(tail)
        events += super().fed(b"")
        if events and isinstance(events[-1], StreamEnd):
            self._settle(events[-1], tail + self._separator if tail else b"")
        return events

    def _settle(self, end: StreamEnd, frame: bytes) -> None:
        """Pass on what was held back, unless the answer is broken: then an error takes its place."""
        if fault(end.response) is None:
            self._passed += [*self._held, frame]
        self._held.clear()


def _separator_in(data: bytes) -> bytes:
    """What ends the first frame; empty while none has ended."""
    found = [(place, ending) for ending in _ENDINGS if (place := data.find(ending)) >= 0]
    return min(found)[1] if found else b""


def _adds(events: list[Event]) -> bool:
    return any(type(event) is not UsageUpdate for event in events)
