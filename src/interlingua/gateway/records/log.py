"""The request log: one line for each request, as JSON or for people.

Shape of a JSON line: `at`, `id`, `key`, `team`, `client`, `method`, `path`, `model`, `target`, `stream`, `status`,
`error`, `attempts`, `changes`, `input_tokens`, `output_tokens`, `cache_read_tokens`, `cost_usd`, `first_s`, `total_s`,
`aborted`, `peer`, in this order; what is unknown or nothing is left out. With content also `message`, `request` and
`reply`, and the sentences of the tries.

Rules
- A line holds printable ASCII alone, so nothing that a client or an upstream sent can end it, begin another one or
  steer a terminal.
- What was asked and answered, and sentences that may repeat it, are there with content alone; secrets never are.
- Several workers may write to one pipe or one file: what is written at once ends with a line.
"""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.gateway.records.record import Record
    from interlingua.types.response import Attempt

__all__ = ["Line", "LogForm", "facts", "json_line", "line_of", "log_writer", "text_line", "time_told", "write_lines"]

LogForm: TypeAlias = Literal["json", "text", "off"]
"""How requests are logged, if at all."""


class Line(Protocol):
    """What makes a line of a request."""

    def __call__(self, record: Record, *, content: bool = False) -> str:
        """The line, without its end; with what was asked and answered on demand."""
        ...


_dumps = json.JSONEncoder(separators=(",", ":")).encode
PIPE_BYTES = 4_096
"""What a pipe of Linux takes from one process before another one's turn; POSIX promises 512 everywhere."""
_ALIKE = ("key", "team", "client", "method", "path", "model", "target", "stream", "status", "error")
_LEAST_S, _MOST_S = 1e-4, 1e9
"""Between these, six digits behind the point are what Python writes of the rounded number, but for zeros at the end."""
_PLAIN = re.compile(r"[!#-<>-~]+")
"""Text that needs no quotes between others: printable, without space, `"` and `=`."""
_NAMED = (
    "id", "key", "team", "client", "method", "path", "model", "target", "stream", "status", "error", "attempts",
    "changes", "input_tokens", "output_tokens", "cache_read_tokens", "cost_usd", "first_s", "total_s", "aborted",
    "peer",
)  # fmt: skip


def time_told(at: float) -> str:
    """A time in UTC with milliseconds."""
    return _millisecond_told(round(at * 1_000_000) // 1_000)


@lru_cache(maxsize=64)
def _millisecond_told(at_ms: int) -> str:
    second, rest_ms = divmod(at_ms, 1_000)
    return f"{_second_told(second)}.{rest_ms:03d}Z"


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


def json_line(record: Record, *, content: bool = False) -> str:
    """A request as one JSON object."""
    if content:
        return _dumps(facts(record, content=True))
    alike = _alike(
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
    )
    end = _end(record.aborted, record.peer)
    told = f'{_tries_told(record.attempts)}{_sums(record)},"total_s":{_seconds(record.total_s)}{end}'
    name = f',"id":{encode_basestring_ascii(record.id)}' if record.id else ""
    return f'{{"at":"{time_told(record.at)}"{name},{alike}{told}}}'


@lru_cache(maxsize=1_024)
def _alike(*values: str | bool | int) -> str:
    """What most lines have in common with others: the members from `key` to `error`."""
    named = zip(_ALIKE, values, strict=True)
    return _dumps({name: value for name, value in named if value or name in _COUNTS})[1:-1]


@lru_cache(maxsize=1_024)
def _end(aborted: bool, peer: str) -> str:  # noqa: FBT001 - a key of what is remembered
    told = {"aborted": aborted, "peer": peer}
    members = _dumps({name: value for name, value in told.items() if value})[1:-1]
    return f",{members}" if members else ""


def _tries_told(attempts: tuple[Attempt, ...]) -> str:
    if len(attempts) == 1:
        return f',"attempts":[{_tried(attempts[0])}]'
    return f',"attempts":[{",".join(map(_tried, attempts))}]' if attempts else ""


def _tried(attempt: Attempt) -> str:
    took, error = attempt.duration_s, attempt.error
    told = _try(attempt.model, attempt.outcome, None if error is None else _class_of(error), attempt.status)
    return f"{told}}}" if took is None else f'{told},"duration_s":{_seconds(took)}}}'


def _seconds(value: float) -> str:
    """A number of seconds to the microsecond, as JSON has it."""
    if not _LEAST_S <= value < _MOST_S:
        return repr(round(value, 6))
    told = f"{value:.6f}".rstrip("0")
    return f"{told}0" if told[-1] == "." else told


@lru_cache(maxsize=1_024)
def _try(model: str, outcome: str, error: str | None, status: int | None) -> str:
    """A try as a line has it, but for how long it took."""
    told = {"model": model, "outcome": outcome, "error": error, "status": status}
    return _dumps({name: value for name, value in told.items() if value is not None})[:-1]


def _sums(record: Record) -> str:
    """What was changed, what was used, and when the first content came."""
    told = f',"changes":{record.changes}' if record.changes else ""
    read, written = record.input_tokens, record.output_tokens
    if read is not None:
        told += f',"input_tokens":{read}'
    if written is not None:
        told += f',"output_tokens":{written}'
    if record.cache_read_tokens is not None:
        told += f',"cache_read_tokens":{record.cache_read_tokens}'
    if record.cost_usd is not None:
        told += f',"cost_usd":{record.cost_usd}'
    if record.first_s:
        told += f',"first_s":{_seconds(record.first_s)}'
    return told


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


def line_of(form: LogForm) -> Line:
    """What makes lines of requests."""
    return json_line if form == "json" else text_line


def log_writer(form: LogForm) -> Callable[[list[Record]], None]:
    """What writes requests with their content to stderr, many at a time."""
    line = line_of(form)
    return lambda records: write_lines([line(record, content=True) for record in records])


def write_lines(lines: list[str]) -> None:
    """Write lines to stderr, many at a time."""
    if _is_file(sys.stderr):
        sys.stderr.flush()
        _append(sys.stderr.fileno(), "\n".join([*lines, ""]).encode())
        return
    for piece in _pieces(lines):
        sys.stderr.write(piece)
        sys.stderr.flush()


def _is_file(place: TextIO) -> bool:
    """Whether lines go to a file: it takes any number of them at once, before another process has its turn."""
    try:
        return S_ISREG(os.fstat(place.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):  # somebody has put something else in the place of stderr
        return False


def _append(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _pieces(lines: Iterable[str]) -> Iterable[str]:
    """Lines in pieces that a pipe takes at once, so that those of several workers do not run into one another."""
    piece = ""
    for line in lines:
        if piece and len(piece) + len(line) >= PIPE_BYTES:
            yield piece
            piece = ""
        piece += f"{line}\n"
    if piece:
        yield piece
