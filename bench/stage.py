"""A gateway between a load generator and a mock upstream, and what the gateway alone uses of the processor.

The server under test runs on one core, load and upstream on another where there is one. Processor time comes from the
operating system, of the process and all its children; Linux alone tells it while they run.
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from bench.canned import CLIENT_KEY, EVENTS, ahead, answers, encoded, request_body, whole_request
from bench.measure import NotRun, once
from bench.native import binary

__all__ = [
    "LENGTHS",
    "NUMBERS",
    "Load",
    "Server",
    "Used",
    "alone",
    "apart",
    "away",
    "crowd_gateway",
    "folder",
    "free_port",
    "full_gateway",
    "gateway",
    "grown_gateway",
    "load",
    "nginx",
    "reply_mock",
    "serve",
    "stop",
    "upstream",
]

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_START_S = 20.0
LENGTHS = (10, 100, 1_000, 10_000, 100_000)
"""How many events the streams of `grown_gateway` have."""
CROWD_EVENTS, CROWD_PACE_MS = 50, 20
"""How many those of `crowd_gateway` have, and how far they lie apart."""
NUMBERS = itertools.count(10**9, 100_000)
"""From where on the requests of one load are numbered: no two loads have a number in common."""


def alone() -> None:
    """The first core is for the server under test."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def away() -> None:
    """The last one is for load and upstream."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


@contextmanager
def apart() -> Iterator[None]:
    """This process under test for a while, alone on its core; what it asks was started before, `away`."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()
    alone()
    try:
        yield
    finally:
        if allowed:
            os.sched_setaffinity(0, allowed)


class Server(NamedTuple):
    """A server under test."""

    name: str
    """What it is."""
    port: int
    """Where it listens."""
    process: subprocess.Popen[Any]
    """Its first process."""
    started_s: float
    """How long it took until it took connections."""

    def cpu_s(self) -> float:
        """Processor seconds so far, with those of its children."""
        return sum(_cpu_s(pid) for pid in _family(self.process.pid))

    def resident_mb(self) -> float:
        """Memory that it holds, with that of its children, in MB of 1,000,000 bytes."""
        pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in _family(self.process.pid)]
        return sum(pages) * _PAGE_BYTES / 1e6


class Load(NamedTuple):
    """What is asked."""

    model: str
    """The model that the request names."""
    stream: bool = False
    """Whether the answer is a stream."""
    connections: int = 16
    """How many at once."""
    requests: int = 4_000
    """How many in all."""
    spread_ms: int = 0
    """Over how long the connections begin; 0: all at once."""
    headers: tuple[str, ...] = ()
    """Lines of the head beside those that every request has."""
    bodies: tuple[bytes, ...] = ()
    """The bodies of requests in their order, where they are not the usual one; they name the model."""
    number: int = 0
    """From where on requests are numbered, in the place of ten # in the body; 0: all are alike."""


class Used(NamedTuple):
    """What a load came to."""

    cpu_us: float
    """Processor microseconds of the server for one request, or for one event of a stream."""
    first_ms: float
    """Median time to the first piece of the answer's body."""
    told: dict[str, Any]
    """Everything that the load generator says."""


def load(server: Server, asked: Load) -> Used:
    """One load on a server.

    Raises: NotRun when an answer is not as it should be.
    """
    before_s = server.cpu_s()
    command = [
        str(binary("load")),
        str(server.port),
        str(_request_file(asked._replace(connections=0, requests=0, spread_ms=0, number=0))),
    ]
    command += ["--connections", str(asked.connections), "--requests", str(asked.requests)]
    command += ["--spread-ms", str(asked.spread_ms), "--number", str(asked.number)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=away)
    told = json.loads(done.stdout or "{}")
    if done.returncode:
        raise NotRun(f"{server.name}: {_failed(told, asked) if told else done.stderr.strip()}")
    used_s = server.cpu_s() - before_s
    return Used(used_s / (told["events"] or told["requests"]) * 1e6, told["first_ms"]["p50"], told)


def _failed(told: dict[str, Any], asked: Load) -> str:
    what = "streams" if asked.stream else "answers"
    if told["unfinished"]:
        return f"{told['unfinished']} of {asked.requests} {what} did not come in time"
    return f"{told['errors']} of {told['requests']} {what} are refused or broken"


@once
def upstream(pace_ms: int = 0, events: int = EVENTS) -> int:
    """The port of a mock upstream whose streams come at once, or an event every so many milliseconds."""
    return _mock(answers(events), pace_ms)


@contextmanager
def reply_mock(path: str, body: bytes) -> Iterator[int]:
    """The port of a mock upstream that answers whatever begins with `path` with one body."""
    yield _mock({path: (body, body)})


def _mock(told: dict[str, tuple[bytes, bytes]], pace_ms: int = 0) -> int:
    port, place = free_port(), folder()
    command = [str(binary("mock")), str(port), "--pace-ms", str(pace_ms)]
    for number, (path, (body, stream)) in enumerate(told.items()):
        files = [place / f"{kind}-{port}-{number}" for kind in ("reply", "stream")]
        files[0].write_bytes(body)
        files[1].write_bytes(stream)
        command += ["--ahead", str(ahead(path)), "--answer", path, *map(str, files)]
    _wait(_start(command, away, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), port)
    return port


