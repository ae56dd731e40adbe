"""Both faces of the client behind one interface, over a script instead of a network."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import interlingua as il
from interlingua import aio
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.http import HttpReply
from interlingua.wire.json import encode
from interlingua.wire.sse import encode_event

if TYPE_CHECKING:
    from interlingua.transport.replay import ScriptLine

__all__ = ["AWAITED", "BLOCKING", "Face", "chat", "chunk", "chunks", "scripted", "sse"]


class Face:
    """The blocking or the awaited client, called in the same way."""

    def __init__(self, *, awaited: bool) -> None:
        """One of the two."""
        self.awaited = awaited

    def model(self, spec: str | None = None, **options: Any) -> Any:
        """A model of this face."""
        return (aio if self.awaited else il).model(spec, **options)

    def generate(self, model: Any, prompt: Any = "Hi", **options: Any) -> il.Response[Any]:
        """What `model.generate` gives."""
        return self.settle(lambda: model.generate(prompt, **options))

    def events(self, stream: Any) -> list[il.Event]:
        """Every event of a stream."""
        return self.settle(lambda: _all_events(stream) if self.awaited else list(stream))

    def partials(self, stream: Any) -> list[Any]:
        """Every partial of a typed stream."""
        partials = stream.partials
        return self.settle(lambda: _all_events(partials) if self.awaited else list(partials))

    def finish(self, stream: Any) -> il.Response[Any]:
        """What `stream.finish` gives."""
        return self.settle(stream.finish)

    def settle(self, make: Any) -> Any:
        """What a function gives, awaited where this face awaits."""
        value = make()
        return asyncio.run(cast("Coroutine[Any, Any, Any]", value)) if isinstance(value, Coroutine) else value


async def _all_events(stream: Any) -> list[Any]:
    return [event async for event in stream]


BLOCKING = Face(awaited=False)
AWAITED = Face(awaited=True)


@contextmanager
def scripted(*lines: ScriptLine, alone: bool = True) -> Generator[Script]:
    """A script that answers every model, in both faces; `alone`: without keys and known names."""
    script = Script(*lines)
    blocking, awaited = ReplayTransport(script=script), AsyncReplayTransport(script=script)
    with overriding(Override(lambda _: blocking, lambda _: awaited, answers=alone)):
        yield script


def chat(
    text: str | None = "Hello", *, calls: list[dict[str, Any]] | None = None, finish: str = "stop", **more: Any
) -> HttpReply:
    """A whole Chat Completions reply."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-test-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
        **more,
    }
    return HttpReply(status=200, headers=(("content-type", "application/json"),), body=encode(body))


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One chunk of a Chat Completions stream."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-test-1",
        "choices": choices,
        **more,
    }
    return encode_event(encode(body))


def chunks(*texts: str, finish: str = "stop", done: bool = True) -> list[bytes]:
    """A Chat Completions stream of texts."""
    told = [chunk({"role": "assistant", "content": ""}), *[chunk({"content": text}) for text in texts]]
    usage = {"prompt_tokens": 3, "completion_tokens": len(texts), "total_tokens": 3 + len(texts)}
    ending = [chunk({}, finish), chunk(usage=usage)] if done else []
    return [*told, *ending, *([b"data: [DONE]\n\n"] if done else [])]


def sse(*pieces: bytes, ending: Exception | None = None) -> Line:
    """A line that answers with an event stream."""
    return Line(pieces=pieces, headers=(("content-type", "text/event-stream"),), ending=ending)
