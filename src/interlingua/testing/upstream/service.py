"""The strict upstream as a service: it judges a request, refuses it as the real one would, or answers from a script.

```python
upstream = Upstream("anthropic", Say(calls=(Call("get_weather", {"city": "Oslo"}),)), "It is 4 degrees.")
with upstream.standing():                                  # in the place of every model of this process
    ...
with upstream.serving() as base_url:                       # on a port of the loopback
    ...
assert upstream.verdicts[-1].ok
```

Rules
- Every request is judged first; what is refused uses up nothing of the script.
- Without a script, and when it is used up, a model of few words answers: it calls the tool that the text names, twice
  when the text says so, fills schemas with the smallest value, stops at a small limit.
- It remembers the seals and the ids that it gave out, and refuses others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec

from interlingua.errors import APIConnectionError
from interlingua.testing.upstream.answers.anthropic import fail_anthropic, stream_anthropic, whole_anthropic
from interlingua.testing.upstream.answers.bedrock import fail_bedrock, stream_bedrock, whole_bedrock
from interlingua.testing.upstream.answers.chat import fail_chat, stream_chat, whole_chat
from interlingua.testing.upstream.answers.cohere import fail_cohere, stream_cohere, whole_cohere
from interlingua.testing.upstream.answers.glance import answer
from interlingua.testing.upstream.answers.google import as_array, fail_google, stream_google, whole_google
from interlingua.testing.upstream.answers.ollama import fail_ollama, stream_ollama, whole_ollama
from interlingua.testing.upstream.answers.responses import (
    compacted,
    fail_responses,
    stream_responses,
    whole_responses,
)
from interlingua.testing.upstream.answers.say import Answer, Cut, Fail, Ids, Say
from interlingua.testing.upstream.answers.unified import fail_unified, stream_unified, whole_unified
from interlingua.testing.upstream.batches.desk import Desk, Run
from interlingua.testing.upstream.batches.files import FileBatches, JobBatches
from interlingua.testing.upstream.batches.messages import MessageBatches
from interlingua.testing.upstream.batches.operations import OperationBatches
from interlingua.testing.upstream.batches.plan import BatchPlan
from interlingua.testing.upstream.door import is_streamed, wants_events
from interlingua.testing.upstream.judge import asked_of, judge
from interlingua.testing.upstream.loopback import serving
from interlingua.testing.upstream.refusals import error_reply
from interlingua.testing.upstream.verdict import Asked, Issued, Verdict
from interlingua.transport.fault import FaultPlan
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.eventstream import AMAZON_STREAM
from interlingua.wire.http import Headers, HttpReply, HttpRequest
from interlingua.wire.json import encode

__all__ = ["Change", "Speech", "Upstream"]

Change: TypeAlias = Callable[[list[bytes]], list[bytes]]
"""Spoils the frames of an answer: for tests of those who judge answers."""


class Speech(msgspec.Struct, frozen=True):
    """How one service answers."""

    whole: Callable[[Say, Asked, Ids, Issued], dict[str, Any]]
    """The body of a whole answer."""
    stream: Callable[[Say, Asked, Ids, Issued], Iterator[bytes]]
    """The frames of a streamed one."""
    fail: Callable[[int, str | None], bytes]
    """The frame of an error in a stream."""
    content_type: str = "text/event-stream"
    """The type of a streamed answer."""


SPEECHES: dict[str, Speech] = {
    "openai-chat": Speech(whole_chat, stream_chat, fail_chat),
    "openai-responses": Speech(whole_responses, stream_responses, fail_responses),
    "anthropic": Speech(whole_anthropic, stream_anthropic, fail_anthropic),
    "google": Speech(whole_google, stream_google, fail_google),
    "ollama": Speech(whole_ollama, stream_ollama, fail_ollama, "application/x-ndjson"),
    "cohere": Speech(whole_cohere, stream_cohere, fail_cohere),
    "bedrock": Speech(whole_bedrock, stream_bedrock, fail_bedrock, AMAZON_STREAM),
    "unified": Speech(whole_unified, stream_unified, fail_unified),
}
"""How every service answers."""


class Upstream(Script):
    """One provider, imitated; also the script of a replay transport."""

    def __init__(
        self,
        dialect: str,
        *answers: Answer | str,
        models: frozenset[str] | None = None,
        key: str | None = None,
        spoil: Change | None = None,
        batches: BatchPlan | None = None,
    ) -> None:
        """The service of `dialect`, with a script of answers.

        `models` are the models it has, None any; `key` is the one credential it takes, None any; `spoil` changes the
        frames of every answer; `batches` says how its batches go, None that it has none.
        """
        super().__init__()
        self.dialect: str = dialect
        """The dialect it speaks."""
        self.verdicts: list[Verdict] = []
        """The verdicts on every request, oldest first."""
        self.issued: Issued = Issued()
        """The seals and ids that it gave out."""
        self.desk: Desk | None = None if batches is None else _desk(dialect, batches, self._run)
        """Its batches; None where it has none."""
        self._answers = [Say(text=raw) if isinstance(raw, str) else raw for raw in answers]
        self._models, self._key, self._spoil = models, key, spoil
        self._ids = Ids()
        self._lock = threading.Lock()
        self._keyless = False

    def answer(self, request: HttpRequest) -> Line:
        """The service's answer to `request`."""
        with self._lock:
            self.requests.append(request)
            refused = self._turned_away(request)
            line = None if self.desk is None or refused is not None else self.desk.answer(request)
            if line is not None:
                return line
            self.verdicts.append(judge(self.dialect, request, issued=self.issued, keyless=self._keyless))
            refused = refused or self.verdicts[-1].reply
            return _line(refused) if refused is not None else self._answered(request)

    def _run(self, request: HttpRequest, plan: BatchPlan) -> HttpReply:
        """The reply to one request of a batch."""
        verdict = judge(self.dialect, request, issued=self.issued, keyless=self._keyless)
        self.verdicts.append(verdict)
        if verdict.reply is not None:
            return verdict.reply
        if plan.answer is not None:
            scripted = plan.answer(asked_of(self.dialect, request))
            self._answers.insert(0, Say(text=scripted) if isinstance(scripted, str) else scripted)
        line = self._answered(request)
        return HttpReply(status=line.status, headers=line.headers, body=b"".join(line.pieces))

    def _turned_away(self, request: HttpRequest) -> HttpReply | None:
        """The refusal of a wrong key or an unknown model."""
        raw = [value.removeprefix("Bearer ") for name, value in request.headers if name in _KEY_HEADERS]
        if self._key is not None and self._key not in raw:
            return error_reply(self.dialect, 401)
        model = asked_of(self.dialect, request).model
        if self._models is not None and model and model not in self._models:
            return error_reply(self.dialect, 404, f"model: {model} not found")
        return None

    def _answered(self, request: HttpRequest) -> Line:
        inquiry = asked_of(self.dialect, request)
        streamed = is_streamed(self.dialect, request, inquiry.body)
        raw = self._answers.pop(0) if self._answers else answer(self.dialect, inquiry)
        if isinstance(raw, Fail) and not (raw.late and streamed):
            return _line(error_reply(self.dialect, raw.status, raw.message))
        speech = SPEECHES[self.dialect]
        if self.dialect == "openai-responses" and inquiry.url.partition("?")[0].endswith("/compact"):
            return Line(pieces=(encode(compacted(inquiry, self._ids, self.issued), nulls=60),), headers=_JSON)
        if not streamed:
            say = raw.say if isinstance(raw, Cut) else raw
            body = encode(speech.whole(_say(say), inquiry, self._ids, self.issued), nulls=60)
            return Line(pieces=tuple(self._spoilt([body])), headers=_JSON)
        frames = speech.stream(_say(raw), inquiry, self._ids, self.issued)
        return self._streamed(raw, list(self._framed(request, frames)))

    def _streamed(self, raw: Answer, frames: list[bytes]) -> Line:
        ending: Exception | None = None
        if isinstance(raw, Fail):
            frames = [*frames[:2], SPEECHES[self.dialect].fail(raw.status, raw.message)]
        if isinstance(raw, Cut):
            frames = frames[: raw.after]
            ending = APIConnectionError("the upstream broke the stream off", retryable=True)
        headers = (("content-type", SPEECHES[self.dialect].content_type),)
        return Line(pieces=tuple(self._spoilt(frames)), headers=headers, ending=ending)

    def _framed(self, request: HttpRequest, frames: Iterator[bytes]) -> Iterator[bytes]:
        is_array = self.dialect == "google" and not wants_events(request)
        return as_array(frames) if is_array else frames

    def _spoilt(self, frames: list[bytes]) -> list[bytes]:
        return frames if self._spoil is None else self._spoil(frames)

    def transport(self) -> ReplayTransport:
        """A blocking transport to this service."""
        return ReplayTransport(script=self)

    def transport_aio(self) -> AsyncReplayTransport:
        """An awaited transport to this service."""
        return AsyncReplayTransport(script=self)

    @contextmanager
    def standing(self) -> Generator[Upstream]:
        """This service in the place of every model of this process, which therefore need no keys."""
        self._keyless = True
        blocking, awaited = self.transport(), self.transport_aio()
        with overriding(Override(lambda _: blocking, lambda _: awaited, answers=True)):
            yield self

    @contextmanager
    def serving(self, faults: FaultPlan | None = None) -> Generator[str]:
        """The base URL of this service on a port of the loopback; `faults` are played on the wire."""
        with serving(self.answer, faults) as base_url:
            yield base_url


def _desk(dialect: str, plan: BatchPlan, run: Run) -> Desk:
    """The batches of a service."""
    if plan.jobs:
        return JobBatches(dialect, plan, run)
    return _DESKS[dialect](dialect, plan, run)


_DESKS: dict[str, type[Desk]] = {
    "openai-chat": FileBatches,
    "openai-responses": FileBatches,
    "anthropic": MessageBatches,
    "google": OperationBatches,
}
_JSON: Headers = (("content-type", "application/json"),)
_KEY_HEADERS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key"})


def _line(reply: HttpReply) -> Line:
    return Line(pieces=(reply.body,), status=reply.status, headers=reply.headers)


def _say(raw: Answer) -> Say:
    match raw:
        case Say():
            return raw
        case Cut(say=say):
            return say
        case Fail():
            return Say(text="One two three four")
