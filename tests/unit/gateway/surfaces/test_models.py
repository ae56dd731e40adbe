"""Models lists: what each dialect's clients see of the aliases and targets that their key may use."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.wire.http import Headers
from interlingua.wire.json import decode_any, encode
from tests.support.gateway import gateway

ALIASES = {
    "smart": "anthropic/claude-opus-4-5,openai/gpt-5.6",
    "claude-*": "smart",
    "broken": "nobody/x",
    "local": "ollama/qwen3",
}
NAMES = ["local", "smart", "anthropic/claude-opus-4-5", "ollama/qwen3", "openai/gpt-5.6"]
ANTHROPIC: Headers = (("anthropic-version", "2023-06-01"),)
GOOGLE: Headers = (("x-goog-api-key", "k"),)


def _ask(
    path: str,
    headers: Headers = (),
    query: str = "",
    method: str = "GET",
    body: Any = None,
    made: Gateway | None = None,
) -> GatewayReply:
    request = GatewayRequest(
        method=method,
        path=path,
        query=query,
        headers=headers,
        peer="127.0.0.1",
        body=b"" if body is None else encode(body),
    )
    return asyncio.run((made or gateway(aliases=ALIASES))(request))


def _told(reply: GatewayReply) -> Any:
    assert reply.status == 200, reply
    assert isinstance(reply.body, bytes)
    return decode_any(reply.body)


def test_the_list_of_openai_is_the_default() -> None:
    """Aliases first, then the targets that they lead to; a prefix is no name, and what leads nowhere is left out."""
    told = _told(_ask("/v1/models"))
    assert [model["id"] for model in told["data"]] == NAMES
    assert told["data"][1] == {"id": "smart", "object": "model", "created": 0, "owned_by": "anthropic"}
    assert told["object"] == "list"


def test_the_list_of_anthropic_comes_to_its_clients() -> None:
    """Who sends `anthropic-version` gets that form, in pages."""
    told = _told(_ask("/v1/models", ANTHROPIC))
    assert told["data"][1] == {
        "type": "model",
        "id": "smart",
        "display_name": "smart (anthropic/claude-opus-4-5)",
        "created_at": "1970-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_tokens": 64_000,
    }
    assert (told["first_id"], told["last_id"], told["has_more"]) == ("local", "openai/gpt-5.6", False)


@pytest.mark.parametrize(
    ("query", "names", "more"),
    [
        ("limit=2", NAMES[:2], True),
        ("limit=2&after_id=smart", NAMES[2:4], True),
        ("limit=2&after_id=ollama%2Fqwen3", NAMES[4:], False),
        ("limit=2&before_id=openai%2Fgpt-5.6", NAMES[2:4], True),
        ("limit=9&before_id=smart", NAMES[:1], False),
        ("limit=x&after_id=nobody", NAMES, False),
    ],
)
def test_anthropics_pages(query: str, names: list[str], more: bool) -> None:
    """Pages go forward and back, as the official client asks for them."""
    told = _told(_ask("/v1/models", ANTHROPIC, query))
    assert ([model["id"] for model in told["data"]], told["has_more"]) == (names, more)


@pytest.mark.parametrize("path", ["/v1/models", "/v1beta/models"])
def test_the_list_of_google_comes_to_its_clients(path: str) -> None:
    """Who sends Google's key header, or asks under Google's path, gets that form, in pages."""
    told = _told(_ask(path, GOOGLE, "pageSize=2"))
    local = {
        "name": "models/local",
        "version": "1",
        "displayName": "local (ollama/qwen3)",
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
    }
    title = "smart (anthropic/claude-opus-4-5)"
    smart = {**local, "name": "models/smart", "displayName": title, "outputTokenLimit": 64_000}
    assert told == {"models": [local, smart], "nextPageToken": "2"}
    rest = _told(_ask(path, GOOGLE, "pageSize=9&pageToken=2"))
    assert [model["name"] for model in rest["models"]] == [f"models/{name}" for name in NAMES[2:]]
    assert "nextPageToken" not in rest


@pytest.mark.parametrize(
    ("path", "headers", "name"),
    [
        ("/v1/models/smart", (), {"id": "smart"}),
        ("/v1/models/openai/gpt-5.6", (), {"owned_by": "openai"}),
        ("/v1/models/claude-haiku-9", ANTHROPIC, {"id": "claude-haiku-9"}),
        ("/v1beta/models/groq/llama", (), {"name": "models/groq/llama"}),
    ],
)
def test_one_model_is_told_by_any_name_that_can_be_used(path: str, headers: Headers, name: dict[str, str]) -> None:
    """An alias, a target, what a prefix stands for, a model of a row."""
    told = _told(_ask(path, headers))
    assert {member: told[member] for member in name} == name


@pytest.mark.parametrize(
    ("path", "headers", "kind"),
    [("/v1/models/nobody", (), "invalid_request_error"), ("/v1beta/models/nobody", GOOGLE, "NOT_FOUND")],
)
def test_an_unknown_model_is_told_in_the_dialect(path: str, headers: Headers, kind: str) -> None:
    """404, with a body that the client's SDK reads."""
    reply = _ask(path, headers)
    assert reply.status == 404
    assert isinstance(reply.body, bytes)
    assert kind in reply.body.decode()


def test_a_key_sees_what_it_may_use() -> None:
    """The allow-list of a key holds for lists and for single models."""
    key = GatewayKey(name="team-a", hash=hash_key("k"), models=("smart", "openai/*"))
    made = gateway(aliases=ALIASES, keys=(key,))
    headers = (("authorization", "Bearer k"),)
    assert [model["id"] for model in _told(_ask("/v1/models", headers, made=made))["data"]] == [
        "smart",
        "openai/gpt-5.6",
    ]
    assert [model["name"] for model in _told(_ask("/api/tags", headers, made=made))["models"]] == [
        "smart",
        "openai/gpt-5.6",
    ]
    assert _ask("/v1/models/local", headers, made=made).status == 404
    assert _ask("/v1/models", made=made).status == 401


def test_ollamas_small_routes() -> None:
    """What its clients ask before they chat: tags, show with abilities, ps, version."""
    tag = _told(_ask("/api/tags"))["models"][0]
    assert (tag["name"], tag["model"], tag["details"]["family"]) == ("local", "local", "ollama")
    shown = _told(_ask("/api/show", method="POST", body={"model": "local"}))
    assert shown["capabilities"] == ["completion", "tools", "vision", "thinking"]
    assert shown["model_info"] == {"general.architecture": "ollama"}
    assert _told(_ask("/api/ps")) == {"models": []}
    assert _told(_ask("/api/version")) == {"version": "0.13.0"}
    assert _ask("/api/show", method="POST", body={"model": "nobody"}).status == 404
    assert _ask("/api/show", method="POST", body={}).status == 400


def test_clients_that_probe_the_root_find_somebody() -> None:
    """HEAD and GET answer without a key: they tell nothing but that somebody is there."""
    made = gateway(keys=(GatewayKey(name="a", hash=hash_key("k")),))
    assert (_ask("/", method="HEAD", made=made).status, _ask("/", method="HEAD", made=made).body) == (200, b"")
    assert _ask("/", made=made).body == b"interlingua is running\n"
