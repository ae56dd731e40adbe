"""Secrets and content planted in requests, and searched for in everything that a gateway writes down."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.records.spans import Spans
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from tests.support.gateway import asking, body_of

CLIENT_KEY = "plantedclientkey7261"
UPSTREAM_KEY = "plantedupstreamkey5519"
OTHER_KEY = "sk-planted0123456789abcdef"
PROMPT = "plantedprompt about the merger"
ANSWER = "plantedanswer nobody is to read"
SECRETS = (CLIENT_KEY, UPSTREAM_KEY, OTHER_KEY)
SSE = (("content-type", "text/event-stream"),)
REPLY = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",'
    b'"message":{"role":"assistant","content":"%s"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}'
) % f"{ANSWER} {UPSTREAM_KEY}".encode()
CHUNK = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % ANSWER.encode()
ERROR = b'{"error":{"message":"bad key %s for %s","type":"x"}}' % (UPSTREAM_KEY.encode(), PROMPT.encode())
LINES = (
    Line(pieces=(REPLY,)),
    Line(pieces=(CHUNK, b"data: [DONE]\n\n"), headers=SSE),
    Line(pieces=(CHUNK,), headers=SSE),
    Line(status=401, pieces=(ERROR,)),
    Line(status=400, pieces=(ERROR,), headers=(("content-type", "application/json"), ("x-echo", UPSTREAM_KEY))),
)


async def _everything(tmp_path: Path, *, content: bool) -> str:
    """What a gateway writes of requests of every end, in all of its places at once but stderr."""
    observing = Observing(
        log="json",
        log_content=content,
        metrics="keys",
        store=str(tmp_path / "log.db"),
        record=str(tmp_path / "cassettes") if content else "",
    )
    made = Gateway(
        GatewaySettings(keys=(GatewayKey(name="team-a", hash=hash_key(CLIENT_KEY)),), observing=observing),
        registry=Registry({"LLM_UP": f"openai-compatible://{UPSTREAM_KEY}@up.example"}),
    )
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    made.spans = Spans(provider)
    for place, line in enumerate(LINES):
        transport = AsyncReplayTransport(line)
        with overriding(Override(lambda _: ReplayTransport(), lambda _, to=transport: to)):
            request = asking(
                "anthropic" if place % 2 else "openai-chat",
                "up/model",
                f"{PROMPT} {OTHER_KEY}",
                stream=place in (1, 2),
                headers={"authorization": f"Bearer {CLIENT_KEY}"},
            )
            await body_of(await made(request))
            assert transport.script.requests[0].headers[-1] == ("authorization", f"Bearer {UPSTREAM_KEY}")
    odd = (
        GatewayRequest(path="/v1/messages", query=f"key={CLIENT_KEY}", body=b'{"model":"%s"}' % OTHER_KEY.encode()),
        GatewayRequest(method="GET", path=f"/{OTHER_KEY}", headers=(("x-api-key", "wrong-" + OTHER_KEY),)),
        asking("google", "nobody/knows", PROMPT, headers={"x-goog-api-key": CLIENT_KEY, "x-request-id": OTHER_KEY}),
    )
    for request in odd:
        await body_of(await made(request))
    asked = GatewayRequest(method="GET", path="/metrics", headers=(("x-api-key", CLIENT_KEY),))
    told = [(await body_of(await made(asked))).decode()]
    made.spans.close()
    await made.close()
    told += [span.to_json() for span in exporter.get_finished_spans()]
    files = _files(tmp_path)
    assert len(files) == (8 if content else 1)
    return "\n".join([*told, *files])


def _files(directory: Path) -> list[str]:
    return [path.read_bytes().decode(errors="replace") for path in sorted(directory.rglob("*")) if path.is_file()]


async def test_sec_05_planted_secrets_are_nowhere(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Log, metrics, spans, SQLite and cassettes, with content: no key of the client, of an upstream, or of a prompt."""
    told = await _everything(tmp_path, content=True)
    err = capfd.readouterr().err
    assert len(err.splitlines()) == len(LINES) + 4
    for secret in SECRETS:
        assert secret not in told
        assert secret not in err
    for said in (PROMPT, ANSWER):
        assert said in err
        assert said in told


async def test_planted_content_is_nowhere_by_default(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Without `log_content`: neither what was asked nor what was answered, also where an error repeats it."""
    told = await _everything(tmp_path, content=False)
    err = capfd.readouterr().err
    assert len(err.splitlines()) == len(LINES) + 4
    for said in (*SECRETS, PROMPT, ANSWER, "plantedprompt", "plantedanswer"):
        assert said not in told
        assert said not in err
