"""The request log: one line for each request, as JSON or for people.

Shape of a JSON line: `at`, `id`, `key`, `team`, `client`, `method`, `path`, `model`, `target`, `stream`, `status`,
`error`, `attempts`, `changes`, `input_tokens`, `output_tokens`, `cache_read_tokens`, `cost_usd`, `first_s`, `total_s`,
`aborted`, `peer`, in this order; what is unknown or nothing is left out. With content also `message`, `request` and
`reply`, and the sentences of the tries.

Rules
- A line holds printable ASCII alone, so nothing that a client or an upstream sent can end it, begin another one or
  steer a terminal.
- What was asked and answered, and sentences that may repeat it, are there with content alone; secrets never are.
- Several workers may write to one pipe: what fits into it at once is written at once, and ends with a line.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from interlingua.errors import UsageError
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.gateway.records.record import Record
    from interlingua.types.response import Attempt

__all__ = ["LogForm", "facts", "json_line", "log_writer", "text_line", "time_told"]

LogForm: TypeAlias = Literal["json", "text", "off"]
"""How requests are logged, if at all."""
_dumps = json.JSONEncoder(separators=(",", ":")).encode
_PLAIN_FLOATS = (1e-4, 1e15)
"""Between these, msgspec writes a number as Python does."""
PIPE_BYTES = 4_096
"""What a pipe of Linux takes from one process before another one's turn; POSIX promises 512 everywhere."""
_PLAIN = re.compile(r"[!#-<>-~]+")
"""Text that needs no quotes between others: printable, without space, `"` and `=`."""
_NAMED = (
    "id", "key", "team", "client", "method", "path", "model", "target", "stream", "status", "error", "attempts",
    "changes", "input_tokens", "output_tokens", "cache_read_tokens", "cost_usd", "first_s", "total_s", "aborted",
    "peer",
)  # fmt: skip


def time_told(at: float) -> str:
    """A time in UTC with milliseconds."""
    second, rest_us = divmod(round(at * 1_000_000), 1_000_000)
    return f"{_second_told(second)}.{rest_us // 1_000:03d}Z"


