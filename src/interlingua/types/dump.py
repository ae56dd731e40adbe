"""Canonical JSON: conversations, requests, responses and events as text, to be stored and taken up by any provider.

Shape: one object, `{"interlingua": 1, "kind": "messages" | "request" | "response" | "events" | "run", …}`, and behind
these two the members of the value itself (`messages` and `events` hold a list), so that the pointers of `Change.path`
lead into this very document. Parts and events carry their `type`; None and empty members are left out; members stand in
the order of the fields; bytes are padded base64; sealed state and `extra` are verbatim.

Rules
- New fields are optional, and readers ignore unknown members; a higher version is an error.
- Loss: the handlers of tools, which are code; `Response.raw` and `Response.output`, which are the provider's and the
  caller's own, and so the typed output of a run. `Response.request` is kept, so that a loaded response is a history.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, cast, get_args

import msgspec

from interlingua.errors import DecodeError, UsageError, kind_of
from interlingua.types.content import ToolCall
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.run import Recorded, RunRecord, Step
from interlingua.types.shared import owned_tool
from interlingua.types.tool import OpaqueTool
from interlingua.wire.arguments import are_sound, check_arguments
from interlingua.wire.json import MAX_DEPTH, decode, encode

__all__ = ["VERSION", "Dumpable", "Loaded", "dump", "load"]

VERSION = 1
"""The major version of canonical JSON."""

Dumpable: TypeAlias = Request | Response[Any] | RunRecord | Recorded | Iterable[Message] | Iterable[Event]
"""Values that have a canonical JSON."""
Loaded: TypeAlias = Any
"""The values of `load`: messages or events in a tuple, a `Request`, a `Response`, a `RunRecord`; as the text says."""

_EVENTS = get_args(Event)
_MAX_DEPTH = MAX_DEPTH + 16
"""A value of a body that was as deep as a body may be lies a few levels deeper in here."""


class _Head(msgspec.Struct):
    """The members with which every document begins."""

    interlingua: int
    kind: str


class _Messages(msgspec.Struct):
    messages: tuple[Message, ...]


class _Events(msgspec.Struct):
    events: tuple[Event, ...]


_KINDS: dict[str, type[msgspec.Struct]] = {
    "messages": _Messages,
    "request": Request,
    "response": Response,
    "events": _Events,
    "run": RunRecord,
}


def dump(value: Dumpable) -> str:
    """The canonical JSON of messages, a request, a response, a run or the events of a stream.

    Loss: handlers of tools, `Response.raw` and `Response.output`.
    Raises: UsageError for anything else, and for what JSON cannot say (a NaN, half of a surrogate pair).
    """
    kind, body = _document(value)
    text = encode(body).decode()
    comma = "" if text == "{}" else ","
    return f'{{"interlingua":{VERSION},"kind":"{kind}"{comma}{text[1:]}'


def load(text: str | bytes) -> Loaded:
    """The value that `dump` wrote: a tuple of messages or events, a request, a response, the record of a run.

    Raises: DecodeError with the first bad place, for a text that is no canonical JSON, a kind that is not known here,
    or a later version; LimitExceededError; UsageError for what is no text.
    """
    if not isinstance(text, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise UsageError(f"il.load takes the text that il.dump wrote, not {kind_of(text)}")
    try:
        head: _Head = decode(text, _Head, max_depth=_MAX_DEPTH)
    except DecodeError as error:
        raise DecodeError(
            f"this is no canonical JSON, as il.dump writes it: {error.message}", path=error.path
        ) from None
    if head.interlingua > VERSION:
        raise DecodeError(
            f"this canonical JSON is of version {head.interlingua} and this interlingua reads {VERSION}: upgrade it",
            path="/interlingua",
        )
    if head.kind not in _KINDS:
        raise DecodeError(f"no canonical JSON is of kind {head.kind!r}, only {', '.join(_KINDS)}", path="/kind")
    body: Any = decode(text, _KINDS[head.kind], max_depth=_MAX_DEPTH)
    _check_calls(body, "")
    match body:
        case _Messages(messages=messages):
            return messages
        case _Events(events=events):
            return events
        case _:
            return body


def _check_calls(value: object, path: str) -> None:
    """Look at the arguments of every call below: whoever sends them on takes them for one JSON object.

    Raises: DecodeError with the place.
    """
    if isinstance(value, ToolCall):
        if not are_sound(value.arguments_json) and (fault := check_arguments(value.arguments_json)):
            place = f"{path}/arguments_json"
            raise DecodeError(f"{place}: the arguments of a call are one JSON object ({fault})", path=place)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            _check_calls(getattr(value, name), f"{path}/{name}")
    elif isinstance(value, tuple):
        for place, item in enumerate(cast("tuple[object, ...]", value)):
            _check_calls(item, f"{path}/{place}")


def _document(value: object) -> tuple[str, msgspec.Struct]:
    match value:
        case Request():
            return "request", _without_handlers(value)
        case Response():
            return "response", _without_code(cast("Response[Any]", value))
        case RunRecord():
            return "run", _stored(value)
        case _ if isinstance(record := getattr(value, "record", None), RunRecord):
            return "run", _stored(record)
        case _:
            pass
    items = tuple(cast("Iterable[object]", value)) if isinstance(value, Iterable) else (value,)
    if isinstance(value, Iterable) and all(isinstance(item, Message) for item in items):
        return "messages", _Messages(cast("tuple[Message, ...]", items))
    if isinstance(value, Iterable) and all(isinstance(item, _EVENTS) for item in items):
        return "events", _Events(tuple([_event(item) for item in cast("tuple[Event, ...]", items)]))
    stranger = next((item for item in items if not isinstance(item, Message)), items[0])
    raise UsageError(
        f"il.dump takes messages, a Request, a Response, a run or events, not {type(stranger).__name__}; "
        "one message alone is [message]"
    )


def _stored(record: RunRecord) -> RunRecord:
    steps = tuple([Step(_without_code(step.response), step.results) for step in record.steps])
    return msgspec.structs.replace(record, steps=steps)


def _event(event: Event) -> Event:
    match event:
        case StreamEnd(response=response):
            return StreamEnd(_without_code(response))
        case StreamError(partial=partial) if partial is not None:
            return msgspec.structs.replace(event, partial=_without_code(partial))
        case _:
            return event


def _without_code(response: Response[Any]) -> Response[Any]:
    request = None if response.request is None else _without_handlers(response.request)
    return msgspec.structs.replace(response, request=request, raw_reply=None, output=None)


def _without_handlers(request: Request) -> Request:
    tools = [
        tool if isinstance(tool, OpaqueTool) or tool.handler is None else msgspec.structs.replace(tool, handler=None)
        for tool in map(owned_tool, request.tools)
    ]
    return msgspec.structs.replace(request, tools=tuple(tools))
