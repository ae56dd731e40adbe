"""The contestants, how each is started, and the upstream behind them: the strict imitations, all on one port.

Rules
- Each contestant has the settings that its own guide recommends, those of the bench (`bench.gateways`).
- A path decides which provider is asked: `/v1/chat/completions` is OpenAI, `/v1/messages` Anthropic.
- The upstream knows one model of each provider and one key, and refuses others as the real one does.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.canned import CLIENT_KEY
from bench.gateways import GATEWAYS, Start
from bench.measure import NotRun
from bench.stage import folder, free_port, serve, stop
from interlingua.testing.conformance.question import Question
from interlingua.testing.conformance.session import Session
from interlingua.testing.upstream import Upstream
from interlingua.testing.upstream.loopback import serving
from interlingua.transport.replay import Line
from interlingua.wire.http import Headers, HttpRequest

__all__ = ["CONTESTANTS", "MODELS", "Contestant", "Running", "Stage", "headers_for", "running"]

MODELS = {"openai-chat": "gpt-4o", "anthropic": "claude-sonnet-4-5"}
"""The upstreams that each gateway stands in front of, and the model that leads there."""
UPSTREAM_KEY = "k"
_PATHS = {"/chat/completions": "openai-chat", "/responses": "openai-responses", "/messages": "anthropic"}
_SSE = (("content-type", "text/event-stream"),)
_LISTED = b'{"object":"list","data":[{"id":"gpt-4o","object":"model","created":1795000000,"owned_by":"openai"}]}'


class Stage:
    """Every provider behind one address."""

    def __init__(self) -> None:
        """Strict upstreams that answer by what they are asked."""
        self.stream: Callable[[str], Line] | None = None
        """What every request is answered with, by its dialect; None for the strict upstreams."""
        self._upstreams = {
            dialect: Upstream(dialect, models=frozenset(MODELS.values()), key=UPSTREAM_KEY)
            for dialect in _PATHS.values()
        }

    def answer(self, request: HttpRequest) -> Line:
        """What the provider at the request's path says."""
        path = request.url.partition("?")[0]
        dialect = next((dialect for end, dialect in _PATHS.items() if path.endswith(end)), None)
        if dialect is None:
            is_list = path.endswith("/models")
            return Line(pieces=(_LISTED if is_list else b"{}",), status=200 if is_list else 404)
        if self.stream is not None:
            return self.stream(dialect)
        return self._upstreams[dialect].answer(request)


class Contestant(NamedTuple):
    """One server under judgement."""

    name: str
    """Its name."""
    settings: str
    """With which settings, in a sentence."""
    start: Callable[[int, int], Start]
    """How to start it on a port, in front of the upstream at another."""
    clients: dict[str, str]
    """The dialects that it serves, each with what stands before the operation."""
    models: dict[str, str]
    """The model for each upstream; the key `itself` for a server that answers by itself."""
    key: str = ""
    """The credential that it asks for; empty where it takes any."""
    headers: Callable[[int, str], tuple[str, ...]] = lambda port, model: ()  # noqa: ARG005 - most need none
    """Headers that name the upstream."""
    start_s: float = 30.0
    """How long it may take until it takes connections."""
    note: str = ""
    """What else should be known of it."""


_BASES = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "/v1", "google": "/v1beta", "ollama": ""}
_CONFIG = """
[providers.chat]
dsn = "openai-chat://{key}@127.0.0.1:{mock}/v1?tls=0"
[providers.claude]
dsn = "anthropic://{key}@127.0.0.1:{mock}/v1?tls=0"
[aliases]
"gpt-4o" = "chat/gpt-4o"
"claude-sonnet-4-5" = "claude/claude-sonnet-4-5"
[keys.board]
hash = "sha256:{digest}"
"""


def _ours(port: int, mock: int) -> Start:
    config = folder() / f"interlingua-{port}.toml"
    digest = hashlib.sha256(CLIENT_KEY.encode()).hexdigest()
    config.write_text(_CONFIG.format(key=UPSTREAM_KEY, mock=mock, digest=digest))
    command = [sys.executable, "-m", "interlingua", "serve", "--host", "127.0.0.1", "--port", str(port)]
    return Start([*command, "--config", str(config)], {"INTERLINGUA_HOME": str(folder() / "home")})


