"""One observed call: its id, its tags and its clock, and the events that are made of what happens to it.

Rules
- It exists only for calls that somebody listens to when they begin; `Call.watch` is None for all others.
- Every call that has begun ends with one `CallFinished`, also when it is cancelled, interrupted or left.
- Sentences of errors are cleaned of whatever was sent in a header that may carry a key, whatever that looks like.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.client.call.secrets import secret_parts
from interlingua.client.call.values import CallRefused
from interlingua.client.meter import tags_here
from interlingua.client.observe import (
    AttemptFailed,
    AttemptStarted,
    CallFinished,
    CallStarted,
    FirstContent,
    RetryScheduled,
    TargetBenched,
    TargetSkipped,
    listeners,
    tell,
)
from interlingua.errors import Error, redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.call.core import Outcome
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.observe import Observed
    from interlingua.types.response import Attempt, Response
    from interlingua.wire.http import HttpRequest

__all__ = ["PARENT", "Watch", "new_id", "watched_call", "watched_stream"]

PARENT: ContextVar[str | None] = ContextVar("interlingua_parent", default=None)
"""The id of the run or the tool's work inside which this code runs."""

_PARAMETERS = (
    "max_tokens", "temperature", "top_p", "top_k", "min_p", "stop", "seed", "presence_penalty", "frequency_penalty",
    "n", "effort", "thinking", "thinking_budget", "parallel_tool_calls", "verbosity", "service_tier",
)  # fmt: skip


def new_id() -> str:
    """An id that no other call has: 16 hexadecimal digits."""
    from secrets import token_hex  # only who is observed needs randomness

    return token_hex(8)


