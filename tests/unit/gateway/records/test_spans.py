"""Spans of the gateway: a server's span around the client's, in the trace of whoever asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from interlingua.errors import ConfigError
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.records import spans as spans_module
from interlingua.gateway.records.spans import Spans, export_by_environment
from interlingua.testing.upstream import Upstream
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from tests.support.gateway import MODELS, asking, body_of, gateway

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Traced:
    """A gateway with spans, and the ones that have ended."""

    def __init__(self) -> None:
        """Nothing has been asked."""
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.gateway: Gateway = gateway()
        self.gateway.spans = Spans(provider)
        self.gateway.recorder.sinks = (self.gateway.spans.count,)

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that have ended, in order of their ends."""
        return list(self.exporter.get_finished_spans())


@pytest.fixture
def traced() -> Iterator[Traced]:
    """A gateway with spans."""
    made = Traced()
    yield made
    assert made.gateway.spans is not None
    made.gateway.spans.close()


def ids_of(span: ReadableSpan) -> tuple[int, int]:
    """The ids of a span's trace and of itself."""
    context = span.get_span_context()
    assert context is not None
    return context.trace_id, context.span_id


def told(span: ReadableSpan) -> dict[str, Any]:
    """The attributes of a span."""
    return dict(span.attributes or {})


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
async def test_a_request_is_a_server_span_around_the_call(traced: Traced, client: str, stream: bool) -> None:
    """Relayed and translated: one trace, the client's `traceparent` above it, and no content."""
    request = asking(
        client,
        MODELS["openai-chat"],
        "my question",
        stream=stream,
        headers={"traceparent": PARENT, "x-request-id": "mine"},
    )
    with Upstream("openai-chat").standing():
        await body_of(await traced.gateway(request))
    call, server = traced.spans
    assert (server.kind, call.kind) == (SpanKind.SERVER, SpanKind.CLIENT)
    assert server.name == f"POST {request.path}"
    assert call.name == "chat gpt-4.1"
    assert server.parent is not None
    assert call.parent is not None
    assert f"{server.parent.trace_id:032x}-{server.parent.span_id:016x}" == PARENT[3:-3]
    assert (call.parent.span_id, ids_of(call)[0]) == (ids_of(server)[1], ids_of(server)[0])
    assert told(server) == {
        "http.request.method": "POST",
        "http.route": request.path,
        "url.scheme": "http",
        "client.address": "127.0.0.1",
        "interlingua.request_id": "mine",
        "interlingua.client": client,
        "http.response.status_code": 200,
        "gen_ai.request.model": MODELS["openai-chat"],
        "interlingua.target": MODELS["openai-chat"],
    }
    assert "my question" not in f"{server.to_json()}{call.to_json()}"
    assert server.status.status_code is StatusCode.UNSET


async def test_what_goes_upstream_belongs_to_the_trace(traced: Traced) -> None:
    """A gateway behind this one gets `traceparent`, with this one's span; without spans nothing is added."""
    for made, expected in ((traced.gateway, True), (gateway(), False)):
        transport = AsyncReplayTransport(Line(status=400, pieces=(b"{}",)))
        with overriding(Override(lambda _: ReplayTransport(), lambda _, to=transport: to, answers=True)):
            await made(asking("openai-chat", MODELS["openai-chat"], headers={"traceparent": PARENT}))
        sent = dict(transport.script.requests[0].headers)
        assert ("traceparent" in sent) is expected
        if expected:
            server = traced.spans[-1]
            assert sent["traceparent"] == f"{PARENT[:36]}{ids_of(server)[1]:016x}-01"


async def test_failures_are_told(traced: Traced) -> None:
    """The class of the error; the span has failed where the server did, not where the client was wrong."""
    transport = AsyncReplayTransport(Line(status=401, pieces=(b"{}",)), Line(status=500, pieces=(b"{}",), times=None))
    with overriding(Override(lambda _: ReplayTransport(), lambda _: transport, answers=True)):
        for _ in range(2):
            await traced.gateway(asking("openai-chat", MODELS["openai-chat"]))
    servers = [span for span in traced.spans if span.kind is SpanKind.SERVER]
    assert [told(span)["error.type"] for span in servers] == ["AuthenticationError", "InternalServerError"]
    assert [span.status.status_code for span in servers] == [StatusCode.UNSET, StatusCode.ERROR]


async def test_an_unknown_path_is_no_name_of_a_span(traced: Traced) -> None:
    """What a client makes up is in no span; only requests that are handled have one."""
    await traced.gateway(GatewayRequest(method="GET", path="/made/up", peer="127.0.0.1"))
    await traced.gateway(GatewayRequest(method="GET", path="/v1/models/made-up", peer="127.0.0.1"))
    assert [span.name for span in traced.spans] == ["GET /v1/models/{model:path}"]


def test_without_an_exporter_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--otel` that sends nothing anywhere would be a surprise."""

    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(spans_module, "import_module", missing)
    with pytest.raises(ConfigError, match="--otel needs the extra and an exporter"):
        export_by_environment()
