"""Events of calls, chains and agents, for every observer that listens.

Rules
- Observers are called where things happen, one after the other in the order in which they were registered, and possibly
  from several threads at once. What one raises is logged once and never reaches the call.
- Content (what is asked and answered, what tools are given and give) is in an event only for who asked for it; headers,
  addresses beyond the host, and keys never are.
- Nothing is allocated and no clock is read while nobody listens. What an observer itself asks of a model is not told.

Not responsible for: making the events of a call (`client.call.watch`), OpenTelemetry (`client.telemetry.instrument`).
"""

from __future__ import annotations

from _thread import allocate_lock  # every call comes by here, and `threading` takes 2 ms to load
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from sys import modules
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from interlingua.errors import UsageError
from interlingua.types.capability import Operation
from interlingua.types.change import Change
from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult
from interlingua.types.request import Request
from interlingua.types.response import Attempt, FinishReason, Response
from interlingua.types.run import StopReason
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from contextvars import Token
    from logging import Logger
    from types import TracebackType
    from typing import Self

__all__ = [
    "AgentFinished",
    "AgentStarted",
    "AttemptFailed",
    "AttemptStarted",
    "CallFinished",
    "CallStarted",
    "FirstContent",
    "Observation",
    "Observed",
    "Observer",
    "RetryScheduled",
    "TargetBenched",
    "TargetSkipped",
    "ToolCalled",
    "ToolReturned",
    "is_observed",
    "listeners",
    "on_event",
    "tell",
]


class Observed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happened; `str` gives it in one line."""

    id: str
    """The call, the run or the tool's work that it belongs to; all of its events have the same."""
    parent_id: str | None = None
    """The run or the tool's work inside which that was begun."""
    tags: dict[str, str] = {}
    """The tags of the meters around it."""

    def __str__(self) -> str:
        """One line: the kind, the id, and what is known."""
        hidden = ("id", "tags", *_CONTENT)
        pairs = [(name, getattr(self, name)) for name in self.__struct_fields__]
        usual = ("operation", "chat")  # which goes without saying
        shown = [
            pair for pair in pairs if not (pair[1] is None or pair[1] is False or pair[1] in ((), {}) or pair == usual)
        ]
        fields = [f"{name}={_short(value)}" for name, value in shown if name not in hidden]
        tags = [f"[{name}={value}]" for name, value in self.tags.items()]
        text = " ".join([type(self).__name__, self.id, *fields, *tags])
        if text.isprintable():
            return text
        # Parts of it come from servers: nothing may break the line or steer a terminal.
        return " ".join("".join([c if c.isprintable() else " " for c in text]).split())

    def without_content(self) -> Self:
        """This event without content: what was asked, answered, given to tools and given by them."""
        present = [name for name in _CONTENT if getattr(self, name, None) is not None]
        return msgspec.structs.replace(self, **dict.fromkeys(present)) if present else self


class CallStarted(Observed, frozen=True, kw_only=True):
    """A model is asked: one call, however many targets it takes."""

    targets: tuple[str, ...]
    """The targets that may answer, `provider/model`, in order."""
    operation: Operation = "chat"
    """The operation: an answer, vectors, or an order of documents."""
    stream: bool = False
    """Whether the answer comes piece by piece."""
    json: bool = False
    """Whether the answer is to be JSON."""
    parameters: dict[str, Any] = {}
    """The settings of the request that hold no content, as `max_tokens` and `temperature`."""
    request: Request | None = None
    """Content: what is asked."""


class AttemptStarted(Observed, frozen=True, kw_only=True):
    """A target is tried."""

    model: str
    """The target, `provider/model`."""
    dialect: str
    """How it is spoken to."""
    host: str
    """Where it is: the host of its address."""
    port: int | None = None
    """The port of its address; None where it is in this process."""
    number: int
    """Which try of this call, from 1."""


class AttemptFailed(Observed, frozen=True, kw_only=True):
    """A try gave no answer."""

    model: str
    """The target, `provider/model`."""
    dialect: str
    """How it was spoken to."""
    number: int
    """Which try of this call, from 1."""
    error: str
    """Class of the error."""
    message: str
    """Its sentence."""
    status: int | None = None
    """HTTP status, when there was one."""
    retryable: bool = False
    """Whether the same request may succeed later."""
    retry_after_s: float | None = None
    """Seconds that the provider asked us to wait."""
    request_id: str | None = None
    """The provider's id of the request."""
    duration_s: float
    """How long it took."""


class TargetSkipped(Observed, frozen=True, kw_only=True):
    """A target was passed over without being asked."""

    model: str
    """The target, `provider/model`."""
    reason: str
    """Why: what it cannot take, that it is benched, or that its limits are used up."""


