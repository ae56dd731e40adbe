"""The request log: one line for each request, as JSON or for people.

Shape of a JSON line: `at`, `id`, `key`, `team`, `client`, `method`, `path`, `model`, `target`, `stream`, `status`,
`error`, `attempts`, `changes`, `input_tokens`, `output_tokens`, `cache_read_tokens`, `cost_usd`, `first_s`, `total_s`,
`aborted`, `peer`, `reason`, in this order; what is unknown or nothing is left out. With content also `message`,
`request` and `reply`, and the sentences of the tries.

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

import msgspec

from interlingua.types.response import error_word
from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.gateway.records.record import Record
    from interlingua.types.response import Attempt

__all__ = ["Line", "LogForm", "facts", "json_line", "line_of", "log_writer", "text_line", "time_told", "write_lines"]

LogForm: TypeAlias = Literal["json", "text", "off"]
"""How requests are logged, if at all."""


class Line(Protocol):
    """The writer of a request's line."""

    def __call__(self, record: Record, *, content: bool = False) -> str:
        """The line, without its end; with what was asked and answered on demand."""
        ...


_dumps = json.JSONEncoder(separators=(",", ":")).encode
PIPE_BYTES = 4_096
"""The bytes that a pipe of Linux takes from one process before another one's turn; POSIX promises 512 everywhere."""
_ALIKE = ("key", "team", "client", "method", "path", "model", "target", "stream", "status", "error")
_LEAST, _MOST = 1e-4, 1e15
"""Between these, msgspec writes a number as Python does."""
_USUAL_S, _MOST_S = 1e-3, 1e9
"""Between these, so it does with whatever seconds are rounded to."""
_PLAIN = re.compile(r"[!#-<>-~]+")
"""Text that needs no quotes between others: printable, without space, `"` and `=`."""
_NAMED = (
    "id", "key", "team", "client", "method", "path", "model", "target", "stream", "status", "error", "attempts",
    "changes", "input_tokens", "output_tokens", "cache_read_tokens", "cost_usd", "first_s", "total_s", "aborted",
    "peer", "reason",
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
    """The members of a request's line, as JSON values."""
    members: dict[str, Any] = {"at": time_told(record.at)}
    for name in _NAMED:
        value: Any = _tries(record, content=content) if name == "attempts" else getattr(record, name)
        if value or (value is not None and name in _COUNTS):
            members[name] = _rounded(value) if name in _SECONDS else value
    if content:
        members |= _content(record)
    return members


_SECONDS = ("first_s", "total_s")
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cost_usd", "status", "total_s")


def _tries(record: Record, *, content: bool) -> list[dict[str, Any]]:
    tries: list[dict[str, Any]] = []
    for attempt in record.attempts:
        sentence = attempt.error if content else error_word(attempt.error)
        entry = {"model": attempt.model, "outcome": attempt.outcome, "error": sentence, "status": attempt.status}
        took = None if attempt.duration_s is None else _rounded(attempt.duration_s)
        tries.append({name: value for name, value in (*entry.items(), ("duration_s", took)) if value is not None})
    return tries


def _content(record: Record) -> dict[str, Any]:
    members: dict[str, Any] = {"message": record.message} if record.message else {}
    if record.content is not None:
        members["request"] = record.content.body.decode(errors="replace")
        members["reply"] = record.content.reply_body.decode(errors="replace")
    return members


class _Try(msgspec.Struct, omit_defaults=True, gc=False):
    """A try, as a line has it."""

    model: str
    outcome: str
    error: str | None = None
    status: int | None = None
    duration_s: float | msgspec.Raw | None = None


class _Rest(msgspec.Struct, omit_defaults=True, gc=False):
    """The members that a line has in common with hardly any other, in their order."""

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
    reason: str = ""


_encode = msgspec.json.Encoder().encode
_BEYOND = b"\xff"
"""Characters beyond ASCII."""


def json_line(record: Record, *, content: bool = False) -> str:
    """A request as one JSON object."""
    if content:
        return _dumps(facts(record, content=True))
    # The members of `facts`, written many times as fast.
    first_s, total_s, attempts = record.first_s, record.total_s, record.attempts
    members = _Rest(  # in the order of its members: by their names it takes several times as long
        (_try(attempts[0]),) if len(attempts) == 1 else tuple([_try(attempt) for attempt in attempts]),
        record.changes,
        record.input_tokens,
        record.output_tokens,
        record.cache_read_tokens,
        _number(record.cost_usd),
        _number(_rounded(first_s)) if first_s else None,
        round(total_s * 1e6) / 1e6 if _USUAL_S <= total_s < _MOST_S else _number(_rounded(total_s)),
        record.aborted,
        record.peer,
        record.reason,
    )
    try:
        rest = _encode(members)
    except UnicodeEncodeError:  # half of a surrogate pair
        rest = _BEYOND
    if not rest.isascii():
        return _dumps(facts(record))
    alike = _alike[
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
    ]
    name = f',"id":{encode_basestring_ascii(record.id)}' if record.id else ""
    return f'{{"at":"{time_told(record.at)}"{name},{alike},{rest[1:].decode()}'


def _write_alike(values: tuple[str | bool | int, ...]) -> str:
    """The members from `key` to `error`, which most lines have in common with others."""
    named = zip(_ALIKE, values, strict=True)
    return _dumps({name: value for name, value in named if value or name in _COUNTS})[1:-1]


_alike = ByteCache(1_000_000, _write_alike)


def _try(attempt: Attempt) -> _Try:
    took, error = attempt.duration_s, attempt.error
    if took is None:
        seconds = None
    elif _USUAL_S <= took < _MOST_S:
        seconds = round(took * 1e6) / 1e6
    else:
        seconds = _number(_rounded(took))
    return _Try(attempt.model, attempt.outcome, None if error is None else error_word(error), attempt.status, seconds)


def _rounded(seconds: float) -> float:
    """Seconds to the microsecond; what is longer than a life has none."""
    return round(seconds * 1e6) / 1e6 if seconds < _MOST_S else seconds


def _number(value: float | None) -> float | msgspec.Raw | None:
    """A number that is written as Python writes it."""
    if value is None or value == 0 or _LEAST <= value < _MOST:
        return value
    return msgspec.Raw(repr(value).encode())


def text_line(record: Record, *, content: bool = False) -> str:
    """A request for people: when, how it ended, who asked what of whom, tokens, cost, times, and its id."""
    pairs = [
        time_told(record.at),
        str(record.status),
        _quoted(record.method or "-"),
        _quoted(record.path or "-"),
        *_named("model", record.model),
        *_named("target", record.target),
        *_named("key", record.key),
        *_named("error", record.error),
        *_named("reason", record.reason),
        *_counted(record),
        f"took={record.total_s:.3f}s",
        *_named("id", record.id),
    ]
    if content:
        pairs += [pair for name, text in _content(record).items() for pair in _named(name, text)]
    return " ".join(pairs)


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
    """The writer of lines of requests."""
    return json_line if form == "json" else text_line


def log_writer(form: LogForm) -> Callable[[list[Record]], None]:
    """The writer of requests with their content to stderr, many at a time."""
    line = line_of(form)
    return lambda records: write_lines([line(record, content=True) for record in records])


def write_lines(lines: list[str]) -> None:
    """Write lines to stderr, many at a time."""
    if _is_file(sys.stderr):
        sys.stderr.flush()
        file, data = sys.stderr.fileno(), "\n".join([*lines, ""]).encode()
        if _End.is_torn:
            data = b"\n" + data
        while data:
            data = data[os.write(file, data) :]
            _End.is_torn = bool(data)
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


class _End:
    """The end of the file, as far as it is known."""

    is_torn = False
    """Whether a line was not written whole, for a disk was full: the next one begins anew."""


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
