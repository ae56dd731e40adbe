"""Variables and arguments of vendors' SDKs decide where a call goes, in the library, CLI, compat and gateway.

Each server imitates its vendor strictly, and the official SDKs are asked the same, so that "as the SDK does" is seen.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import ollama
import openai
import pytest
from google import genai

import interlingua as il
from interlingua.compat import OpenAI, completion
from tests.support.chat_server import ChatServer, chat_serving
from tests.support.heavy import served
from tests.support.ports import Place

KEY = "sk-vendor-0123456789abcdef"
REPLY = il.Response(
    parts=(il.TextPart("Here."),), finish_reason="stop", usage=il.Usage(input_tokens=3, output_tokens=2), model="m"
)


class Vendor(NamedTuple):
    """One vendor's variables, and what its SDK makes of them."""

    spec: str
    """A model of it."""
    address: tuple[str, str]
    """The variable that names a server, and its value with the server's port to be filled in."""
    key: str
    """The variable of the key."""
    header: tuple[str, str]
    """Where the key goes."""
    dialect: str
    """What is spoken there."""
    path: str
    """Where the request goes."""
    sdk: Callable[[], object] | None = None
    """The same by the official SDK."""

    def environ(self, server: ChatServer) -> dict[str, str]:
        """The variables that point at a server, with the key."""
        name, value = self.address
        return {name: value.format(port=server.server.port), self.key: KEY}


def _openai_sdk() -> None:
    with openai.OpenAI() as client:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])


def _anthropic_sdk() -> None:
    with anthropic.Anthropic() as client:
        client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}])


def _google_sdk() -> None:
    with closing(genai.Client()) as client:
        client.models.generate_content(model="m", contents="Hi")


def _ollama_sdk() -> None:
    client: Any = ollama.Client()  # its types are unknown in part
    with closing(client):
        client.chat(model="m", messages=[{"role": "user", "content": "Hi"}])


BEARER = ("authorization", f"Bearer {KEY}")
CHAT_PATH, MESSAGES_PATH = "/v1/chat/completions", "/v1/messages"
VENDORS = {
    "OPENAI_BASE_URL": Vendor(
        "openai/m", ("OPENAI_BASE_URL", "http://127.0.0.1:{port}/v1"), "OPENAI_API_KEY", BEARER, "openai-chat",
        CHAT_PATH, _openai_sdk,
    ),
    "OPENAI_API_BASE": Vendor(
        "openai-chat/m", ("OPENAI_API_BASE", "http://127.0.0.1:{port}/v1/"), "OPENAI_API_KEY", BEARER, "openai-chat",
        CHAT_PATH,
    ),
    "ANTHROPIC_BASE_URL": Vendor(
        "anthropic/m", ("ANTHROPIC_BASE_URL", "http://127.0.0.1:{port}"), "ANTHROPIC_API_KEY", ("x-api-key", KEY),
        "anthropic", MESSAGES_PATH, _anthropic_sdk,
    ),
    "ANTHROPIC_AUTH_TOKEN": Vendor(
        "anthropic/m", ("ANTHROPIC_BASE_URL", "http://127.0.0.1:{port}/"), "ANTHROPIC_AUTH_TOKEN", BEARER,
        "anthropic", MESSAGES_PATH, _anthropic_sdk,
    ),
    "GOOGLE_GEMINI_BASE_URL": Vendor(
        "google/m", ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:{port}"), "GEMINI_API_KEY", ("x-goog-api-key", KEY),
        "google", "/v1beta/models/m:generateContent", _google_sdk,
    ),
    "AZURE_OPENAI_ENDPOINT": Vendor(
        "azure/m", ("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:{port}/"), "AZURE_OPENAI_API_KEY", ("api-key", KEY),
        "openai-responses", "/openai/v1/responses",
    ),
    "OLLAMA_HOST": Vendor(
        "ollama/m", ("OLLAMA_HOST", "127.0.0.1:{port}"), "OLLAMA_API_KEY", BEARER, "ollama",
        "/api/chat", _ollama_sdk,
    ),
    "OLLAMA_HOST=0.0.0.0": Vendor(
        "ollama/m", ("OLLAMA_HOST", "0.0.0.0:{port}"), "OLLAMA_API_KEY", BEARER, "ollama",
        "/api/chat",
    ),
}  # fmt: skip