class TargetBenched(Observed, frozen=True, kw_only=True):
    """A target failed so often, or in such a way, that it is left alone for a while."""

    model: str
    """The target, `provider/model`."""
    for_s: float
    """How long."""
    reason: str
    """The reason."""


class RetryScheduled(Observed, frozen=True, kw_only=True):
    """A target is asked again after a pause."""

    model: str
    """The target, `provider/model`."""
    number: int
    """Which try of this call comes next, from 1."""
    delay_s: float
    """How long the pause is."""
    error: str
    """Class of the error that it comes after."""


class FirstContent(Observed, frozen=True, kw_only=True):
    """A stream has begun to answer."""

    model: str
    """The target that answers, `provider/model`."""
    number: int
    """Which try it is, from 1."""
    after_s: float
    """How long after the beginning of the call."""


class CallFinished(Observed, frozen=True, kw_only=True):
    """A call has come to its end: with an answer, with an error, or because its reader left."""

    model: str | None = None
    """The target that answered, `provider/model`; None without an answer."""
    wire_model: str | None = None
    """The provider's own model id."""
    duration_s: float
    """From the beginning of the call to its end."""
    first_content_s: float | None = None
    """From the beginning of the call to the first content of a stream."""
    finish_reason: FinishReason | None = None
    """Why the answer ended."""
    usage: Usage | None = None
    """Token counts; of a stream that broke off, what it told until then."""
    cost_usd: float | None = None
    """Price in US dollars; None when unknown."""
    response_id: str | None = None
    """The provider's id of the answer."""
    request_id: str | None = None
    """The provider's id of the request."""
    attempts: tuple[Attempt, ...] = ()
    """Every try, the one that answered last."""
    changes: tuple[Change, ...] = ()
    """The changes that translation made, there and back."""
    error: str | None = None
    """Class of the error that ended it."""
    message: str | None = None
    """Its sentence."""
    status: int | None = None
    """HTTP status of that error, when there was one."""
    closed: bool = False
    """Whether the reader of a stream left before its end, or the call was cancelled or interrupted."""
    response: Response[Any] | None = None
    """Content: what was answered; of a stream that broke off, what came."""


class AgentStarted(Observed, frozen=True, kw_only=True):
    """A run of an agent begins, or goes on."""

    targets: tuple[str, ...]
    """The targets that may answer, `provider/model`, in order."""


class AgentFinished(Observed, frozen=True, kw_only=True):
    """A run of an agent has ended."""

    stop_reason: StopReason
    """The reason of the end."""
    steps: int
    """How many answers of the model it took, those before it was resumed included."""
    duration_s: float
    """How long it took, this time."""
    usage: Usage | None = None
    """Tokens of all answers together."""
    cost_usd: float | None = None
    """Price of all answers together in US dollars; None when that of one is unknown."""
    error: str | None = None
    """Class of the error that ended it; the sentence is in the event of the call."""


class ToolCalled(Observed, frozen=True, kw_only=True):
    """A tool begins to work on a call."""

    tool: str
    """Its name."""
    tool_call_id: str
    """The id of the model's call."""
    call: ToolCall | BrokenToolCall | None = None
    """Content: the call with its arguments."""


class ToolReturned(Observed, frozen=True, kw_only=True):
    """A tool has done its work."""

    tool: str
    """Its name."""
    tool_call_id: str
    """The id of the model's call."""
    is_error: bool
    """Whether the model is told of an error."""
    duration_s: float
    """How long it took."""
    error: str | None = None
    """Class of what the handler raised; its text may be private, and is not told."""
    result: ToolResult | None = None
    """Content: what the model gets."""


_CONTENT = ("request", "response", "call", "result")
_LONGEST = 300
"""Characters of one value in a line that is read by people; the event has all of them."""

Observer: TypeAlias = Callable[[Observed], object]
"""A function that is called with every event; its result is ignored."""


def _short(value: object) -> str:
    """A value in a line that is read by people."""
    match value:
        case float():
            return f"{value:.4g}"
        case tuple():
            items = cast("tuple[object, ...]", value)
            return ",".join([str(item) for item in items]) if isinstance(items[0], str) else str(len(items))
        case dict():
            return ",".join([f"{name}:{item}" for name, item in cast("dict[str, object]", value).items()])
        case Usage():
            return f"{value.input_tokens}+{value.output_tokens}"
        case _:
            text = str(value)
            return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# Who listens