class Watch:
    """One call that somebody listens to."""

    __slots__ = (
        "_clock",
        "_first_s",
        "_is_finished",
        "_listeners",
        "_open_attempts",
        "_secrets",
        "_started_s",
        "id",
        "parent_id",
        "tags",
    )

    def __init__(self, clock: Callable[[], float], make_id: Callable[[], str] = new_id) -> None:
        """A call that begins now."""
        self.id: str = make_id()
        """Its id."""
        self.parent_id: str | None = PARENT.get()
        """The id of what it was begun in."""
        self.tags: dict[str, str] = tags_here()
        """The tags of the meters around it."""
        self._clock = clock
        self._listeners = listeners()
        self._started_s = clock()
        self._first_s: float | None = None
        self._is_finished = False
        self._secrets: tuple[str, ...] = ()
        self._open_attempts: dict[str, tuple[CallTarget, int]] = {}

    def started(self, call: Call, *, stream: bool) -> None:
        """The call begins."""
        pairs = [(name, getattr(call.request, name)) for name in _PARAMETERS]
        parameters = {name: value for name, value in pairs if value is not None and value != () and value is not False}
        self._tell(
            CallStarted(
                **self._head,
                targets=tuple([target.endpoint.spec for target in call.targets]),
                operation=call.operation,
                stream=stream,
                json=call.request.json_mode or call.request.output_schema is not None,
                parameters=parameters,
                request=call.request,
            )
        )

    def attempt(self, target: CallTarget, number: int) -> None:
        """A target is about to be tried; that is told when a request goes out to it."""
        self._open_attempts[target.endpoint.spec] = (target, number)

    def _tell_attempt(self, spec: str | None) -> None:
        attempt = self._open_attempts.pop(spec or "", None)
        if attempt is None:
            return
        from urllib.parse import urlsplit

        target, number = attempt
        parts = urlsplit(target.endpoint.base_url)  # of it only the host and the port are told
        self._tell(
            AttemptStarted(
                **self._head,
                model=target.endpoint.spec,
                dialect=target.endpoint.dialect,
                host=parts.hostname or parts.scheme,
                port=parts.port or {"http": 80, "https": 443}.get(parts.scheme),
                number=number,
            )
        )

    def sends(self, request: HttpRequest) -> None:
        """A request goes out: what its headers hold in secret must not be told by anybody."""
        parts = secret_parts(value for name, value in request.headers if name not in _OPEN_HEADERS)
        self._secrets = tuple(dict.fromkeys((*self._secrets, *parts)))
        self._tell_attempt(request.target)

    def attempt_failed(self, target: CallTarget, number: int, error: Error, duration_s: float) -> None:
        """A try gave no answer."""
        self._tell_attempt(target.endpoint.spec)
        self._tell(
            AttemptFailed(
                **self._head,
                model=target.endpoint.spec,
                dialect=target.endpoint.dialect,
                number=number,
                error=type(error).__name__,
                message=self._clean(error.message),
                status=error.status,
                retryable=error.retryable,
                retry_after_s=error.retry_after_s,
                request_id=error.request_id,
                duration_s=duration_s,
            )
        )

    def skipped(self, target: CallTarget, reason: str) -> None:
        """A target was passed over without being asked."""
        self._open_attempts.pop(target.endpoint.spec, None)
        self._tell(TargetSkipped(**self._head, model=target.endpoint.spec, reason=self._clean(reason)))

    def benched(self, target: CallTarget, for_s: float, reason: str) -> None:
        """A target is left alone for a while."""
        self._tell(TargetBenched(**self._head, model=target.endpoint.spec, for_s=for_s, reason=self._clean(reason)))

    def retry(self, target: CallTarget, number: int, delay_s: float, error: Error) -> None:
        """A target will be asked again."""
        self._tell(
            RetryScheduled(
                **self._head, model=target.endpoint.spec, number=number, delay_s=delay_s, error=type(error).__name__
            )
        )

    def first_content(self, target: CallTarget, number: int) -> None:
        """A stream has begun to answer."""
        self._first_s = self._clock() - self._started_s
        self._tell(FirstContent(**self._head, model=target.endpoint.spec, number=number, after_s=self._first_s))

    def answered(self, response: Response[Any]) -> None:
        """The call has its answer."""
        self._finish(response, response.attempts)

    def failed(self, error: BaseException, partial: Response[Any] | None = None) -> None:
        """The call ended in an error, or was cancelled or interrupted."""
        error = error.error if isinstance(error, CallRefused) else error
        if not isinstance(error, Exception):
            self._finish(partial, (), closed=True)
            return
        ours = isinstance(error, Error)
        self._finish(
            partial,
            error.attempts if ours else (),
            error=type(error).__name__,
            message=self._clean(error.message) if ours else None,
            status=error.status if ours else None,
        )

    def left(self) -> None:
        """The reader of a stream left before its end."""
        self._finish(None, (), closed=True)

    def _finish(self, response: Response[Any] | None, attempts: tuple[Attempt, ...], **facts: Any) -> None:
        if self._is_finished:
            return
        self._is_finished = True
        if response is not None and response.raw_reply is not None:
            response = msgspec.structs.replace(response, raw_reply=None)
        fields = {} if response is None else {name: getattr(response, name) for name in _TOLD}
        self._tell(
            CallFinished(
                **self._head,
                duration_s=self._clock() - self._started_s,
                first_content_s=self._first_s,
                attempts=tuple(
                    [
                        msgspec.structs.replace(attempt, error=self._clean(attempt.error)) if attempt.error else attempt
                        for attempt in attempts
                    ]
                ),
                response=response,
                response_id=None if response is None else response.id,
                **fields,
                **facts,
            )
        )

    def _tell(self, event: Observed) -> None:
        tell(event, self._listeners)

    @property
    def _head(self) -> dict[str, Any]:
        return {"id": self.id, "parent_id": self.parent_id, "tags": self.tags}

    def _clean(self, text: str) -> str:
        """The text without what was sent in secret so far."""
        return redact(text, *self._secrets)


def watched_call(call: Call, steps: Callable[[Call], Steps[Response[Any]]]) -> Steps[Response[Any]]:
    """The steps of a call that somebody listens to, with its beginning and its end told."""
    watch = Watch(call.clock)
    watch.started(call, stream=False)
    try:
        answer = yield from steps(msgspec.structs.replace(call, watch=watch))
    except BaseException as error:
        watch.failed(error)
        raise
    watch.answered(answer)
    return answer


def watched_stream(call: Call, outcome: Outcome, steps: Callable[[Call, Outcome], Steps[None]]) -> Steps[None]:
    """The steps of a stream that somebody listens to, with its beginning and its end told."""
    watch = Watch(call.clock)
    watch.started(call, stream=True)
    try:
        yield from steps(msgspec.structs.replace(call, watch=watch), outcome)
    except BaseException as error:
        if outcome.response is None:
            watch.failed(error, outcome.partial)
        raise
    finally:
        if outcome.response is not None:
            watch.answered(outcome.response)


_OPEN_HEADERS = frozenset({"accept", "content-type", "user-agent", "anthropic-version", "anthropic-beta"})
_TOLD = ("model", "wire_model", "finish_reason", "usage", "cost_usd", "request_id", "changes")
