"""Errors of providers name the target, the status and the origin of a refused key, and never the key.

The same failure is seen in the library, whole and streamed, by the command and in the log of a gateway, whose answer
keeps the provider's own words.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import interlingua as il
from tests.support.chat_server import KEY, ChatServer, chat_serving
from tests.support.heavy import served
from tests.support.waiting import until

REFUSED = il.AuthenticationError("invalid x-api-key", status=401)
VARIABLES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", ""),
    "openai-chat": ("OPENAI_BASE_URL", "OPENAI_API_KEY", "/v1"),
    "google": ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", ""),
}


def _environ(server: ChatServer) -> dict[str, str]:
    address, key, path = VARIABLES[server.dialect]
    return {address: server.server.url(path), key: KEY}


@pytest.mark.parametrize("dialect", VARIABLES)
async def test_a_refused_key_is_named_in_the_library(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole and streamed, blocking and awaited: target, status, the provider's words, the variable."""
    with chat_serving(REFUSED, dialect=dialect) as server:
        for name, value in _environ(server).items():
            monkeypatch.setenv(name, value)
        spec = f"{dialect}/m"
        with pytest.raises(il.AuthenticationError) as whole:
            il.model(spec).generate("Hi")
        with pytest.raises(il.AuthenticationError) as streamed, il.model(spec).stream("Hi") as stream:
            list(stream)
        with pytest.raises(il.AuthenticationError) as awaited:
            await il.aio.model(spec).generate("Hi")
    key = VARIABLES[dialect][1]
    for caught in (whole, streamed, awaited):
        error = caught.value
        assert str(error) == f"{spec}: 401 invalid x-api-key (key from {key})"
        assert (error.message, error.target, error.key_from) == ("invalid x-api-key", spec, key)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
        assert KEY not in repr(error)


def test_what_refuses_or_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of failure of a target begins with its name, once; only a refused key has an origin."""
    said = [
        il.BadRequestError("no such knob", status=400),
        il.RateLimitError("slow down", status=429),
        il.InternalServerError("broken", status=500),
    ]
    with chat_serving(*said) as server:
        monkeypatch.setenv("LLM_WORK", server.dsn)
        model = il.model("work/m", retries=0)
        told: list[str] = []
        for _ in said:
            with pytest.raises(il.UpstreamError) as caught:
                model.generate("Hi")
            told.append(str(caught.value))
    assert told == ["work/m: 400 no such knob", "work/m: 429 slow down", "work/m: 500 broken"]
    with pytest.raises(il.APIConnectionError) as unreachable:
        model.generate("Hi")
    assert str(unreachable.value).startswith("work/m: ")
    assert str(unreachable.value).count("work/m") == 1


def test_the_origin_of_a_key_in_a_line_and_in_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable of the DSN, and the argument."""
    with chat_serving(REFUSED) as server:
        monkeypatch.setenv("LLM_WORK", server.dsn)
        with pytest.raises(il.AuthenticationError, match=r"\(key from LLM_WORK\)$"):
            il.model("work/m").generate("Hi")
        with pytest.raises(il.AuthenticationError, match=r"\(key from api_key\)$"):
            il.model("openai/m", api_key=KEY, base_url=server.url).generate("Hi")


def test_the_command_names_it(tmp_path: Path) -> None:
    """One line on stderr, without the key."""
    with chat_serving(REFUSED, dialect="anthropic") as server:
        environ = {**os.environ, **_environ(server), "INTERLINGUA_HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-m", "interlingua", "ask", "-m", "anthropic/claude-opus-5", "Hi"],
            env=environ, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    assert done.stderr == "il: anthropic/claude-opus-5: 401 invalid x-api-key (key from ANTHROPIC_API_KEY)\n"
    assert (done.returncode, done.stdout) == (1, "")


def test_the_log_of_a_gateway_names_it() -> None:
    """The answer has the provider's words; the line of the log has the target, the class and the status."""
    body = json.dumps({"model": "anthropic/m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
    with (
        chat_serving(il.BadRequestError("no such knob", status=400), dialect="anthropic") as server,
        served("--log", "json", **_environ(server)) as gateway,
    ):
        status, answer = gateway.post("/v1/chat/completions", body)
        assert (status, json.loads(answer)["error"]["message"]) == (400, "no such knob")
        assert until(lambda: gateway.told)
    (told,) = gateway.told
    line = json.loads(told)
    assert (line["status"], line["error"]) == (400, "BadRequestError")
    assert [(tried["model"], tried["status"]) for tried in line["attempts"]] == [("anthropic/m", 400)]
    assert KEY not in told
