"""OpenTelemetry spans and metrics of calls, runs of agents and the work of tools, made of what observers are told.

```
invoke_agent                       a run
├── chat gpt-5.6                   a call, with all of its tries; each try is an event of the span
├── execute_tool get_weather       the work of a tool; what its handler does lies below
└── chat gpt-5.6
```

Rules
- A call is one span however many targets it takes, so that nothing is counted twice; it ends under the name of the
  target that answered.
- What is begun in a tool's handler belongs to the tool, because its span is the current one there; what a run begins
  belongs to the run. Everything else belongs to the span that is current where it begins.
- Messages, arguments and results are recorded with `content=True` alone, media as their type and size.

Not responsible for: the names (`client.telemetry.semantics`), where spans go (the application's SDK).
"""

from __future__ import annotations

from _thread import allocate_lock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlingua.client.observe import (
    AgentFinished,
    AgentStarted,
    AttemptFailed,
    AttemptStarted,
    CallFinished,
    CallStarted,
    Observed,
    RetryScheduled,
    TargetBenched,
    TargetSkipped,
    ToolCalled,
    ToolReturned,
    on_event,
)
from interlingua.client.telemetry.semantics import ANSWER, METRICS, NAMES, PARAMETERS, PROVIDERS, USAGE
from interlingua.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.metrics import Histogram, MeterProvider
    from opentelemetry.trace import Span, TracerProvider

    from interlingua.types.usage import Usage

__all__ = ["Instrumentation", "instrument"]

MAX_OPEN_SPANS = 10_000
"""Spans that may be open; what is older than that is ended as it is."""


class _Open(NamedTuple):
    """A span that has begun."""

    span: Span
    is_current: bool
    """Whether it is the current one where the work is done, so that OpenTelemetry itself finds it."""
    facts: dict[str, Any]
    """The attributes that metrics have, too."""


