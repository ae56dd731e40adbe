"""Hooks, policy, webhook and cache of a real `il serve`, in front of a strict upstream, used by the official SDKs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest

from interlingua.testing.upstream import Upstream
from tests.support.gateway import provider

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

HOOK = '''
import interlingua as il
from msgspec.structs import replace


class Masking(il.Hook):
    """Masks a name in what is streamed, and in whole answers."""

    async def during(self, events, context):
        return [replace(event, text=event.text.replace("Oslo", "[town]")) if isinstance(event, il.TextDelta) else event
                for event in events]

    async def after(self, response, context):
        if context.stream:
            return response
        return replace(response, parts=(il.TextPart(response.text.replace("Oslo", "[town]")),))
'''
FILE = """
[providers.work]
dsn_env = "WORK_DSN"

[policy]
models = ["work/*"]
denied_words = ["tulip"]

[policy.rewrite]
"claude-*" = "work/claude-*"

[policy.defaults."claude-*"]
temperature = 0.25

[hooks]
use = ["masking_of_the_test:Masking"]

[webhooks.guard]
url = "{guard}"

[cache]
store = "{folder}/answers.sqlite"
"""


class _Guard(BaseHTTPRequestHandler):
    """Refuses what speaks of a bomb."""

    def do_POST(self) -> None:
        """Judge one request."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        refused = "bomb" in json.dumps(asked["request"])
        told = {"action": "refuse", "message": "The guard says no."} if refused else {"action": "allow"}
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def _guarding() -> Generator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Guard)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/check"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def _serving(folder: Path, guard: str, upstream: str) -> Generator[str]:
    (folder / "masking_of_the_test.py").write_text(HOOK)
    (folder / "gateway.toml").write_text(FILE.format(guard=guard, folder=folder))
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--config", str(folder / "gateway.toml")]
    paths = os.pathsep.join([str(folder), *sys.path])
    environ = {**os.environ, "PYTHONPATH": paths, "WORK_DSN": provider("anthropic", f"{upstream}/v1")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ)
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        found = re.search(r"serving on (http://127\.0\.0\.1:\d+)", first)
        assert found, first + process.stderr.read()
        yield found[1]
    finally:
        process.terminate()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def test_r70_a_gateway_of_the_file_has_all_of_it(tmp_path: Path) -> None:
    """Names, defaults, words, webhook, hook and cache: each is seen by the official SDKs, and by a strict upstream."""
    upstream = Upstream("anthropic", "It is cold in Oslo.", "And in Oslo again.")
    with _guarding() as guard, upstream.serving() as at, _serving(tmp_path, guard, at) as url:
        with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
            _with_openai(client)
        with anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
            _with_anthropic(client)
    assert len(upstream.verdicts) == 2
    assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    assert [json.loads(request.body)["temperature"] for request in upstream.requests] == [0.25, 0.25]


def _with_openai(client: openai.OpenAI) -> None:
    def ask(text: str, model: str = "claude-opus-4-5") -> Any:
        raw: Any = client.chat.completions.with_raw_response
        return raw.create(model=model, messages=[{"role": "user", "content": text}], max_tokens=50)

    first, again = ask("Weather?"), ask("Weather?")
    assert [reply.parse().choices[0].message.content for reply in (first, again)] == ["It is cold in [town]."] * 2
    assert [reply.headers["x-interlingua-cache"] for reply in (first, again)] == ["miss", "hit"]
    assert first.parse().model == "claude-opus-4-5"
    assert first.parse().id != again.parse().id
    with pytest.raises(openai.BadRequestError, match="denies"):
        ask("A tulip, please.")
    with pytest.raises(openai.BadRequestError, match=r"The guard says no\."):
        ask("A bomb, please.")
    with pytest.raises(openai.PermissionDeniedError, match="does not allow the model"):
        ask("Hi", "fake/m")


def _with_anthropic(client: anthropic.Anthropic) -> None:
    def stream() -> str:
        with client.messages.stream(
            model="claude-opus-4-5", max_tokens=50, messages=[{"role": "user", "content": "And now?"}]
        ) as events:
            assert "".join(events.text_stream) == "And in [town] again."
            return events.response.headers["x-interlingua-cache"]

    assert [stream(), stream()] == ["miss", "hit"]
