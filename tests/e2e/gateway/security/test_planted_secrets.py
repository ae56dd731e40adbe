"""Secrets, planted wherever one can stand, and searched for in all that a gateway says, writes and shows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interlingua.cli.main import main
from interlingua.dialects.table import DIALECTS
from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.records.cassettes import read_cassette
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.records.replay import replayed
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import Upstream
from interlingua.wire.json import decode
from tests.e2e.gateway.security.raw import BODY, chat, connected, send
from tests.support.gateway import provider, serving

CLIENT, WRONG = "planted-key-of-a-client", "planted-wrong-key"
DSN, VARIABLE, FILE = "planted-key-in-a-dsn", "planted-key-in-a-variable", "planted-key-in-a-file"
PROMPT = "planted words of a prompt"
KEYS = (CLIENT, WRONG, DSN, VARIABLE, FILE)
PATHS = {
    "GET": (
        *("/", "/v1/models", "/v1/models/dsn/m", "/v1beta/models", "/api/tags", "/health/targets", "/metrics"),
        *("/openapi.json", "/console/targets", "/console/keys", "/console/console.js"),
    ),
    "POST": (
        *("/explain", "/explain/v1/chat/completions", "/explain/v1/messages", "/explain/v1/responses"),
        *("/console/sides", "/api/show", "/v1/messages/count_tokens"),
    ),
}


def _everything(made: Gateway) -> str:
    """What a debugger, a crash report or a print would show of a gateway."""
    parts = [made, made.settings, made.guard.keys, made.guard, made.parts, made.registry, made.targets, made.recorder]
    names = ("dsn", "variable", "file", "broken")
    targets = [made.targets.of(f"{name}/m", "openai-chat", tools=False) for name in names]
    return "\n".join([repr(part) + str(part) for part in (*parts, *targets)])


def test_sec_05_no_secret_leaves_by_any_way(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replies, errors, log, metrics, logbook, cassettes, replays, console, reprs hold no key."""
    (tmp_path / "key").write_text(FILE)
    monkeypatch.setenv("PLANTED", VARIABLE)
    records = tmp_path / "records"
    observing = Observing(log="json", metrics="keys", store=str(tmp_path / "log.db"), record=str(records))
    keys = (GatewayKey(name="client", hash=hash_key(CLIENT)),)
    upstream = Upstream("openai-chat", "Hello.")
    with upstream.serving() as at:
        base = provider("openai-chat", f"{at}/v1", key="")
        environ = {
            "LLM_DSN": provider("openai-chat", f"{at}/v1", key=DSN),
            "LLM_VARIABLE": base.replace("://@", "://") + "&key_env=PLANTED",
            "LLM_FILE": base.replace("://@", "://") + f"&key_file={tmp_path / 'key'}",
            "LLM_BROKEN": f"openai-compatible://{DSN}@127.0.0.1:9/v1?tls=0",
            "PLANTED": VARIABLE,
        }
        settings = GatewaySettings(keys=keys, observing=observing, console_content=True)
        made = Gateway(settings, registry=Registry(environ))
        with caplog.at_level(logging.DEBUG), serving(made) as url, _console(url) as shown:
            said = [_everything(made), *_talk(url)]
            said += [*_looked_at(url), shown()]
    assert '"model":"variable/m"' in said[-1]
    assert main(["logs", "--store", str(tmp_path / "log.db"), "--json", "-n", "1000"]) == 0
    said += _played(records)
    sent = {value for request in upstream.requests for name, value in request.headers if name == "authorization"}
    assert sent == {f"Bearer {DSN}", f"Bearer {VARIABLE}", f"Bearer {FILE}"}
    told, printed = "\n".join(said), caplog.text + "".join(capfd.readouterr())
    files = {path: path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()}
    written = {path.name: text for path, text in files.items() if path.name != "key"}
    assert '"status":200' in printed.replace(" ", "")
    assert len(written) > 1
    for secret in KEYS:
        assert secret not in told, _around(told, secret)
        assert secret not in printed, _around(printed, secret)
        assert not [name for name, text in written.items() if secret in text], secret
    assert PROMPT not in printed
    outside = {path.name: text for path, text in files.items() if records not in path.parents}
    assert not [name for name, text in outside.items() if PROMPT in text]


def _around(text: str, secret: str) -> str:
    place = text.index(secret)
    return text[max(0, place - 200) : place + 100]


def _talk(url: str) -> list[str]:
    """What clients are told: answers whole and streamed, failures of each kind, lists and pages."""
    told: list[str] = []
    body = {**BODY, "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 9}
    places = (
        f"api-key: {WRONG}",
        f"x-goog-api-key: {WRONG}",
        f"authorization: Bearer {CLIENT}",
        f"x-api-key: {CLIENT}",
    )
    for header in places:
        for model in ("dsn/m", "variable/m", "file/m", "broken/m", "nowhere/m", f"dsn/{'m' * 2_000}"):
            for path in ("/v1/chat/completions", "/v1/messages", "/v1/embeddings", "/v1/responses"):
                for stream in (False, True) if path != "/v1/embeddings" else (False,):
                    asked = {**body, "model": model, "stream": stream, "input": "x"}
                    told.append(send(url, chat(asked, header, path=path)).text.decode().replace(PROMPT, ""))
        for method, paths in PATHS.items():
            sent = b"" if method == "GET" else {**body, "model": "dsn/m"}
            told += [send(url, chat(sent, header, path=path, method=method)).text.decode() for path in paths]
    told.append(send(url, chat(b"", path=f"/v1/models?key={CLIENT}", method="GET")).text.decode())
    told.append(send(url, chat(b"", path=f"/v1/models?key={WRONG}", method="GET")).text.decode())
    return told


@contextmanager
def _console(url: str) -> Generator[Callable[[], str]]:
    """What an open page is told, all of it once it is asked for."""
    with connected(url, timeout_s=20.0) as connection:
        connection.sendall(chat(b"", f"x-api-key: {CLIENT}", path="/console/live", method="GET"))
        told = connection.recv(65_536)

        def shown() -> str:
            nonlocal told
            while b'"path":"/v1/responses/' not in told:  # the last request that is made
                told += connection.recv(65_536)
            return told.decode()

        yield shown


def _looked_at(url: str) -> list[str]:
    """Requests that the console shows in every dialect, and answers that are kept for a client who goes on."""
    key, body = f"x-api-key: {CLIENT}", {**BODY, "model": "dsn/m", "messages": [{"role": "user", "content": PROMPT}]}
    told: list[str] = []
    for path, asked in (("/v1/chat/completions", body), ("/v1/responses", {"model": "dsn/m", "input": PROMPT})):
        reply = send(url, chat(asked, key, path=path))
        name = {"id": reply.header("x-request-id")}
        told += [reply.text.decode(), send(url, chat(name, key, path="/console/sides")).text.decode()]
        assert '"answer":[' in told[-1]
    stored = decode(reply.body, dict[str, Any])["id"]
    kept = send(url, chat(b"", key, path=f"/v1/responses/{stored}", method="GET"))
    assert kept.status == 200
    return [*told, kept.text.decode()]


def _played(records: Path) -> list[str]:
    """Cassettes of every end, asked again in every dialect."""
    played = {(one.status, one.client): one for one in map(read_cassette, sorted(records.iterdir()))}
    assert len(played) > 5
    return [str(asyncio.run(replayed(one, dialect))) for one in played.values() for dialect in DIALECTS]
