"""`il serve` as a process: where it listens, what it says, how it ends."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from interlingua.testing.upstream import Upstream
from interlingua.testing.upstream.vectors import VectorUpstream
from tests.support.gateway import provider

BODY = {"model": "a-name-of-the-clients", "messages": [{"role": "user", "content": "Hi"}]}


class Served(NamedTuple):
    """A gateway in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    told: list[str]

    def ask(self, body: object = BODY, **headers: str) -> http.client.HTTPResponse:
        """The reply to a Chat request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"connection": "close", **given})
        return connection.getresponse()


@contextmanager
def _serving(*arguments: str, **environ: str) -> Generator[Served]:
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environ})
    told: list[str] = []
    try:
        assert process.stderr is not None
        for line in process.stderr:
            told.append(line.strip())
            if "OLLAMA_HOST" in line:
                break
        found = re.search(r"serving on http://127\.0\.0\.1:(\d+)", told[0])
        assert found, told
        yield Served(process, int(found[1]), told)
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def test_it_serves_from_flags_and_the_environment_alone() -> None:
    """It says where it listens, whom it serves, and the settings of clients; `-m` stands for every other name."""
    with Upstream("anthropic", "Hello.").serving() as at:
        environ = {"LLM_WORK": provider("anthropic", f"{at}/v1"), "LLM_SMART": "work/claude-opus-4-5"}
        with _serving("-m", "smart", **environ) as served:
            reply = served.ask()
            body: Any = json.loads(reply.read())
    assert served.told[0].endswith("(no key: this machine only)")
    assert "providers: work" in served.told
    assert "aliases: *, smart" in served.told
    assert f"export ANTHROPIC_BASE_URL=http://127.0.0.1:{served.port} ANTHROPIC_API_KEY=any" in served.told
    assert reply.status == 200
    assert body["model"] == "a-name-of-the-clients"
    assert reply.getheader("x-interlingua-target") == "work/claude-opus-4-5"
    assert reply.getheader("server") is None


def test_a_key_is_asked_for_and_not_shown() -> None:
    """`--key-env` keeps it out of the list of processes, and nothing that is said shows it."""
    with _serving("-m", "fake/model", "--key-env", "GATE", GATE="a-very-secret-key") as served:
        assert served.ask().status == 401
        assert served.ask(x_api_key="a-very-secret-key").status == 200
    assert "a-very-secret-key" not in " ".join(served.told)
    assert f"export OPENAI_BASE_URL=http://127.0.0.1:{served.port}/v1 OPENAI_API_KEY=$GATE" in served.told


def test_faults_can_be_injected_for_a_drill() -> None:
    """`--fault` breaks a target on purpose; the chain's other one answers."""
    with _serving("-m", "fake/a,fake/b", "--fault", "fake/a=500") as served:
        reply = served.ask()
        reply.read()
    assert reply.getheader("x-interlingua-target") == "fake/b"
    assert "fake/a" in (reply.getheader("x-interlingua-skipped") or "")


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_it_drains_and_ends_cleanly(sign: signal.Signals) -> None:
    """A stream under way when the signal comes is finished; then the process ends with 0."""
    body = {**BODY, "stream": True}
    with _serving("-m", "fake/model", "--fault", "fake/*=drip:40") as served:
        reply = served.ask(body)
        first = reply.read(10)
        served.process.send_signal(sign)
        rest = reply.read()
        assert (first + rest).endswith(b"data: [DONE]\n\n")
        assert served.process.wait(20) == 0


def _page(port: int, path: str = "/") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers={"accept": "text/html", "connection": "close"})
    return connection.getresponse()


def test_an_open_console_does_not_hold_up_the_end() -> None:
    """It says where to look; the stream of the page ends with the gateway."""
    with _serving("-m", "fake/model") as served:
        assert f"console: http://127.0.0.1:{served.port}/" in served.told
        assert _page(served.port).read().startswith(b"<!doctype html>")
        live = _page(served.port, "/console/live")
        assert live.readline() == b"event: hello\n"
        served.process.send_signal(signal.SIGTERM)
        live.read()
        assert served.process.wait(10) == 0


def test_there_may_be_no_console() -> None:
    """`--no-console` leaves the sign of life, and nothing to look at."""
    with _serving("-m", "fake/model", "--no-console") as served:
        assert "browser" not in " ".join(served.told)
        assert _page(served.port).read() == b"interlingua is running\n"
        assert b"the console is off" in _page(served.port, "/console/live").read()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "without a key"),
        (["--key-env", "NOT_SET"], "NOT_SET"),
        (["-m", "nobody/model"], "no provider 'nobody'"),
        (["--config", "missing.toml"], "missing.toml cannot be read"),
        (["--fault", "nonsense"], "nonsense"),
        (["--state", "file:."], "state cannot be kept in .: Is a directory"),
        (["--state", "file:/dev/null/deep"], "state cannot be kept in /dev/null/deep: its folder is a file"),
        (["--state", "file:/proc/self/cmdline"], "state cannot be kept in /proc/self/cmdline: unable to open"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_exit_code_2(arguments: list[str], told: str) -> None:
    """Nothing is served half."""
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_r67_a_process_embeds_for_official_clients() -> None:
    """Any SDK's vectors from any service, from a gateway in a process of its own."""
    openai, ollama = pytest.importorskip("openai"), pytest.importorskip("ollama")
    with VectorUpstream("google").serving() as at:
        host = at.partition("://")[2]
        with _serving(LLM_WORK=f"google://token@{host}/v1beta?tls=0", LLM_VECTORS="work/gemini-embedding-2") as served:
            url = f"http://127.0.0.1:{served.port}"
            with openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
                made = client.embeddings.create(model="vectors", input=["Oslo", "Bergen"], dimensions=2)
                assert [each.embedding for each in made.data] == [[4.0, 79.0], [6.0, 66.0]]
            other = ollama.Client(host=url)
            assert other.embed(model="vectors", input="Oslo", dimensions=2).embeddings == [[4.0, 79.0]]
            other._client.close()