@once
def nginx(pace_ms: int = 0, events: int = EVENTS) -> Server:
    """Nginx as a plain proxy with one worker and connections kept.

    Raises: NotRun where it is not installed.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        raise NotRun("nginx is not installed")
    port, place = free_port(), folder()
    config = place / f"nginx-{port}.conf"
    config.write_text(_NGINX.format(port=port, upstream=upstream(pace_ms, events), folder=place))
    command = [program, "-p", str(place), "-c", str(config), "-e", str(place / "nginx-errors")]
    return serve("nginx", command, port)


_NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx-{port}.pid;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 10000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream mock {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 10000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    client_body_buffer_size 1m; proxy_buffering off;
    location / {{ proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""


@once
def gateway(pace_ms: int = 0, events: int = EVENTS, workers: int = 0) -> Server:
    """Our gateway with a provider for each dialect of the mock upstream; one worker on one core, or some on all."""
    mock = upstream(pace_ms, events)
    options = ("--workers", str(workers)) if workers else ()
    return _ours("the gateway", _providers(mock), *options, place=None if workers else alone)


@once
def grown_gateway() -> Server:
    """Our gateway in front of streams of every length, `chat-N/…` and `claude-N/…`."""
    told = {
        f"/{events}{path}": bodies for events in LENGTHS for path, bodies in answers(events).items() if "v1/" in path
    }
    mock = _mock({path: bodies for path, bodies in told.items() if path.endswith(("completions", "messages"))})
    environ: dict[str, str] = {}
    for events in LENGTHS:
        environ |= _providers(mock, f"/{events}", f"_{events}")
    return _ours("the gateway", environ)


@once
def crowd_gateway() -> Server:
    """Our gateway in front of short streams that take a second each."""
    return _ours("the gateway", _providers(upstream(CROWD_PACE_MS, CROWD_EVENTS)))


def _providers(mock: int, path: str = "", end: str = "") -> dict[str, str]:
    return {
        f"LLM_CHAT{end}": f"openai-chat://{'s' * 40}@127.0.0.1:{mock}{path}/v1?tls=0",
        f"LLM_CLAUDE{end}": f"anthropic://{'s' * 40}@127.0.0.1:{mock}{path}/v1?tls=0",
    }


@once
def full_gateway(pace_ms: int = 0, events: int = EVENTS, source: Path | None = None) -> Server:
    """The gateway with everything on: a key with limits and a budget, a request log in a file, metrics.

    `source` is the folder of another version of the package, which runs in the place of this one.
    """
    place = Path(tempfile.mkdtemp(prefix="full-", dir=folder()))  # a file of keys is of one gateway alone
    config = place / "interlingua.toml"
    digest = hashlib.sha256(CLIENT_KEY.encode()).hexdigest()
    config.write_text(_FULL.format(digest=digest, folder=place))
    options = ("--config", str(config))
    return _ours(
        "the gateway with everything on",
        _providers(upstream(pace_ms, events)),
        *options,
        log=place / "log",
        source=source,
    )


_FULL = """
[server]
log = "json"
metrics = "keys"
keys = "{folder}/keys.sqlite"

[keys.bench]
hash = "sha256:{digest}"
models = ["chat/*", "claude/*"]
rpm = 1_000_000
tpm = 10_000_000_000
concurrency = 4096
budget = "1000000000000 tokens/day"
"""


def _ours(
    name: str,
    providers: dict[str, str],
    *options: str,
    log: Path | None = None,
    place: Callable[[], None] | None = alone,
    source: Path | None = None,
) -> Server:
    port = free_port()
    kept = {word: value for word, value in os.environ.items() if not word.startswith(("LLM_", "INTERLINGUA_"))}
    environ = {**kept, **providers, "INTERLINGUA_HOME": str(folder() / "home")}  # nobody's own keys and settings
    if source is not None:
        environ["PYTHONPATH"] = str(source)
    command = [sys.executable, "-m", "interlingua", "serve", "--host", "127.0.0.1", "--port", str(port), *options]
    return serve(name, command, port, environ=environ, log=log, place=place)


# Processes


def serve(
    name: str,
    command: list[str],
    port: int,
    *,
    environ: dict[str, str] | None = None,
    log: Path | None = None,
    start_s: float = _START_S,
    place: Callable[[], None] | None = alone,
) -> Server:
    """A server that takes connections on this port.

    Raises: NotRun where it does not within the time that a start may take.
    """
    began_s = time.perf_counter()
    with (log or Path(os.devnull)).open("wb") as errors:
        process = _start(command, place, env=environ, stdout=subprocess.DEVNULL, stderr=errors)
    _wait(process, port, start_s)
    return Server(name, port, process, time.perf_counter() - began_s)


def _start(command: list[str], place: Any, **options: Any) -> subprocess.Popen[Any]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        preexec_fn=place,  # noqa: PLW1509 - nothing here runs in threads
        start_new_session=True,
        **options,
    )
    atexit.register(stop, process)
    return process


def stop(process: subprocess.Popen[Any]) -> None:
    """End a process and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _wait(process: subprocess.Popen[Any], port: int, start_s: float = _START_S) -> None:
    until_s = time.perf_counter() + start_s
    while time.perf_counter() < until_s and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.1):
            return
        time.sleep(0.005)
    stop(process)
    raise NotRun(f"{Path(process.args[0]).name} does not start")


def _family(pid: int) -> list[int]:
    """A process and all below it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        raise NotRun("the operating system does not tell what running processes use (no /proc)") from None
    return [pid, *[one for child in children for one in _family(int(child))]]


def _cpu_s(pid: int) -> float:
    """Processor seconds of all threads that run; the scheduler counts in nanoseconds."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@once
def folder() -> Path:
    """Where a run keeps its files; it goes with the run."""
    made = Path(tempfile.mkdtemp(prefix="interlingua-bench-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    made.chmod(0o755)
    return made


@once
def _request_file(asked: Load) -> Path:
    path = folder() / f"request-{len(list(folder().iterdir()))}"
    bodies = asked.bodies or (encoded(request_body(asked.model), stream=asked.stream),)
    path.write_bytes(b"".join([whole_request(body, asked.headers) for body in bodies]))
    return path