def _set(monkeypatch: pytest.MonkeyPatch, vendor: Vendor, server: ChatServer) -> None:
    for name, value in vendor.environ(server).items():
        monkeypatch.setenv(name, value)


def _arrived(server: ChatServer, vendor: Vendor) -> list[str]:
    """The paths of the requests, each with the key in its place."""
    name, value = vendor.header
    for seen in server.server.seen:
        assert f"\r\n{name}: {value}\r\n".encode().lower() in seen.head.lower() + b"\r\n"
    return [seen.line.split(" ")[1].partition("?")[0] for seen in server.server.seen]


@pytest.mark.parametrize("name", VENDORS)
async def test_env_01_a_vendors_variable_is_honoured_in_the_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompt and key go to the address of the variable, where the SDK sends its own; blocking and awaited."""
    vendor = VENDORS[name]
    with chat_serving(REPLY, dialect=vendor.dialect) as server:
        _set(monkeypatch, vendor, server)
        assert il.model(vendor.spec).generate("Hi").text == "Here."
        assert (await il.aio.model(vendor.spec).generate("Hi")).text == "Here."
        assert _arrived(server, vendor) == [vendor.path] * 2
        if vendor.sdk is not None:
            vendor.sdk()
            seen = server.server.seen[-1]
            assert (len(server.server.seen), KEY.encode() in seen.head) == (3, True)
            assert seen.line.split(" ")[1].removeprefix("/v1beta").removeprefix("/v1") in vendor.path


@pytest.mark.parametrize("name", VENDORS)
def test_env_01_a_vendors_variable_is_honoured_by_the_command(name: str, tmp_path: Path) -> None:
    """`il ask` asks there, and `il providers` and `il doctor` show the address and who named it, never the key."""
    vendor = VENDORS[name]
    with chat_serving(REPLY, dialect=vendor.dialect) as server:
        environ = {**os.environ, **vendor.environ(server), "INTERLINGUA_HOME": str(tmp_path)}

        def told(*arguments: str) -> str:
            done = subprocess.run(
                [sys.executable, "-m", "interlingua", *arguments],
                env=environ, capture_output=True, text=True, timeout=60, check=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            assert KEY not in done.stdout + done.stderr
            return done.stdout

        assert told("ask", "-m", vendor.spec, "Hi") == "Here.\n"
        assert [path.replace("streamG", "g") for path in _arrived(server, vendor)] == [vendor.path]
        provider = vendor.spec.partition("/")[0]
        (row,) = json.loads(told("providers", provider, "--json"))
        assert (row["origin"], row["key"]) == (vendor.address[0], "set")
        assert f":{server.server.port}" in row["base_url"]
        doctor = told("doctor")
        assert f"  ok  {provider} at {row['base_url']}, from {row['origin']}\n" in doctor
        key_line = next(line for line in doctor.splitlines() if line.startswith(f"  ok  {vendor.key}: "))
        assert row["base_url"] in key_line


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_HOST"])
def test_env_01_a_vendors_variable_is_honoured_by_the_gateway(name: str) -> None:
    """A gateway started with the variable asks there, with the key beside it."""
    vendor = VENDORS[name]
    body = json.dumps({"model": vendor.spec, "messages": [{"role": "user", "content": "Hi"}]}).encode()
    with (
        chat_serving(REPLY, dialect=vendor.dialect) as server,
        served(**vendor.environ(server)) as gateway,
    ):
        status, answer = gateway.post("/v1/chat/completions", body)
        assert (status, json.loads(answer)["choices"][0]["message"]["content"]) == (200, "Here.")
        assert _arrived(server, vendor) == [vendor.path]


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_env_01_a_vendors_variable_is_honoured_by_compat(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's class and LiteLLM's function ask there, with OpenAI's key."""
    with chat_serving(REPLY) as server:
        monkeypatch.setenv(variable, server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        said: list[Any] = [{"role": "user", "content": "Hi"}]
        reply = OpenAI().chat.completions.create(model="m", messages=said)
        assert reply.choices[0].message.content == "Here."
        assert completion("openai/m", said).choices[0].message.content == "Here."
        assert _arrived(server, VENDORS["OPENAI_BASE_URL"]) == [CHAT_PATH] * 2


@pytest.mark.parametrize(
    "variables",
    [
        {"ANTHROPIC_BASE_URL": "http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "il-own-key-of-the-gateway"},
        {"OPENAI_BASE_URL": "http://localhost:{port}/v1", "OPENAI_API_KEY": "il-own-key-of-the-gateway"},
    ],
)
def test_a_gateway_never_calls_itself(variables: dict[str, str]) -> None:
    """A variable that names its own address is left out, and its own key beside it goes to no vendor."""
    place = Place()
    environ = {name: value.format(port=place.port) for name, value in variables.items()}
    own = environ[next(name for name in environ if name.endswith("_KEY"))]
    variable = next(name for name in environ if name.endswith("_BASE_URL"))
    provider = variable.partition("_")[0].lower()
    body = json.dumps({"model": f"{provider}/m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
    with served("--port", str(place.port), "--key", own, **environ) as gateway:
        status, answer = gateway.post("/v1/chat/completions", body, authorization=f"Bearer {own}")
    assert status == 500
    assert json.loads(answer)["error"]["message"].startswith(f"{provider}: no key; set ")


async def test_arguments_come_before_every_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argument, then `LLM_*`, then the vendor's variable; a key in code goes to the address in code."""
    with chat_serving(REPLY) as first, chat_serving(REPLY) as second, chat_serving(REPLY) as third:
        monkeypatch.setenv("OPENAI_BASE_URL", third.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
        il.model("openai/m").generate("Hi")
        monkeypatch.setenv("LLM_OPENAI", f"openai://sk-of-the-line@127.0.0.1:{second.server.port}?tls=0")
        il.model("openai/m").generate("Hi")
        il.model("openai/m", api_key=KEY, base_url=first.url).generate("Hi")
        await il.aio.model("openai/m", api_key=lambda: KEY, base_url=first.url).generate("Hi")
    keys = [
        [seen.head.lower().partition(b"bearer ")[2].split(b"\r\n")[0] for seen in s.server.seen]
        for s in (third, second, first)
    ]
    assert keys == [[b"sk-of-the-environment"], [b"sk-of-the-line"], [KEY.encode()] * 2]


def test_the_key_of_a_line_stays_at_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """`base_url=` takes the key of a vendor's variable along, as the SDK does, but not one that stands in a DSN."""
    with chat_serving(REPLY, judged=False) as server:
        monkeypatch.setenv("LLM_WORK", "openai://sk-of-the-line@gateway.example/v1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        il.model("work/m", base_url=server.url).generate("Hi")
        il.model("openai/m", base_url=server.url).generate("Hi")
    heads = [seen.head.lower() for seen in server.server.seen]
    assert [f"bearer {KEY}".encode() in head for head in heads] == [False, True]
    assert not any(b"sk-of-the-line" in head for head in heads)


@pytest.mark.parametrize(
    ("spec", "arguments", "sentence"),
    [
        ("openai/a,groq/b", {"api_key": "k"}, "login and base_url are for one provider, and .* has openai and groq"),
        ("fake/echo", {"base_url": "http://x"}, "fake runs in this process: it takes no api_key, no login"),
        ("openai/m", {"base_url": "x.example"}, r"base_url: not an address \(expected http://host"),
        ("openai/m", {"base_url": 7}, "base_url takes an address, not an int"),
        ("openai/m", {"api_key": 7}, "api_key takes a text or a function that gives one at once, not an int"),
    ],
)  # fmt: skip
def test_arguments_that_cannot_be_meant_are_refused(spec: str, arguments: dict[str, Any], sentence: str) -> None:
    """In one sentence, before anything is sent."""
    with pytest.raises(il.UsageError, match=sentence):
        il.model(spec, **arguments).generate("Hi")


def test_a_model_with_a_key_is_not_pickled() -> None:
    """A pickle would have to hold the key."""
    import pickle

    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(il.model("openai/m", api_key=KEY))
