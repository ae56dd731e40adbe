"""Cassettes: answers recorded once, in canonical form, and replayed through whatever dialect asks.

Shape of a tape: one JSON file, `{"interlingua": 1, "kind": "cassette", "exchanges": [{"model", "request", "answer"}]}`,
indented, so that a change of it can be read as a diff. An answer is a canonical response, or an error with its facts.

Rules
- `once` (the default) records when the file is not there, and replays when it is; `INTERLINGUA_CASSETTE` decides
  otherwise: `record` writes the tape anew, `replay` never reaches a provider, `none` leaves the tape alone.
- A request is found by what it asks: system text, conversation, tools, choice, schema. Knobs and the model's name do
  not count, nor do call ids, sealed state and members of one dialect only: so a tape replays through any dialect.
- Every recorded answer is given once, in order. A request that is not on the tape is a `TapeMissError` that shows the
  nearest one that is.
- No header is recorded; what looks like a credential is replaced by `***`, and `scrub` may replace more.
- The tape is written when the block ends well.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from interlingua.dialects._contract import DecodeContext, DecodedRequest, DecodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.errors import ConfigError, Error, IncompleteStreamError, redact
from interlingua.stream.fold import error_of
from interlingua.testing.facts import differences
from interlingua.transport.base import AsyncReply, AsyncTransport, Reply, Timeouts, Transport
from interlingua.transport.inprocess import Answer, AsyncAdapter, InProcessTransport
from interlingua.transport.override import Override, overriding
from interlingua.types.dump import dump, load
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import Headers, HttpReply, HttpRequest, header

__all__ = ["Mode", "Scrub", "Tape", "TapeMissError", "cassette", "request_members"]

Mode: TypeAlias = Literal["once", "record", "replay", "none"]
"""The mode of a cassette."""
Scrub: TypeAlias = Callable[[str], str]
"""Takes secrets out of a text."""

VARIABLE = "INTERLINGUA_CASSETTE"
"""The environment variable that decides over the mode."""
ASKED = ("system", "messages", "tools", "tool_choice", "output_schema", "json_mode")
"""The members by which a recorded request is matched."""
NOT_ASKED = frozenset({"extra", "sealed", "cache", "strict", "metadata", "annotations"})
"""The parts of them that do not count."""
SEALED = frozenset({"sealed", "data"})
"""Members that are kept byte for byte: sealed state and media."""


class TapeMissError(ConfigError):
    """A request that is not on the tape."""


@contextmanager
def cassette(path: str | os.PathLike[str], mode: Mode | None = None, *, scrub: Scrub | None = None) -> Generator[Tape]:
    """The tape that answers every model, or that listens to them, until the block ends.

    Raises: ConfigError for an unknown mode, and for a tape that is missing or cannot be read; TapeMissError, at the
    caller, for a request that is not on the tape.
    """
    place = Path(path)
    chosen = _mode(place, mode)
    tape = Tape(place, scrub)
    if chosen == "none":
        yield tape
        return
    if chosen == "replay":
        tape.read()
    with overriding(tape.player() if chosen == "replay" else tape.recorder()):
        yield tape
    if chosen == "record" and tape.keep:
        tape.write()


def _mode(path: Path, mode: Mode | None) -> Literal["record", "replay", "none"]:
    chosen = mode or os.environ.get(VARIABLE) or "once"
    if chosen == "once":
        return "replay" if path.is_file() else "record"
    if chosen not in ("record", "replay", "none"):
        raise ConfigError(f"{VARIABLE}={chosen}: no such cassette mode (expected record, replay, once or none)")
    return chosen


class Tape:
    """The exchanges of one cassette."""

    def __init__(self, path: Path, scrub: Scrub | None = None) -> None:
        """An empty tape for the file at `path`."""
        self.path = path
        """Where it is kept."""
        self.exchanges: list[dict[str, Any]] = []
        """The exchanges on it, as plain JSON values."""
        self.keep = True
        """Whether a recording is written at the end."""
        self._scrub = scrub
        self._played: set[int] = set()
        self._lock = threading.Lock()

    def read(self) -> None:
        """Read the file.

        Raises: ConfigError when it is missing or is no tape.
        """
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            self.exchanges = document["exchanges"]
        except FileNotFoundError:
            raise ConfigError(f"no tape at {self.path}; record it with {VARIABLE}=record") from None
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"{self.path} is no tape: {error}; record it anew with {VARIABLE}=record") from None

    def write(self) -> None:
        """Write the file, whole or not at all."""
        document = {"interlingua": 1, "kind": "cassette", "exchanges": self.exchanges}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f"{self.path.name}.draft")
        draft.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        draft.replace(self.path)

    # Replaying

    def player(self) -> Override:
        """The override that answers from the tape."""
        transport = InProcessTransport(self.answer)
        awaited = AsyncAdapter(transport)
        return Override(lambda _: transport, lambda _: awaited, answers=True)

    def answer(self, decoded: DecodedRequest, request: HttpRequest) -> Answer:
        """The recorded answer to a request.

        Raises: TapeMissError.
        """
        expected = request_members(self._clean(_plain(decoded.request)))
        with self._lock:
            for number, exchange in enumerate(self.exchanges):
                if number not in self._played and request_members(exchange["request"]) == expected:
                    self._played.add(number)
                    return _answer_of(exchange["answer"])
            raise TapeMissError(self._miss(expected, request))

    def _miss(self, expected: dict[str, Any], request: HttpRequest) -> str:
        candidates = [
            (differences(request_members(exchange["request"]), expected), number)
            for number, exchange in enumerate(self.exchanges)
        ]
        who = request.target or "a model"
        hint = f"record it anew with {VARIABLE}=record"
        if not candidates:
            return f"{self.path} is empty, and {who} was asked something; {hint}"
        nearest, number = min(candidates, key=lambda pair: len(pair[0]))
        if not nearest:
            return f"{self.path}: {who} was asked the same as in exchange {number} once more than was recorded; {hint}"
        return f"{self.path} has no such request to {who}; the nearest is exchange {number}, where {nearest[0]}; {hint}"

    # Recording

    def recorder(self) -> Override:
        """The override that lets everything through and listens."""
        return Override(lambda inner: _Recorder(inner, self), lambda inner: _AsyncRecorder(inner, self))

    def record(self, request: HttpRequest, reply: HttpReply) -> None:
        """Put one exchange on the tape.

        Raises: ConfigError for a request that names no dialect.
        """
        if request.dialect is None:
            raise ConfigError("a cassette cannot record a request that names no dialect")
        dialect = get_dialect(request.dialect)
        decoded = dialect.decode_request(request, DecodeOptions())
        exchange = {
            "model": request.target or decoded.model,
            "request": _plain(decoded.request),
            "answer": _answer_from(request, reply, stream=decoded.stream),
        }
        with self._lock:
            self.exchanges.append(cast("dict[str, Any]", self._clean(exchange)))

    def _clean(self, value: Any) -> Any:
        """`value` without secrets in its texts."""
        match value:
            case str():
                text = redact(value)
                return self._scrub(text) if self._scrub else text
            case dict():
                members = cast("dict[str, Any]", value)
                return {name: item if name in SEALED else self._clean(item) for name, item in members.items()}
            case list():
                return [self._clean(item) for item in cast("list[Any]", value)]
            case _:
                return value


def request_members(request: dict[str, Any]) -> dict[str, Any]:
    """The members by which a request is matched: those that every dialect carries, call ids by their order."""
    numbers: dict[str, str] = {}
    return {name: _essence(request[name], numbers) for name in ASKED if name in request}


def _essence(value: Any, numbers: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_essence(item, numbers) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    members = {name: item for name, item in cast("dict[str, Any]", value).items() if name not in NOT_ASKED}
    if "arguments_json" in members:
        members["arguments_json"] = json.loads(members["arguments_json"])
    for name in ("id", "call_id"):
        if isinstance(members.get(name), str) and members.get("type") in (
            "tool_call",
            "tool_result",
            "broken_tool_call",
        ):
            members[name] = numbers.setdefault(members[name], f"call {len(numbers)}")
    return {name: item if name == "arguments_json" else _essence(item, numbers) for name, item in members.items()}


def _plain(value: Request | Response[Any]) -> dict[str, Any]:
    """Canonical JSON as a plain value, without its head."""
    document = json.loads(dump(value))
    return {name: item for name, item in document.items() if name not in ("interlingua", "kind")}


def _answer_from(request: HttpRequest, reply: HttpReply, *, stream: bool) -> dict[str, Any]:
    """The canonical form of what came back."""
    dialect = get_dialect(str(request.dialect))
    context = DecodeContext()
    if reply.status >= 400:
        return _error_facts(dialect.decode_error(reply, context))
    if stream and "json" not in (header(reply.headers, "content-type") or "").partition(";")[0].split("/"):
        decoder = dialect.stream_decoder(context)
        return _ended([*decoder.feed(reply.body), *decoder.close()])
    try:
        return {"response": _plain(dialect.decode_response(reply, context))}
    except Error as error:  # an error that a 200 hides is an answer, too
        return _error_facts(error)


def _ended(events: list[Event]) -> dict[str, Any]:
    match events[-1]:
        case StreamEnd(response=response):
            return {"response": _plain(response)}
        case StreamError() as end:
            return _error_facts(error_of(end))
        case _:
            return _error_facts(IncompleteStreamError("the stream ended before its end"))


def _error_facts(error: Error) -> dict[str, Any]:
    facts: dict[str, Any] = {"error": type(error).__name__, "message": error.message}
    fields = {name: getattr(error, name) for name in ("status", "code", "retry_after_s")}
    facts.update({name: value for name, value in fields.items() if value is not None})
    if isinstance(error, IncompleteStreamError) and error.partial is not None:
        facts["partial"] = _plain(error.partial)
    return facts


def _answer_of(answer: dict[str, Any]) -> Answer:
    """The answer that a tape holds."""
    if "response" in answer:
        return _response_of(answer["response"])
    partial = _response_of(answer["partial"]) if "partial" in answer else None
    fields = {name: answer.get(name) for name in ("status", "code", "retry_after_s")}
    return error_of(StreamError(answer["error"], answer["message"], partial=partial, **fields))


def _response_of(plain: dict[str, Any]) -> Response[Any]:
    return cast("Response[Any]", load(json.dumps({"interlingua": 1, "kind": "response", **plain})))


class _Recording:
    """The recording of one exchange, until it is complete."""

    def __init__(self, tape: Tape, request: HttpRequest, status: int, headers: Headers) -> None:
        self.status = status
        self.headers = headers
        self._tape = tape
        self._request = request
        self._pieces: list[bytes] = []
        self._done = False

    def hear(self, piece: bytes) -> bytes:
        self._pieces.append(piece)
        if not piece:
            self.finish()
        return piece

    def finish(self) -> None:
        """Record what came; a reply that nobody read is no exchange."""
        if not self._done and self._pieces:
            self._done = True
            reply = HttpReply(status=self.status, headers=self.headers, body=b"".join(self._pieces))
            self._tape.record(self._request, reply)


class _RecordingReply(_Recording):
    def __init__(self, tape: Tape, request: HttpRequest, inner: Reply) -> None:
        super().__init__(tape, request, inner.status, inner.headers)
        self._inner = inner

    def read(self) -> bytes:
        return self.hear(self._inner.read())

    def close(self) -> None:
        self._inner.close()
        self.finish()


class _AsyncRecordingReply(_Recording):
    def __init__(self, tape: Tape, request: HttpRequest, inner: AsyncReply) -> None:
        super().__init__(tape, request, inner.status, inner.headers)
        self._inner = inner

    async def read(self) -> bytes:
        return self.hear(await self._inner.read())

    async def close(self) -> None:
        await self._inner.close()
        self.finish()


class _Recorder:
    def __init__(self, inner: Transport, tape: Tape) -> None:
        self._inner = inner
        self._tape = tape

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        return _RecordingReply(self._tape, request, self._inner.open(request, timeouts))

    def close(self) -> None:
        self._inner.close()


class _AsyncRecorder:
    def __init__(self, inner: AsyncTransport, tape: Tape) -> None:
        self._inner = inner
        self._tape = tape

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        return _AsyncRecordingReply(self._tape, request, await self._inner.open(request, timeouts))

    async def close(self) -> None:
        await self._inner.close()
