"""The official JavaScript SDKs and the AI SDK through the gateway, by the scripts in `tests/js`: `make test-js`."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import interlingua as il
from interlingua import aio
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.testing import FakeModel, tool_call, use
from interlingua.testing.upstream import Cut, Fail, Say, Upstream
from tests.support.gateway import provider, serving
from tests.support.node import installed, node
from tests.support.web import web

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from interlingua.transport.replay import Line
    from interlingua.wire.http import HttpRequest

FOLDER = Path(__file__).parents[1] / "js"
KEY = "il-test-key"
UPSTREAMS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-4.1",
    "anthropic": "claude-opus-4-5",
    "google": "gemini-2.5-pro",
    "ollama": "qwen3",
}
"""A model for each kind of upstream."""
THINKERS = {**UPSTREAMS, "openai-responses": "gpt-5.6"}
"""One that thinks."""
SCRIPTS = {
    "openai.mjs": ("anthropic", "google"),
    "anthropic.mjs": ("openai-chat", "openai-responses", "google"),
    "google.mjs": ("openai-responses", "anthropic"),
    "ollama.mjs": ("anthropic", "openai-chat"),
    "ai_sdk.mjs": ("ollama", "anthropic", "google"),
}
"""What each script is tried against."""
RUNS = [(script, dialect) for script, dialects in SCRIPTS.items() for dialect in dialects]


class Busy(Upstream):
    """A provider that asks for a longer wait than anybody has patience for."""

    def answer(self, request: HttpRequest) -> Line:
        """The refusal, with its time."""
        line = super().answer(request)
        headers = [(name, "3600" if name == "retry-after" else value) for name, value in line.headers]
        pieces = [piece.replace(b'"retryDelay":"7s"', b'"retryDelay":"3600s"') for piece in line.pieces]
        return msgspec.structs.replace(line, pieces=tuple(pieces), headers=tuple(headers))


@contextmanager
def _gateway(dialect: str) -> Generator[tuple[str, Upstream]]:
    """A gateway with three models of one kind: one that talks, one that is busy, one whose streams break off."""
    talk = Upstream(dialect)
    others = {
        "busy": Busy(dialect, *[Fail(429, "slow down")] * 40),
        "broken": Upstream(dialect, *[Cut(Say(text="One two three four five"), -4)] * 40),
    }
    with ExitStack() as stack:
        addresses = {name: stack.enter_context(up.serving()) for name, up in {"up": talk, **others}.items()}
        url = stack.enter_context(
            serving(
                providers={name: provider(dialect, address) for name, address in addresses.items()},
                aliases={
                    "talk": f"up/{UPSTREAMS[dialect]}",
                    "think": f"up/{THINKERS[dialect]}",
                    **{name: f"{name}/{UPSTREAMS[dialect]}" for name in others},
                },
                keys=(GatewayKey(name="js", hash=hash_key(KEY)),),
            )
        )
        yield url, talk


def _run(script: str, **environment: str) -> None:
    """Run a script; its own report is the failure."""
    folder = installed(FOLDER)
    done = subprocess.run(
        [node().program, "--test-reporter=spec", script],
        cwd=folder,
        env={"PATH": os.environ.get("PATH", ""), "NO_COLOR": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{script} failed:\n{done.stdout}"


@pytest.mark.parametrize(("script", "dialect"), RUNS, ids=lambda value: value.removesuffix(".mjs"))
def test_an_sdk_through_the_gateway(script: str, dialect: str) -> None:
    """Chat, stream helpers, tools over two turns, parallel calls, structured output, images and errors."""
    with _gateway(dialect) as (url, upstream):
        _run(script, GATEWAY=url, GATEWAY_KEY=KEY, UPSTREAM=dialect)
        refused = [str(verdict) for verdict in upstream.verdicts if not verdict.ok]
    assert upstream.verdicts
    assert refused == []


# UI messages

CITED = il.Citation("openai-responses", {"type": "url_citation", "url": "https://example.org/oslo", "title": "Oslo"})
ANSWERS: dict[str, list[Any]] = {
    "/text": [il.Response(parts=(il.ThinkingPart("Let me see."), il.TextPart('Say "hi", 世界 🌍\n')))],
    "/call": [tool_call("get_weather", city="Oslo")],
    "/media": [il.Response(parts=(il.TextPart("Oslo", (CITED,)), il.ImagePart(b"\x89PNG\r\n\x1a\n", "image/png")))],
    "/broken": [il.IncompleteStreamError("cut", partial=il.Response(parts=(il.TextPart("Once"),)))],
    "/refused": [il.AuthenticationError("no such key", status=401)],
    "/agent": [tool_call("get_weather", city="Oslo"), "Cold."],
    "/failing": [tool_call("get_weather", city="Atlantis"), "Sorry."],
    "/approval": [tool_call("get_weather", city="Oslo")],
}
"""What the model says, by path."""


def get_weather(city: str) -> dict[str, object]:
    """The weather of a city."""
    if city == "Atlantis":
        raise il.ToolError("no such city")
    return {"city": city, "celsius": 4}


def _application() -> Any:
    """An application that tells each kind of answer on a path of its own."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response, StreamingResponse
    from starlette.routing import Route

    async def answer(request: Request) -> Response:
        path = request.url.path
        model = FakeModel(ANSWERS[path])
        with use(model):
            if path in {"/agent", "/failing", "/approval"}:
                approve = "ask" if path == "/approval" else "auto"
                body = aio.Agent("openai/gpt-5.6", tools=[get_weather], approve=approve).stream("Hi").sse()
            else:
                stream = aio.model("openai/gpt-5.6").stream("Hi", tools=[get_weather])
                try:
                    await stream.open()
                except il.Error as error:
                    return PlainTextResponse(error.message, status_code=error.http_status)
                body = stream.sse("ai-sdk")
            pieces = [piece async for piece in body]

        async def told() -> AsyncGenerator[bytes]:
            for piece in pieces:
                yield piece

        return StreamingResponse(told(), headers=body.headers)

    return Starlette(routes=[Route(path, answer, methods=["POST"]) for path in ANSWERS])


def test_the_ai_sdk_reads_ui_messages() -> None:
    """Its own transport and reader: text, reasoning, calls, files, sources, an agent's steps, approvals, errors."""
    with web(_application()) as url:
        _run("ui_messages.mjs", APPLICATION=url)
