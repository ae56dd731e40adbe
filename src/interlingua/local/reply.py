"""Replies of the engine, written as Chat Completions: whole, or frame by frame.

Shape: the chunks and the reply of the dialect; ids `chatcmpl-…` and `call_…` are given in.
Rules
- A stream and a whole reply are written from the same items, so they say the same.
- A call that a limit cut keeps its arguments as far as they came, under finish reason `length`.

Not responsible for: bytes of server-sent events (`transport`), and for where the pieces come from (`engine`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from interlingua.local.answer import AnswerReader, ArgumentsPiece, CallStart, Said, TextPiece
from interlingua.local.chat import Plan
from interlingua.wire import json

__all__ = ["Done", "EngineEvent", "Fault", "Piece", "ReplyWriter", "Vectors", "error_body"]


class Piece(NamedTuple):
    """Text that the engine generated."""

    text: str
    """Not empty."""
    thinking: bool = False
    """Whether the weights' template sets it apart as reasoning."""


class Done(NamedTuple):
    """The engine came to an end."""

    finish: Literal["stop", "length"]
    """Whether the model ended by itself or met a limit."""
    input_tokens: int = 0
    """Tokens of the prompt, cached ones included."""
    cached_tokens: int = 0
    """Tokens of the prompt that the cache answered for."""
    output_tokens: int = 0
    """Tokens generated."""


class Fault(NamedTuple):
    """The engine could not go on."""

    status: int
    """HTTP status that says what kind of fault it is."""
    message: str
    """One sentence."""
    kind: str
    """The dialect's error type."""
    code: str | None = None
    """The dialect's error code, or None."""


class Vectors(NamedTuple):
    """The vectors of all texts of a request."""

    vectors: tuple[list[float], ...]
    """The vectors, in the order of the texts."""
    input_tokens: int = 0
    """Tokens read."""


EngineEvent: TypeAlias = Piece | Done | Fault | Vectors
"""One thing that the engine reports."""


class ReplyWriter:
    """Writes one reply; every text is one JSON object of the dialect."""

    def __init__(self, plan: Plan, *, id: str, created: int, call_id: Callable[[], str]) -> None:
        """A writer for the answer to `plan`."""
        self._plan = plan
        self._head: dict[str, Any] = {"id": id, "created": created, "model": plan.model}
        self._call_id = call_id
        self._reader = AnswerReader(plan.callable) if plan.schema is not None else None
        self._opened = False
        self._text = ""
        self._thinking = ""
        self._call: dict[str, Any] | None = None

    def feed(self, piece: Piece) -> Iterator[bytes]:
        """The chunks that a piece adds.

        Raises: DecodeError, when the engine did not keep the grammar.
        """
        if piece.thinking:
            self._thinking += piece.text
            yield self._chunk({"reasoning_content": piece.text})
        elif self._reader is None:
            yield self._chunk_of(TextPiece(piece.text))
        else:
            for piece_read in self._reader.feed(piece.text):
                yield self._chunk_of(piece_read)

    def finish(self, done: Done) -> Iterator[bytes]:
        """The chunks that end the stream.

        Raises: DecodeError, when the answer ended before its JSON did.
        """
        yield self._chunk({}, finish=self._finish(done))
        if self._plan.usage:
            yield self._object("chat.completion.chunk", choices=[], usage=_usage(done))

    def whole(self, done: Done) -> bytes:
        """The reply as one body, after every piece was fed.

        Raises: as `finish`.
        """
        message: dict[str, Any] = {"role": "assistant", "content": None if self._call else self._text}
        if self._thinking:
            message["reasoning_content"] = self._thinking
        if self._call:
            message["tool_calls"] = [self._call]
        choice = {"index": 0, "message": message, "finish_reason": self._finish(done)}
        return self._object("chat.completion", choices=[choice], usage=_usage(done))

    def _chunk_of(self, piece: Said) -> bytes:
        match piece:
            case TextPiece(text):
                self._text += text
                return self._chunk({"content": text})
            case CallStart(name):
                function = {"name": name, "arguments": ""}
                self._call = {"id": self._call_id(), "type": "function", "function": function}
                return self._chunk({"tool_calls": [{"index": 0, **self._call}]})
            case ArgumentsPiece(text):
                assert self._call is not None, "a reader starts a call before it gives arguments"  # noqa: S101 - an invariant
                self._call["function"]["arguments"] += text
                return self._chunk({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})

    def _finish(self, done: Done) -> str:
        if self._reader is not None:
            self._reader.finish(cut=done.finish == "length")
        return "tool_calls" if self._call and done.finish == "stop" else done.finish

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        if not self._opened:
            self._opened = True
            delta = {"role": "assistant", **delta}
        return self._object("chat.completion.chunk", choices=[{"index": 0, "delta": delta, "finish_reason": finish}])

    def _object(self, kind: str, **members: Any) -> bytes:
        return json.encode({**self._head, "object": kind, **members})


def error_body(message: str, *, kind: str, code: str | None = None, param: str | None = None) -> bytes:
    """An error in the dialect's shape."""
    return json.encode({"error": {"message": message, "type": kind, "param": param, "code": code}})


def _usage(done: Done) -> dict[str, Any]:
    return {
        "prompt_tokens": done.input_tokens,
        "completion_tokens": done.output_tokens,
        "total_tokens": done.input_tokens + done.output_tokens,
        "prompt_tokens_details": {"cached_tokens": done.cached_tokens},
    }