class Observation:
    """An observer that listens; `il.on_event` makes it. As a context manager it hears this context alone."""

    def __init__(self, observer: Observer, *, content: bool) -> None:
        """One that does not listen yet."""
        self._observer = observer
        self._content = content
        self._is_open = False
        self._has_failed = False
        self._token: Token[tuple[Observation, ...]] | None = None

    def hear(self, event: Observed) -> None:
        """Pass an event on; whatever comes of it stays here."""
        try:
            result = self._observer(event if self._content else event.without_content())
        except Exception as error:  # noqa: BLE001 - an observer cannot break a call
            self._note(error)
        else:
            if isinstance(result, Awaitable):
                close = getattr(cast("object", result), "close", None)
                if close is not None:
                    close()
                self._note(UsageError("an observer gave something to await; it is called in the middle of a call"))

    def _note(self, error: Exception) -> None:
        if self._has_failed:
            return
        self._has_failed = True
        import logging  # only who fails needs it

        logging.getLogger("interlingua.observe").warning(
            "the observer %r failed; this is said once", self._observer, exc_info=error
        )

    def open(self) -> Self:
        """Listen to the whole process."""
        global _everywhere
        with _changing:
            if not self._is_open:
                self._is_open, _everywhere = True, (*_everywhere, self)
        return self

    def close(self) -> None:
        """Hear nothing more; closing twice is closing once."""
        global _everywhere, _contexts  # noqa: PLW0603 - the same
        with _changing:
            _everywhere = tuple([other for other in _everywhere if other is not self])
            if self._token is not None and self._is_open:
                _contexts -= 1
            self._is_open = False

    def __enter__(self) -> Self:
        global _contexts
        if not self._is_open or self._token is not None:
            raise UsageError("this observer was closed or entered already; il.on_event(…) makes another one")
        self.close()
        with _changing:
            self._is_open, _contexts = True, _contexts + 1
            self._token = _here.set((*_here.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
        if self._token is not None:
            with suppress(ValueError):  # it is left in another context than it was entered in, as by a fixture
                _here.reset(self._token)

    @property
    def is_open(self) -> bool:
        """Whether it listens."""
        return self._is_open


_everywhere: tuple[Observation, ...] = ()
_here: ContextVar[tuple[Observation, ...]] = ContextVar("interlingua_observers", default=())
_contexts = 0
_is_telling: ContextVar[bool] = ContextVar("interlingua_telling", default=False)
_changing = allocate_lock()


def is_observed() -> bool:
    """Whether anybody listens here, so that events are worth making."""
    if _log.logger is None or _log.logger.isEnabledFor(_INFO) is not _log.is_on:
        _log.look()
    if not _everywhere and not _contexts:
        return False
    return bool(listeners())


_INFO = 20
"""The level of `logging`, which is not loaded for its number."""


class _Log:
    """The logger `interlingua`, which hears of calls for as long as its level says so."""

    logger: Logger | None = None
    is_on = False
    _observation: Observation | None = None

    def look(self) -> None:
        """Begin or end listening; who logs has loaded `logging`."""
        logging = modules.get("logging")
        if logging is None:
            return
        logger: Logger = logging.getLogger("interlingua")
        self.logger, self.is_on = logger, logger.isEnabledFor(_INFO)
        if self._observation is not None:
            self._observation.close()
            self._observation = None
        if self.is_on:
            from interlingua.client.narrate import log_events  # who logs nothing needs no sentences

            self._observation = Observation(log_events(logger), content=False).open()


_log = _Log()


def listeners() -> tuple[Observation, ...]:
    """The observations that listen here, in order; nobody while an observer is at work."""
    if _is_telling.get():
        return ()
    here = _here.get()
    return _everywhere if not here else (*_everywhere, *[observation for observation in here if observation.is_open])


def tell(event: Observed, to: tuple[Observation, ...] | None = None) -> None:
    """Tell whoever listens here, or those who listened when it began."""
    observations = listeners() if to is None else to
    if not observations:
        return
    token = _is_telling.set(True)
    try:
        for observation in observations:
            if observation.is_open:
                observation.hear(event)
    finally:
        _is_telling.reset(token)


def on_event(observer: Observer, *, content: bool = False) -> Observation:
    """The observation by which `observer` is called with every event of the process, until it is closed.

    As a context manager it hears only this context: the code inside `with`, its tasks, and the threads of `map` and of
    toolboxes. With `content` the events hold what was asked and answered.

    Raises: UsageError for what cannot be called, and for a coroutine function, which nobody would await.
    """
    from inspect import iscoroutinefunction  # dear to import, and nothing before needs it

    if not callable(observer):
        raise UsageError(f"an observer is a function that takes an event, not {observer!r:.60}")
    if iscoroutinefunction(observer) or iscoroutinefunction(getattr(observer, "__call__", None)):  # noqa: B004 - its code
        raise UsageError(
            "an observer is called in the middle of a call, so it cannot be a coroutine function; "
            "give an ordinary one, which may put the event in a queue"
        )
    return Observation(observer, content=content).open()
