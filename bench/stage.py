"""A gateway between a load generator and a mock upstream, and what the gateway alone uses of the processor.

The server under test runs on one core, load and upstream on another where there is one. Processor time comes from the
operating system, of the process and all its children; Linux alone tells it while they run.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bench.canned import CLIENT_KEY, answers, request
from bench.measure import NotRun
from bench.native import binary

__all__ = ["Load", "Server", "Used", "full_gateway", "gateway", "load", "nginx", "upstream"]

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_START_S = 20.0


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
    command = [str(binary("load")), str(server.port), str(_request_file(asked.model, stream=asked.stream))]
    command += ["--connections", str(asked.connections), "--requests", str(asked.requests)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=_away)
    told = json.loads(done.stdout or "{}")
    if done.returncode:
        raise NotRun(f"{server.name} does not answer {asked.model}: {told or done.stderr.strip()}")
    used_s = server.cpu_s() - before_s
    return Used(used_s / (told["events"] or told["requests"]) * 1e6, told["first_ms"]["p50"], told)


@cache
def upstream(pace_ms: int = 0) -> int:
    """The port of a mock upstream whose streams come at once, or an event every so many milliseconds."""
    port = free_port()
    command = [str(binary("mock")), str(port), "--pace-ms", str(pace_ms)]
    for number, (path, (body, stream)) in enumerate(answers().items()):
        files = [folder() / f"{kind}-{number}" for kind in ("reply", "stream")]
        files[0].write_bytes(body)
        files[1].write_bytes(stream)
        command += ["--answer", path, *map(str, files)]
    _wait(_start(command, _away, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), port)
    return port


@cache
def nginx(pace_ms: int = 0) -> Server:
    """Nginx as a plain proxy with one worker and connections kept.

    Raises: NotRun where it is not installed.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        raise NotRun("nginx is not installed")
    port, place = free_port(), folder()
    config = place / f"nginx-{port}.conf"
    config.write_text(_NGINX.format(port=port, upstream=upstream(pace_ms), folder=place))
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


@cache
def gateway(pace_ms: int = 0) -> Server:
    """Our gateway, one worker, with a provider for each dialect of the mock upstream."""
    return _ours("the gateway", pace_ms)


@cache
def full_gateway(pace_ms: int = 0) -> Server:
    """The same with everything on: a key with limits and a budget, a request log in a file, metrics."""
    place = folder()
    config = place / f"full-{pace_ms}.toml"
    digest = hashlib.sha256(CLIENT_KEY.encode()).hexdigest()
    config.write_text(_FULL.format(digest=digest, folder=place))
    return _ours("the gateway with everything on", pace_ms, "--config", str(config), log=place / f"log-{pace_ms}")


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


def _ours(name: str, pace_ms: int, *options: str, log: Path | None = None) -> Server:
    port, mock = free_port(), upstream(pace_ms)
    kept = {word: value for word, value in os.environ.items() if not word.startswith(("LLM_", "INTERLINGUA_"))}
    environ = {
        **kept,
        "INTERLINGUA_HOME": str(folder() / "home"),  # nobody's own keys and settings
        "LLM_CHAT": f"openai-chat://{'s' * 40}@127.0.0.1:{mock}/v1?tls=0",
        "LLM_CLAUDE": f"anthropic://{'s' * 40}@127.0.0.1:{mock}?tls=0",
    }
    command = [sys.executable, "-m", "interlingua", "serve", "--host", "127.0.0.1", "--port", str(port), *options]
    return serve(name, command, port, environ, log)


# Processes


def serve(
    name: str, command: list[str], port: int, environ: dict[str, str] | None = None, log: Path | None = None
) -> Server:
    """A server that takes connections on this port.

    Raises: NotRun where it does not within the time that a start may take.
    """
    began_s = time.perf_counter()
    with (log or Path(os.devnull)).open("wb") as errors:
        process = _start(command, alone, env=environ, stdout=subprocess.DEVNULL, stderr=errors)
    _wait(process, port)
    return Server(name, port, process, time.perf_counter() - began_s)


def _start(command: list[str], place: Any, **options: Any) -> subprocess.Popen[Any]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        preexec_fn=place,  # noqa: PLW1509 — nothing here runs in threads
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


def _wait(process: subprocess.Popen[Any], port: int) -> None:
    until_s = time.perf_counter() + _START_S
    while time.perf_counter() < until_s and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.1):
            return
        time.sleep(0.005)
    raise NotRun(f"{Path(process.args[0]).name} does not start")


def alone() -> None:
    """The first core is for the server under test."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _away() -> None:
    """The last one is for load and upstream."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


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


@cache
def folder() -> Path:
    """Where a run keeps its files; it goes with the run."""
    made = Path(tempfile.mkdtemp(prefix="interlingua-bench-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    made.chmod(0o755)
    return made


@cache
def _request_file(model: str, *, stream: bool) -> Path:
    path = folder() / f"request-{model.replace('/', '-')}-{stream}"
    path.write_bytes(request(model, stream=stream))
    return path
