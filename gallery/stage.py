"""The upstreams behind the gateway, on one port, and the gateway itself: `il serve` as a process of its own.

Rules
- The first part of a path names the upstream: `/claude/v1/messages` is the strict Anthropic, `/mock/v1/…` llmock's.
- The end of a model's name says what it does: `-steps` calls a tool in each of two answers, `-rate` is busy.
- Every upstream is new for every client, so that what one leaves unused answers nobody else.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.stage import free_port
from interlingua.testing.upstream import Answer, Call, Cut, Fail, Say, Upstream
from interlingua.testing.upstream.judge import asked_of
from interlingua.testing.upstream.loopback import serving
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpRequest

__all__ = ["CLIENT_KEY", "UPSTREAMS", "Place", "Stage", "models_of", "place"]

CLIENT_KEY = "il-gallery-key"
START_S = 60.0


class Target(NamedTuple):
    """One upstream."""

    dialect: str
    """What it speaks."""
    dsn: str
    """How the gateway is told of it."""
    model: str
    """Its model."""
    thinker: str
    """Its model that thinks; empty where it has none that says what it thought."""
    is_strict: bool = True
    """Whether it is an imitation of ours, which judges requests and answers by a script."""


UPSTREAMS: dict[str, Target] = {
    "chat": Target("openai-chat", "openai-compatible://k@{at}/chat/v1?tls=0", "gpt-4.1", ""),
    "gpt": Target("openai-responses", "openai-responses://k@{at}/gpt/v1?tls=0", "gpt-4.1", "gpt-5.6"),
    "claude": Target("anthropic", "anthropic://k@{at}/claude/v1?tls=0", "claude-opus-4-5", "claude-opus-4-5"),
    "gemini": Target("google", "google://k@{at}/gemini?tls=0", "gemini-2.5-pro", "gemini-2.5-pro"),
    "llama": Target("ollama", "ollama://k@{at}/llama?tls=0", "qwen3", "qwen3"),
    "llmock": Target("openai-chat", "openai-compatible://k@{mock}/v1?tls=0", "gpt-4.1", "", is_strict=False),
}
"""The upstreams by their names at the gateway: the strict ones, and a server that we did not write."""
_WEATHER = [Call("get_weather", {"city": city}) for city in ("Oslo", "Bergen")]
_FINAL = Say(text="Bergen is warmer.")
_TOO_LONG = "prompt is too long: 250000 tokens > 200000 maximum"
SCRIPTS: dict[str, list[Answer]] = {
    "steps": [Say(calls=(_WEATHER[0],)), Say(calls=(_WEATHER[1],)), _FINAL],
    "pair": [Say(calls=tuple(_WEATHER)), _FINAL],
    "rate": [Fail(429, "slow down")],
    "context": [Fail(400, _TOO_LONG)],
    "broken": [Cut(Say(text="One two three four five six seven"), -4)],
}
"""What a model whose name ends with this answers, again and again."""
_TIMES = 40


def models_of(upstream: str) -> dict[str, str]:
    """The names of the models that a driver asks for, by what they do."""
    target = UPSTREAMS[upstream]
    if not target.is_strict:
        return dict.fromkeys(("talk", "steps"), f"{upstream}/{target.model}")
    scripted = {kind: f"{upstream}/{target.model}-{kind}" for kind in SCRIPTS}
    thinker = {"think": f"{upstream}/{target.thinker}"} if target.thinker else {}
    return {"talk": f"{upstream}/{target.model}", **thinker, "model": "no-such-model", **scripted}


class Stage:
    """Every strict upstream behind one address."""

    def __init__(self) -> None:
        """Upstreams that nobody has asked yet."""
        self._upstreams: dict[tuple[str, str], Upstream] = {}

    def renew(self) -> None:
        """New upstreams."""
        self._upstreams.clear()

    def answer(self, request: HttpRequest) -> Line:
        """What the upstream that the path names says."""
        name = request.url.partition("://")[2].split("/")[1]
        target = UPSTREAMS.get(name)
        if target is None:
            return Line(pieces=(b"{}",), status=404)
        kind = asked_of(target.dialect, request).model.rpartition("-")[2]
        script = SCRIPTS.get(kind, []) * _TIMES
        upstream = self._upstreams.setdefault((name, kind if script else ""), Upstream(target.dialect, *script))
        line = upstream.answer(request)
        return _soon(line) if kind == "rate" else line

    def refused(self) -> list[str]:
        """What the strict upstreams found wrong with requests of the gateway."""
        verdicts = [verdict for upstream in self._upstreams.values() for verdict in upstream.verdicts]
        return list(dict.fromkeys(str(verdict) for verdict in verdicts if not verdict.ok))


def _soon(line: Line) -> Line:
    """A refusal that asks for a second: the gateway tries again, then the client does."""
    headers = [(name, "1" if name == "retry-after" else value) for name, value in line.headers]
    pieces = [piece.replace(b'"retryDelay":"7s"', b'"retryDelay":"1s"') for piece in line.pieces]
    return msgspec.structs.replace(line, pieces=tuple(pieces), headers=tuple(headers))


class Place(NamedTuple):
    """A gateway that runs."""

    url: str
    """Its address."""
    stage: Stage
    """The upstreams behind it."""


@contextmanager
def place() -> Generator[Place]:
    """The gateway in front of all upstreams, until the end of the block."""
    stage = Stage()
    with serving(stage.answer) as base_url, tempfile.TemporaryDirectory() as folder, _llmock(Path(folder)) as mock:
        at = base_url.partition("://")[2]
        config = Path(folder) / "gateway.toml"
        config.write_text(_config(at, mock), encoding="utf-8")
        url = f"http://127.0.0.1:{free_port()}"
        with _gateway(url, config, Path(folder)):
            yield Place(url, stage)


def _config(at: str, mock: str) -> str:
    dsns = {name: target.dsn.format(at=at, mock=mock) for name, target in UPSTREAMS.items()}
    lines = [f'[providers.{name}]\ndsn = "{dsn}"' for name, dsn in dsns.items()]
    digest = hashlib.sha256(CLIENT_KEY.encode()).hexdigest()
    return "\n".join([*lines, f'[keys.gallery]\nhash = "sha256:{digest}"', ""])


@contextmanager
def _gateway(url: str, config: Path, folder: Path) -> Generator[None]:
    """The gateway as a process of its own."""
    words = ["-m", "interlingua", "serve", "--host", "127.0.0.1", "--port", url.rpartition(":")[2]]
    environment = {"INTERLINGUA_HOME": str(folder / "home")}
    with _process([*words, "--config", str(config)], f"{url}/health", folder, environment):
        yield


@contextmanager
def _llmock(folder: Path) -> Generator[str]:
    """Where llmock listens, a server of several dialects that others wrote."""
    at = f"127.0.0.1:{free_port()}"
    program = "from llmock.cli import app; app()"
    words = ["-c", program, "serve", "--port", at.rpartition(":")[2], "--log-level", "critical"]
    with _process(words, f"http://{at}/health", folder, {}):
        yield at


@contextmanager
def _process(words: list[str], health: str, folder: Path, environment: dict[str, str]) -> Generator[None]:
    """A program of this Python that answers at an address, until the end of the block."""
    around = {"PATH": "/usr/bin:/bin", "HOME": str(folder), **environment}
    path = folder / f"log-{health.split(':')[2].partition('/')[0]}"
    with path.open("wb") as log:
        process = subprocess.Popen([sys.executable, *words], env=around, stdout=log, stderr=log)
        try:
            _wait(health, process, path)
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(health: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when a server answers.

    Raises: RuntimeError with its own words where it ends or stays silent.
    """
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s and process.poll() is None:
        try:
            urllib.request.urlopen(health, timeout=1).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"nobody answers at {health}: {log.read_text(errors='replace')[-500:]}")