class _Recorder:
    """An observer that records every event."""

    def __init__(
        self, tracer_provider: TracerProvider | None, meter_provider: MeterProvider | None, *, sentences: bool
    ) -> None:
        from importlib.metadata import version

        from opentelemetry import context, metrics, trace  # the extra

        own = version("interlingua")
        self._context = context
        self._trace = trace
        self._tracer = trace.get_tracer("interlingua", own, tracer_provider)
        meter = metrics.get_meter("interlingua", own, meter_provider)
        self._histograms: dict[str, Histogram] = {
            name: meter.create_histogram(
                kind.name, kind.unit, kind.description, explicit_bucket_boundaries_advisory=kind.boundaries
            )
            for name, kind in METRICS.items()
        }
        self._noted = _NOTED if sentences else tuple([name for name in _NOTED if name != "message"])
        self._sentences = sentences
        self._open: dict[str, _Open] = {}
        self._filling = allocate_lock()
        self._actions: dict[type[Observed], Callable[[Any], None]] = {
            AgentStarted: self._agent_started,
            AgentFinished: self._agent_finished,
            CallStarted: self._call_started,
            CallFinished: self._call_finished,
            AttemptStarted: self._attempt_started,
            AttemptFailed: self._note,
            TargetSkipped: self._note,
            TargetBenched: self._note,
            RetryScheduled: self._note,
            ToolCalled: self._tool_called,
            ToolReturned: self._tool_returned,
        }

    def __call__(self, event: Observed) -> None:
        action = self._actions.get(type(event))
        if action is not None:
            action(event)

    def end_all(self) -> None:
        """End every span that is open."""
        with self._filling:
            left, self._open = self._open, {}
        for open_span in left.values():
            open_span.span.end()

    # Calls

    def _call_started(self, event: CallStarted) -> None:
        facts = _start_attributes(event.operation, event.targets)
        more = {
            PARAMETERS[name]: list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value
            for name, value in event.parameters.items()
            if name in PARAMETERS
        }
        if event.stream:
            more[NAMES["stream"]] = True
        if event.json:
            more[NAMES["output"]] = "json"
        if event.parameters.get("n") == 1:
            del more[PARAMETERS["n"]]
        if event.request is not None:
            from interlingua.client.telemetry.transcript import request_attributes

            more.update(request_attributes(event.request))
        self._begin(event, facts, more, self._trace.SpanKind.CLIENT)

    def _attempt_started(self, event: AttemptStarted) -> None:
        open_span = self._open.get(event.id)
        if open_span is None:
            return
        place = {NAMES["host"]: event.host, NAMES["port"]: event.port}
        open_span.facts.update({name: value for name, value in place.items() if value is not None})
        open_span.facts.update(_target(event.model))
        open_span.span.set_attributes(open_span.facts)
        self._note(event)

    def _note(self, event: AttemptStarted | AttemptFailed | TargetSkipped | TargetBenched | RetryScheduled) -> None:
        """A step on the way of a call, as an event of its span."""
        open_span = self._open.get(event.id)
        if open_span is None:
            return
        attributes = {
            NAMES[name]: getattr(event, name) for name in self._noted if getattr(event, name, None) is not None
        }
        kind, target = type(event), {NAMES["target"]: event.model}
        open_span.span.add_event(_NOTES[kind], target | attributes)

    def _call_finished(self, event: CallFinished) -> None:
        open_span = self._open.pop(event.id, None)
        if open_span is None:
            return
        span, facts = open_span.span, open_span.facts
        if event.model is not None:
            facts.update(_target(event.model))
            span.update_name(_name_of(facts))
        attributes = {name: value for field, name in ANSWER.items() if (value := getattr(event, field)) is not None}
        attributes |= {NAMES["attempts"]: len(event.attempts), NAMES["changes"]: len(event.changes)}
        if event.finish_reason is not None:
            attributes[NAMES["finish_reasons"]] = (event.finish_reason,)
        if event.closed:
            attributes[NAMES["closed"]] = True
        if event.response is not None:
            from interlingua.client.telemetry.transcript import answered

            attributes.update(answered(event.response))
        span.set_attributes(facts | attributes | _counted(event.usage))
        self._fail(span, event.error, event.message)
        span.end()
        self._measure_call(event, facts | {name: attributes[name] for name in _MEASURED if name in attributes})

    def _measure_call(self, event: CallFinished, facts: dict[str, Any]) -> None:
        self._histograms["duration"].record(event.duration_s, facts)
        if event.first_content_s is not None:
            self._histograms["first_content"].record(event.first_content_s, facts)
        for kind in ("input", "output"):
            count = None if event.usage is None else getattr(event.usage, f"{kind}_tokens")
            if count is not None:
                self._histograms["tokens"].record(count, facts | {NAMES["token_type"]: kind})

    # Runs and tools

    def _agent_started(self, event: AgentStarted) -> None:
        self._begin(event, _start_attributes("invoke_agent", event.targets), {}, self._trace.SpanKind.INTERNAL)

    def _agent_finished(self, event: AgentFinished) -> None:
        open_span = self._open.pop(event.id, None)
        if open_span is None:
            return
        attributes: dict[str, Any] = {NAMES["stop_reason"]: event.stop_reason, NAMES["steps"]: event.steps}
        if event.cost_usd is not None:
            attributes[NAMES["cost_usd"]] = event.cost_usd
        self._end(open_span, attributes | _counted(event.usage), event.error)
        self._histograms["agent"].record(event.duration_s, open_span.facts | _error(event.error))

    def _tool_called(self, event: ToolCalled) -> None:
        facts = {NAMES["operation"]: "execute_tool", NAMES["tool"]: event.tool}
        more = {NAMES["tool_type"]: "function", NAMES["tool_call_id"]: event.tool_call_id}
        if event.call is not None:
            from interlingua.client.telemetry.transcript import arguments_of

            more[NAMES["arguments"]] = arguments_of(event.call)
        span = self._begin(event, facts, more, self._trace.SpanKind.INTERNAL, is_current=True)
        # The handler runs in this very context, which ends with it: there is nothing to detach from.
        self._context.attach(self._trace.set_span_in_context(span))

    def _tool_returned(self, event: ToolReturned) -> None:
        open_span = self._open.pop(event.id, None)
        if open_span is None:
            return
        attributes: dict[str, Any] = {}
        if event.result is not None:
            from interlingua.client.telemetry.transcript import result_of

            attributes[NAMES["result"]] = result_of(event.result)
        error = event.error or ("ToolError" if event.is_error else None)
        self._end(open_span, attributes, error)
        self._histograms["tool"].record(event.duration_s, open_span.facts | _error(error))

    # Spans

    def _begin(
        self, event: Observed, facts: dict[str, Any], more: dict[str, Any], kind: Any, *, is_current: bool = False
    ) -> Span:
        tags = {f"{NAMES['tag']}{name}": text for name, text in event.tags.items()}
        outer = self._open.get(event.parent_id or "")
        # Without a context of its own a span begins in the current one.
        context = None if outer is None or outer.is_current else self._trace.set_span_in_context(outer.span)
        span = self._tracer.start_span(_name_of(facts), context, kind, facts | more | tags)
        with self._filling:
            oldest = self._open.pop(next(iter(self._open))) if len(self._open) >= MAX_OPEN_SPANS else None
            self._open[event.id] = _Open(span, is_current, facts)
        if oldest is not None:
            oldest.span.end()
        return span

    def _end(self, open_span: _Open, attributes: dict[str, Any], error: str | None) -> None:
        open_span.span.set_attributes(attributes | _error(error))
        self._fail(open_span.span, error, None)
        open_span.span.end()

    def _fail(self, span: Span, error: str | None, message: str | None) -> None:
        if error is not None:
            description = message if message and self._sentences else error
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, description))