@lru_cache(maxsize=4)
def _second_told(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def facts(record: Record, *, content: bool = False) -> dict[str, Any]:
    """What a line says of a request, as JSON values."""
    told: dict[str, Any] = {"at": time_told(record.at)}
    for name in _NAMED:
        value: Any = _tries(record, content=content) if name == "attempts" else getattr(record, name)
        if value or (value is not None and name in _COUNTS):
            told[name] = round(value, 6) if name in _SECONDS else value
    if content:
        told |= _content(record)
    return told


_SECONDS = ("first_s", "total_s")
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cost_usd", "status", "total_s")


def _tries(record: Record, *, content: bool) -> list[dict[str, Any]]:
    tries: list[dict[str, Any]] = []
    for attempt in record.attempts:
        sentence = attempt.error if content else _class_of(attempt.error)
        told = {"model": attempt.model, "outcome": attempt.outcome, "error": sentence, "status": attempt.status}
        took = None if attempt.duration_s is None else round(attempt.duration_s, 6)
        tries.append({name: value for name, value in (*told.items(), ("duration_s", took)) if value is not None})
    return tries


def _class_of(sentence: str | None) -> str | None:
    """The class in front of an error's sentence; why a target was passed over has none, and is ours."""
    head, colon, _ = (sentence or "").partition(":")
    return head if colon and head.isidentifier() else None


def _content(record: Record) -> dict[str, Any]:
    told: dict[str, Any] = {"message": record.message} if record.message else {}
    if record.content is not None:
        told["request"] = record.content.body.decode(errors="replace")
        told["reply"] = record.content.reply_body.decode(errors="replace")
    return told


class _Try(msgspec.Struct, omit_defaults=True, gc=False):
    """A try, as a line has it."""

    model: str
    outcome: str
    error: str | None = None
    status: int | None = None
    duration_s: float | msgspec.Raw | None = None


class _Line(msgspec.Struct, omit_defaults=True, gc=False):
    """What a line says, in its order: what is at its default is left out, what is always told has none of its kind."""

    at: str
    id: str = ""
    key: str = ""
    team: str = ""
    client: str = ""
    method: str = ""
    path: str = ""
    model: str = ""
    target: str = ""
    stream: bool = False
    status: int | None = None
    error: str = ""
    attempts: tuple[_Try, ...] = ()
    changes: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cost_usd: float | msgspec.Raw | None = None
    first_s: float | msgspec.Raw | None = None
    total_s: float | msgspec.Raw | None = None
    aborted: bool = False
    peer: str = ""


def json_line(record: Record, *, content: bool = False) -> str:
    """A request as one JSON object."""
    if not content:
        with suppress(UsageError):  # half of a surrogate pair
            line = encode(_line(record))
            if line.isascii():
                return line.decode()
    return _dumps(facts(record, content=content))


def _line(record: Record) -> _Line:
    """What `facts` says of a request without content, written many times as fast."""
    first_s = record.first_s
    return _Line(  # in the order of its members: by their names it takes several times as long
        time_told(record.at),
        record.id,
        record.key,
        record.team,
        record.client,
        record.method,
        record.path,
        record.model,
        record.target,
        record.stream,
        record.status,
        record.error,
        tuple([_try(attempt) for attempt in record.attempts]),
        record.changes,
        record.input_tokens,
        record.output_tokens,
        record.cache_read_tokens,
        _number(record.cost_usd),
        _number(round(first_s, 6)) if first_s else None,
        _number(round(record.total_s, 6)),
        record.aborted,
        record.peer,
    )


def _try(attempt: Attempt) -> _Try:
    took, error = attempt.duration_s, attempt.error
    return _Try(
        attempt.model,
        attempt.outcome,
        None if error is None else _class_of(error),
        attempt.status,
        None if took is None else _number(round(took, 6)),
    )


def _number(value: float | None) -> float | msgspec.Raw | None:
    """A number that is written as Python writes it."""
    least, most = _PLAIN_FLOATS
    if value is None or value == 0 or least <= abs(value) < most:
        return value
    return msgspec.Raw(repr(value).encode())


def text_line(record: Record, *, content: bool = False) -> str:
    """A request for people: when, how it ended, who asked what of whom, tokens, cost, times, and its id."""
    told = [
        time_told(record.at),
        str(record.status),
        _quoted(record.method),
        _quoted(record.path),
        *_named("model", record.model),
        *_named("target", record.target),
        *_named("key", record.key),
        *_named("error", record.error),
        *_counted(record),
        f"took={record.total_s:.3f}s",
        *_named("id", record.id),
    ]
    if content:
        told += [pair for name, text in _content(record).items() for pair in _named(name, text)]
    return " ".join(told)


def _counted(record: Record) -> Iterable[str]:
    if len(record.attempts) > 1:
        yield f"attempts={len(record.attempts)}"
    if record.changes:
        yield f"changes={record.changes}"
    if record.input_tokens is not None or record.output_tokens is not None:
        yield f"tokens={_or(record.input_tokens)}+{_or(record.output_tokens)}"
    if record.cost_usd is not None:
        yield f"cost=${record.cost_usd:.6f}"
    if record.first_s is not None:
        yield f"first={record.first_s:.3f}s"
    if record.aborted:
        yield "aborted"


def _or(count: int | None) -> str:
    return "?" if count is None else str(count)


def _named(name: str, text: str) -> tuple[str, ...]:
    return (f"{name}={_quoted(text)}",) if text else ()


def _quoted(text: str) -> str:
    """A text as it is, or as a JSON string where it is not plain."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def log_writer(form: LogForm, *, content: bool = False) -> Callable[[list[Record]], None]:
    """What writes requests to stderr, many at a time."""
    line = json_line if form == "json" else text_line

    def write(records: list[Record]) -> None:
        for piece in _pieces([f"{line(record, content=content)}\n" for record in records]):
            sys.stderr.write(piece)
            sys.stderr.flush()

    return write


def _pieces(lines: Iterable[str]) -> Iterable[str]:
    """Lines in pieces that a pipe takes at once, so that those of several workers do not run into one another."""
    piece = ""
    for line in lines:
        if piece and len(piece) + len(line) > PIPE_BYTES:
            yield piece
            piece = ""
        piece += line
    if piece:
        yield piece
