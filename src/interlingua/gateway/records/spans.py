"""OpenTelemetry spans of the gateway: one for each request, with the spans of its calls below it.

```
POST /v1/messages            SERVER, from the first byte to the last; its parent is the client's, by `traceparent`
└── chat gpt-5.6             CLIENT, as `il.instrument()` makes it
```

Rules
- Content is in no span; a path is sent as its route, so that names in it are not.
- What goes upstream carries `traceparent`, so that a gateway behind this one belongs to the same trace.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from interlingua import instrument
from interlingua.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from collections.abc import Generator

    from opentelemetry.trace import Span, TracerProvider

    from interlingua import Instrumentation
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.records.record import Entry, Record

__all__ = ["Spans", "export_by_environment"]

_CARRIED = ("traceparent", "tracestate")
_SERVER_ERROR = 500


class Spans:
    """The spans of one gateway."""

    def __init__(self, tracer_provider: TracerProvider | None = None) -> None:
        """Spans of requests and of calls from now on, to the provider of the application or to that one.

        Raises: ConfigError without `interlingua[otel]`.
        """
        self._calls: Instrumentation | None = None
        with suppress(UsageError):  # the application makes spans of calls itself, on its own terms
            self._calls = instrument(tracer_provider=tracer_provider, sentences=False)
        from importlib.metadata import version

        from opentelemetry import context, trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._context = context
        self._trace = trace
        self._propagator = TraceContextTextMapPropagator()
        self._tracer = trace.get_tracer("interlingua.gateway", version("interlingua"), tracer_provider)

    @contextmanager
    def around(self, request: GatewayRequest, entry: Entry) -> Generator[None]:
        """The span of a request, current in the block; the request gets the headers of its trace."""
        attributes = {
            "http.request.method": entry.origin.method,
            "http.route": entry.origin.route,
            "url.scheme": "http",
            "client.address": entry.peer,
            "interlingua.client": entry.origin.client,
            "interlingua.key": entry.key,
        }
        carried = {name: value for name, value in request.headers if name in _CARRIED}
        span = self._tracer.start_span(
            f"{entry.origin.method} {entry.origin.route}".rstrip(),
            self._propagator.extract(carried),
            self._trace.SpanKind.SERVER,
            {name: value for name, value in attributes.items() if value},
        )
        entry.ending = partial(self._end, span)
        token = self._context.attach(self._trace.set_span_in_context(span))
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        request.trace_headers = tuple(carrier.items())
        try:
            yield
        finally:
            self._context.detach(token)

    def _end(self, span: Span, record: Record) -> None:
        attributes: dict[str, Any] = {
            "http.response.status_code": record.status,
            "interlingua.request_id": record.id,
            "gen_ai.request.model": record.model,
            "interlingua.target": record.target,
            "interlingua.changes": record.changes,
            "interlingua.aborted": record.aborted,
        }
        span.set_attributes({name: value for name, value in attributes.items() if value})
        if record.status >= _SERVER_ERROR or record.error:
            span.set_attribute("error.type", record.error or str(record.status))
        if record.status >= _SERVER_ERROR or (record.error and record.status < 400):
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, record.error))
        span.end()

    def count(self, record: Record) -> None:
        """Nothing: a span ends with its request, and this is what makes that known."""

    def close(self) -> None:
        """Make no more spans."""
        if self._calls is not None:
            self._calls.uninstrument()


def export_by_environment() -> None:
    """Have spans exported as the variables of OpenTelemetry say (`OTEL_…`), unless somebody has seen to it.

    Raises: ConfigError where neither the application nor the SDK does it.
    """
    try:
        from opentelemetry import trace

        if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            return
        exporter = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter").OTLPSpanExporter()
        sdk, export = import_module("opentelemetry.sdk.trace"), import_module("opentelemetry.sdk.trace.export")
    except ModuleNotFoundError:
        raise ConfigError(
            "--otel needs the extra and an exporter: pip install 'interlingua[otel]' opentelemetry-sdk"
            " opentelemetry-exporter-otlp-proto-http; or run under opentelemetry-instrument"
        ) from None
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