_NOTES: dict[type[Observed], str] = {
    AttemptStarted: "interlingua.attempt_started",
    AttemptFailed: "interlingua.attempt_failed",
    TargetSkipped: "interlingua.target_skipped",
    TargetBenched: "interlingua.target_benched",
    RetryScheduled: "interlingua.retry_scheduled",
}
_NOTED = ("number", "dialect", "error", "message", "status", "reason", "delay_s", "for_s")
_MEASURED = (NAMES["error"], NAMES["response_model"])


def _name_of(facts: dict[str, Any]) -> str:
    """The name of a span; an agent has no name of its own, and its model is not one."""
    operation = facts[NAMES["operation"]]
    name = facts.get(NAMES["tool" if operation == "execute_tool" else "model"])
    return operation if name is None or operation == "invoke_agent" else f"{operation} {name}"


def _start_attributes(operation: str, targets: tuple[str, ...]) -> dict[str, Any]:
    """The attributes of a call or a run at its beginning."""
    return {NAMES["operation"]: operation, **(_target(targets[0]) if targets else {})}


def _target(spec: str) -> dict[str, Any]:
    provider, _, model = spec.partition("/")
    return {NAMES["provider"]: PROVIDERS.get(provider, provider), NAMES["model"]: model}


def _counted(usage: Usage | None) -> dict[str, Any]:
    counts = {} if usage is None else {name: getattr(usage, field) for field, name in USAGE.items()}
    return {name: count for name, count in counts.items() if count is not None}


def _error(error: str | None) -> dict[str, Any]:
    return {} if error is None else {NAMES["error"]: error}


# Switching it on


class Instrumentation:
    """Spans and metrics that are being made; `il.instrument` begins them."""

    def __init__(
        self,
        tracer_provider: TracerProvider | None,
        meter_provider: MeterProvider | None,
        *,
        content: bool,
        sentences: bool = True,
    ) -> None:
        """Spans and metrics from now on; `sentences` of errors may repeat words of a request.

        Raises: ConfigError where the extra is missing.
        """
        try:
            self._recorder = _Recorder(tracer_provider, meter_provider, sentences=sentences)
        except ModuleNotFoundError as error:
            raise ConfigError("il.instrument() needs the extra: pip install 'interlingua[otel]'") from error
        self.terms: tuple[object, ...] = (tracer_provider, meter_provider, content, sentences)
        """Where they go, whether they hold content, and whether sentences of errors."""
        self._observation = on_event(self._recorder, content=content)

    def uninstrument(self) -> None:
        """Make no more of them; what is open is ended as it is."""
        global _instrumentation  # noqa: PLW0603 - the one of the process
        with _changing:
            self._observation.close()
            self._recorder.end_all()
            if _instrumentation is self:
                _instrumentation = None


_instrumentation: Instrumentation | None = None
_changing = allocate_lock()


def instrument(
    *,
    content: bool = False,
    sentences: bool = True,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
) -> Instrumentation:
    """The OpenTelemetry instrumentation of the process: GenAI spans and metrics of calls, agents and tools.

    They go to the providers that the application has set up, or to those given. Messages, arguments and results are
    recorded with `content` alone; without `sentences` those of errors, which may repeat words of a request or of an
    answer, are left out, and their classes stay. Asked for again, it is the same one, until `uninstrument` ends it.

    Raises: ConfigError without `interlingua[otel]`; UsageError when it is there already with other terms.
    """
    global _instrumentation  # noqa: PLW0603 - the one of the process
    with _changing:
        if _instrumentation is None:
            _instrumentation = Instrumentation(tracer_provider, meter_provider, content=content, sentences=sentences)
        elif _instrumentation.terms != (tracer_provider, meter_provider, content, sentences):
            raise UsageError("il.instrument() was called with other terms before; uninstrument() that one first")
        return _instrumentation
