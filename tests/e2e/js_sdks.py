"""The official JavaScript SDKs and the AI SDK through the gateway, by the scripts in `tests/js`: `make test-js`."""

from __future__ import annotations

import os
import subprocess
from base64 import b64encode
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
from interlingua.testing.upstream import Call, Cut, Fail, Say, Upstream
from tests.support.browser import browser
from tests.support.gateway import provider, serving
from tests.support.node import installed, node
from tests.support.tiny import PNG
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


# Pages that send their conversations

SECRET = "the secret of the application"
PAGE = (
    '<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/page.js"></script>'
)
DOT = b64encode(PNG).decode()
RESUME_ANSWERED = (
    "performance.getEntriesByType('resource').some(entry => entry.name.endsWith('/stream') && entry.responseEnd)"
)


def _chatting(model: str, script: bytes = b"") -> Any:
    """An application for the page and for a client of AG-UI, with a tool that waits until the page is loaded again."""
    from asyncio import Event

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, Response, StreamingResponse
    from starlette.routing import Route

    streams, reloaded = aio.WebStreams(), Event()

    async def wait_for_reload() -> str:
        """Wait until the page was loaded again."""
        await reloaded.wait()
        return "reloaded"

    agent = aio.Agent(model, tools=[il.tool(get_weather, approve="ask"), wait_for_reload])

    async def chat(request: Request) -> Response:
        chat = il.web_chat(await request.body(), secret=SECRET)
        body = streams.start(chat.id, agent.stream(chat).sse(chat))
        return StreamingResponse(body, headers=body.headers)

    async def again(request: Request) -> Response:
        body = streams.resume(request.path_params["chat_id"])
        if body is None:
            return Response(status_code=204)
        reloaded.set()
        return StreamingResponse(body, headers=body.headers)

    async def ag_ui(request: Request) -> Response:
        chat = il.web_chat(await request.body(), "ag-ui", secret=SECRET)
        body = agent.stream(chat).sse(chat)
        return StreamingResponse(body, headers=body.headers)

    async def page(request: Request) -> Response:
        return HTMLResponse(PAGE) if request.url.path == "/" else Response(script, media_type="text/javascript")

    posts = [Route("/chat", chat, methods=["POST"]), Route("/ag-ui", ag_ui, methods=["POST"])]
    return Starlette(routes=[*posts, Route("/chat/{chat_id}/stream", again), Route("/", page), Route("/page.js", page)])


def _script() -> bytes:
    """The page's script, bundled."""
    folder = installed(FOLDER)
    return subprocess.run([node().program, "chat_page.mjs"], cwd=folder, capture_output=True, check=True).stdout


ASK, COLD = Say(calls=(Call("get_weather", {"city": "Oslo"}),)), Say(text="Cold.")


def test_a_client_of_ag_ui_runs_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own client: an interrupt, what was decided, and the history that it makes of the events."""
    upstream = Upstream("anthropic", ASK, COLD, ASK, Say(text="Then not."))
    with upstream.serving() as address:
        monkeypatch.setenv("LLM_UP", provider("anthropic", address))
        with web(_chatting("up/claude-opus-4-5")) as url:
            _run("ag_ui.mjs", APPLICATION=url)
    assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []


def test_a_page_in_a_browser_sends_approves_and_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    """`useChat` in a real browser: a file, an approval, a denial, and a stream that goes on after a reload."""
    script = _script()
    upstream = Upstream(
        "anthropic",
        ASK,
        COLD,
        ASK,
        Say(text="Then not."),
        Say(text="Wait.", calls=(Call("wait_for_reload", {}),)),
        "Back.",
    )
    with upstream.serving() as address, browser() as opened:
        monkeypatch.setenv("LLM_UP", provider("anthropic", address))
        with web(_chatting("up/claude-opus-4-5", script)) as url:
            page = opened.page(f"{url}/#one")
            # `useChat` is "ready" before its question for a stream to resume is answered: a message sent before that is
            # answered twice, by its own stream and by the resumed one.
            page.wait(RESUME_ANSWERED)
            page.wait("document.querySelector('#ready')")
            page.value(
                f"send('Weather?', [{{type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,{DOT}'}}]); 0"
            )
            page.wait("document.querySelector('.request .yes')")
            page.click(".request .yes")
            page.wait("document.querySelector('#ready') && document.body.innerText.includes('Cold.')")
            assert page.text(".output-available") == '{"city":"Oslo","celsius":4}'
            page.value("send('And now?'); 0")
            page.wait("document.querySelector('.request .no')")
            page.click(".request .no")
            page.wait("document.querySelector('#ready') && document.body.innerText.includes('Then not.')")
            assert page.text(".output-error") == '"the call of get_weather was not approved: not today"'
            page.value("send('Wait for me.'); 0")
            page.wait("document.body.innerText.includes('Wait.')")
            page.call("Page.reload")
            page.wait("document.querySelector('#ready') && document.body.innerText.includes('Back.')")
            assert page.problems == []
    assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    assert upstream.verdicts[0].ok
