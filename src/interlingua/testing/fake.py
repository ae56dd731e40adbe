"""A scripted model: it answers what a test tells it to, and remembers what it was asked.

Shape of an answer: a text; a `tool_call(…)`; a list of texts, calls and parts for one turn that holds them all; a
`Response`; an error to fail with; the events of a stream; or a function that takes the request and gives one of these.

Rules
- A list of answers is used up one by one; a single answer that is no list answers every time.
- A call without an id of its own becomes `call_<n>`, n counting on from the calls in the request's history.
- Token counts are made up: a quarter of the characters of the JSON.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, cast, get_args

import msgspec

from interlingua.dialects._contract import DecodedRequest
from interlingua.errors import ConfigError, Error
from interlingua.providers.fake import estimated_tokens
from interlingua.stream.calls import settle_finish
from interlingua.stream.unfold import unfold
from interlingua.transport.inprocess import Answer, AsyncAdapter, InProcessTransport
from interlingua.transport.override import Override
from interlingua.types.content import Part, TextPart, ToolCall
from interlingua.types.event import Event, TextDelta, ThinkingDelta, ToolCallDelta
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode

__all__ = ["FakeAnswer", "FakeModel", "in_pieces", "tool_call"]

FakeAnswer: TypeAlias = (
    "str | Part | Response[Any] | Error | Sequence[str | Part] | Sequence[Event] | Callable[[Request], FakeAnswer]"
)
"""Answers of a fake."""

PARTS = get_args(Part)
EVENTS = get_args(Event)


def tool_call(name: str, /, *, call_id: str = "", **arguments: Any) -> ToolCall:
    """A call of the tool `name` with these arguments; without `call_id` the fake numbers it."""
    return ToolCall(call_id, name, encode(arguments).decode())


class FakeModel:
    """Answers from a script."""

    def __init__(self, answers: FakeAnswer | Sequence[FakeAnswer] = ()) -> None:
        """A fake with a list of answers, one for each call, or with one answer for every call."""
        self.requests: list[Request] = []
        """The requests to it, oldest first, in canonical form."""
        self.models: list[str] = []
        """The targets that it stood in for, in the same order."""
        self._lock = threading.Lock()
        is_script = isinstance(answers, list | tuple)
        self._always = None if is_script else cast("FakeAnswer", answers)
        self._script = list(cast("Sequence[FakeAnswer]", answers)) if is_script else []
        self._transport = InProcessTransport(self.answer)

    def add(self, *answers: FakeAnswer) -> FakeModel:
        """This fake, with more answers at the end of its script."""
        self._script.extend(answers)
        return self

    @property
    def left(self) -> int:
        """How many answers of the script were not asked for."""
        return len(self._script)

    @property
    def last_request(self) -> Request:
        """The latest request.

        Raises: ConfigError when nothing was asked yet.
        """
        if not self.requests:
            raise ConfigError("the fake was not asked anything yet")
        return self.requests[-1]

    def answer(self, decoded: DecodedRequest, request: HttpRequest) -> Answer:
        """The next answer, as a transport gives it.

        Raises: ConfigError when the script is used up; what the script says.
        """
        with self._lock:
            self.requests.append(decoded.request)
            self.models.append(request.target or decoded.model)
            answer = self._next()
        made = _answer(answer, decoded.request, decoded.model)
        if isinstance(made, Response) and decoded.stream:
            return in_pieces(unfold(made))
        return made

    def _next(self) -> FakeAnswer:
        if self._script:
            return self._script.pop(0)
        if self._always is not None:
            return self._always
        latest = self.requests[-1].messages[-1:]
        text = latest[0].text[:80] if latest else ""
        raise ConfigError(f"the fake has no answer for call {len(self.requests)} ({text!r}): give its script one more")

    def override(self) -> Override:
        """The override that puts this fake in the place of every model."""
        awaited = AsyncAdapter(self._transport)
        return Override(lambda _: self._transport, lambda _: awaited, answers=True)


def _answer(answer: FakeAnswer, request: Request, model: str) -> Answer:
    """The answer of a script as a transport gives it.

    Raises: ConfigError for what is no answer.
    """
    match answer:
        case Response() | Error():
            return cast("Answer", answer)
        case str():
            return _response([TextPart(answer)], request, model)
        case list() | tuple():
            return _turn(cast("list[object]", answer), request, model)
        case _ if isinstance(answer, PARTS):
            return _response([_part(answer)], request, model)
        case _ if callable(answer):
            return _answer(answer(request), request, model)
        case _:
            raise ConfigError(
                f"a fake cannot answer with {type(answer).__name__}; it takes texts, parts, calls, errors"
            )


def _turn(items: Sequence[object], request: Request, model: str) -> Answer:
    """The events of a stream as they are, or one turn of texts, calls and parts."""
    if items and all(isinstance(item, EVENTS) for item in items):
        return cast("Sequence[Event]", items)
    return _response([_part(item) for item in items], request, model)


def _part(item: object) -> Part:
    if isinstance(item, PARTS):
        return cast("Part", item)
    if isinstance(item, str):
        return TextPart(item)
    raise ConfigError(f"a fake's turn holds texts, calls and parts, not {type(item).__name__}")


def _response(parts: list[Part], request: Request, model: str) -> Response[Any]:
    first = sum(len(message.tool_calls) for message in request.messages)
    numbered = tuple(_numbered(parts, first))
    usage = Usage(input_tokens=estimated_tokens(request.messages), output_tokens=estimated_tokens(numbered))
    return Response(
        parts=numbered, finish_reason=settle_finish("stop", numbered), usage=usage, model=model, wire_model=model
    )


def _numbered(parts: Iterable[Part], number: int) -> Iterator[Part]:
    """The parts, every call with an id."""
    for part in parts:
        if isinstance(part, ToolCall):
            yield part if part.id else msgspec.structs.replace(part, id=f"call_{number}")
            number += 1
        else:
            yield part


def in_pieces(events: Iterable[Event]) -> Iterator[Event]:
    """A stream with its deltas cut small, as a model would send them: word by word."""
    for event in events:
        match event:
            case TextDelta(text=text) | ThinkingDelta(text=text):
                yield from [msgspec.structs.replace(event, text=piece) for piece in _words(text)]
            case ToolCallDelta(arguments=text):
                yield from [msgspec.structs.replace(event, arguments=piece) for piece in _words(text)]
            case _:
                yield event


def _words(text: str) -> list[str]:
    """The words of a text, each with the space after it."""
    pieces = text.split(" ")
    return [f"{piece} " for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