def _llama(port: int, mock: int) -> Start:  # noqa: ARG001 - it answers by itself
    from interlingua.local.commands import path_of

    try:
        weights = path_of("tiny")
    except Exception as error:
        raise NotRun(f"the weights of local/tiny cannot be had: {error}") from error
    return Start([sys.executable, "-m", "scoreboard.llama", str(port), str(weights)], {})


def _peer(
    name: str, *clients: str, key: str = "", upstreams: tuple[str, ...] = tuple(MODELS), note: str = ""
) -> Contestant:
    gateway = GATEWAYS[name]
    models = {upstream: MODELS[upstream] for upstream in upstreams}
    surfaces = {client: _BASES[client] for client in clients}
    start_s = gateway.start_s
    return Contestant(name, gateway.settings, gateway.start, surfaces, models, key, gateway.headers, start_s, note)


_CHAT, _RESPONSES, _ANTHROPIC, _GOOGLE = "openai-chat", "openai-responses", "anthropic", "google"
_LLAMA = "A model of 135 million parameters that sees no pictures: some of its failures are the model's."
_PORTKEY = "As npm installs it, each stream is a 500, `TypeError: immutable` in its log, on Node 20 and on Node 24."
CONTESTANTS: dict[str, Contestant] = {
    one.name: one
    for one in (
        Contestant("interlingua", "`il serve`, one key, two providers by DSN", _ours, _BASES, MODELS, CLIENT_KEY),
        _peer("litellm", _CHAT, _RESPONSES, _ANTHROPIC, _GOOGLE, key=CLIENT_KEY),
        _peer("llm-rosetta", _CHAT, _RESPONSES, _ANTHROPIC, _GOOGLE),
        _peer("portkey", _CHAT, _RESPONSES, _ANTHROPIC, key=UPSTREAM_KEY, note=_PORTKEY),
        _peer("ferrogw", _CHAT, _RESPONSES, _ANTHROPIC),
        _peer("smg", _CHAT, _RESPONSES, key=UPSTREAM_KEY, upstreams=("openai-chat",)),
        Contestant(
            "llama.cpp", "its own server, no gateway: one slot, at most 256 tokens, SmolLM2-135M-Instruct", _llama,
            dict.fromkeys((_CHAT, _RESPONSES, _ANTHROPIC), "/v1"), {"itself": "tiny"},
            start_s=60.0, note=_LLAMA,
        ),
    )
}  # fmt: skip
"""Each by its name, in the order of the page."""


class Running(NamedTuple):
    """A contestant that is started."""

    port: int
    """Its port."""
    mock: int
    """The port of the upstream behind it."""
    stage: Stage
    """The upstream."""
    process: subprocess.Popen[Any]
    """Its first process."""


@contextmanager
def running(contestant: Contestant) -> Generator[Running]:
    """A contestant that answers, and the upstream behind it; both end with the block.

    Raises: NotRun where it cannot be started.
    """
    stage = Stage()
    with serving(stage.answer) as base_url:
        mock, port = int(base_url.rpartition(":")[2]), free_port()
        how = contestant.start(port, mock)
        errors = folder() / f"{contestant.name}-errors"
        environ = {"PATH": _path(), "HOME": str(folder()), **how.environ}
        server = serve(contestant.name, how.command, port, environ=environ, log=errors,
                       start_s=contestant.start_s, place=None)  # fmt: skip
        one = Running(port, mock, stage, server.process)
        try:
            _wait_for_an_answer(contestant, one)
            yield one
        finally:
            stop(server.process)


def _wait_for_an_answer(contestant: Contestant, one: Running) -> None:
    """Ask for a text until there is one, or until a start may take no longer: then it is judged as it is."""
    client, base = next(iter(contestant.clients.items()))
    model = next(iter(contestant.models.values()))
    headers = headers_for(contestant, one.mock, model)
    url = f"http://127.0.0.1:{one.port}{base}"
    session = Session(url, client, model, contestant.key, headers=headers, timeout_s=contestant.start_s)
    until_s = time.monotonic() + contestant.start_s
    while session.ask(Question())[0].status != 200 and time.monotonic() < until_s:
        time.sleep(0.2)


def headers_for(contestant: Contestant, mock: int, model: str) -> Headers:
    """The headers that name the upstream of a model."""
    pairs = [line.partition(":") for line in contestant.headers(mock, model)]
    return tuple([(name.strip(), value.strip()) for name, _, value in pairs])


def _path() -> str:
    """The programs of this environment, and behind them those of the machine."""
    return f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
