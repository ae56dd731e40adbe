"""Addresses of media in clients' bodies: passed on, refused with the way out, or fetched where that is allowed."""

from __future__ import annotations

import base64
from typing import Any

import pytest

import interlingua as il
from interlingua.gateway.calls.media import MAX_REFERENCES, with_media
from interlingua.gateway.core import Gateway
from interlingua.gateway.settings import GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import Upstream
from interlingua.types.content import OpaquePart
from tests.support.gateway import MODELS, asking, body_of, gateway

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
ADDRESS = "https://images.example/a.png"
REFERENCES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": ADDRESS}}]}],
    },
    "openai-responses": {
        "input": [{"role": "user", "content": [{"type": "input_image", "image_url": ADDRESS}]}],
    },
    "anthropic": {
        "messages": [
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": ADDRESS}}]},
        ],
    },
    "google": {
        "contents": [
            {"role": "user", "parts": [{"fileData": {"fileUri": ADDRESS, "mimeType": "image/png"}}]},
        ],
    },
    "cohere": {
        "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": ADDRESS}}]}],
    },
}
"""One image by its address, as a client of each dialect names it."""


async def _image(address: str) -> il.ImagePart:
    assert address == ADDRESS
    return il.ImagePart(PNG, "image/png")


async def _gone(address: str) -> il.ImagePart:
    raise il.NotFoundError("images.example answered 404", status=404)


@pytest.mark.parametrize("dialect", REFERENCES)
async def test_sec_02_the_clients_own_dialect_gets_the_address_as_it_is(dialect: str) -> None:
    """Nothing is fetched: the provider is asked with the very reference."""
    with Upstream(dialect).standing() as upstream:
        await gateway()(asking(dialect, MODELS[dialect], **REFERENCES[dialect]))
    assert ADDRESS.encode() in upstream.requests[0].body


@pytest.mark.parametrize("dialect", REFERENCES)
async def test_sec_02_another_dialect_refuses_it_and_says_what_to_do(dialect: str) -> None:
    """A 400 before anything is sent, with the place and the way out."""
    target = "ollama"
    with Upstream(target).standing() as upstream:
        reply = await gateway()(asking(dialect, MODELS[target], **REFERENCES[dialect]))
    assert reply.status == 400
    assert b"--allow-fetch" in await body_of(reply)
    assert upstream.requests == []


@pytest.mark.parametrize("dialect", REFERENCES)
async def test_with_the_fetcher_on_it_becomes_its_content(dialect: str) -> None:
    """The target is asked with the bytes."""
    made = Gateway(GatewaySettings(allow_fetch=True), registry=Registry({}), fetch=_image)
    with Upstream("ollama").standing() as upstream:
        reply = await made(asking(dialect, MODELS["ollama"], **REFERENCES[dialect]))
    assert reply.status == 200
    assert base64.b64encode(PNG) in upstream.requests[0].body


async def test_what_cannot_be_fetched_is_a_400_with_its_place() -> None:
    """The request is at fault, not the model, whatever the other server said."""
    made = Gateway(GatewaySettings(allow_fetch=True), registry=Registry({}), fetch=_gone)
    with Upstream("ollama").standing() as upstream:
        reply = await made(asking("openai-chat", MODELS["ollama"], **REFERENCES["openai-chat"]))
    assert reply.status == 400
    assert b"/messages/0/parts/0: images.example answered 404" in await body_of(reply)
    assert upstream.requests == []


async def test_sec_02_the_guarded_fetcher_is_the_one_that_is_used() -> None:
    """Even where fetching is allowed, an address inside the network is refused."""
    members: Any = {
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://127.0.0.1/secret.png"}}]}
        ]
    }
    made = Gateway(GatewaySettings(allow_fetch=True), registry=Registry({}))
    with Upstream("ollama").standing():
        reply = await made(asking("openai-chat", MODELS["ollama"], **members))
    assert reply.status == 400
    assert b"public" in await body_of(reply)


def _request(*addresses: str) -> il.Request:
    parts = tuple(OpaquePart("openai-chat", "media_ref", {"image_url": {"url": address}}) for address in addresses)
    return il.Request(messages=(il.Message("user", parts),))


async def test_an_address_is_fetched_once_and_a_file_id_never() -> None:
    """Two references to one address are one fetch; what is no address stays as it is."""
    asked: list[str] = []

    async def fetch(address: str) -> il.ImagePart:
        asked.append(address)
        return await _image(address)

    request = _request(ADDRESS, ADDRESS)
    file = OpaquePart("openai-chat", "media_ref", {"type": "file", "file": {"file_id": "file-1"}})
    (message,) = request.messages
    request = il.Request(messages=(il.Message("user", (*message.parts, file)),))
    found = await with_media(request, fetch)
    assert asked == [ADDRESS]
    assert [type(part) for part in found.messages[0].parts] == [il.ImagePart, il.ImagePart, OpaquePart]


async def test_addresses_in_results_of_tools_are_fetched_too() -> None:
    """A screenshot that a tool names is media like any other."""
    part = OpaquePart("anthropic", "media_ref", {"source": {"type": "url", "url": ADDRESS}})
    result = il.ToolResult("call_1", "look", (part,))
    found = await with_media(il.Request(messages=(il.Message("tool", (result,)),)), _image)
    (made,) = found.messages[0].tool_results
    assert isinstance(made.content, tuple)
    assert isinstance(made.content[0], il.ImagePart)


async def test_the_number_of_addresses_is_bounded() -> None:
    """At the bound they are fetched, beyond it the request is refused before the first one."""
    addresses = [f"https://images.example/{number}.png" for number in range(MAX_REFERENCES + 1)]

    async def fetch(address: str) -> il.ImagePart:
        return il.ImagePart(PNG, "image/png")

    found = await with_media(_request(*addresses[:-1]), fetch)
    assert len(found.messages[0].parts) == MAX_REFERENCES
    with pytest.raises(il.UsageError, match=f"{MAX_REFERENCES} are fetched at most"):
        await with_media(_request(*addresses), fetch)


async def test_a_request_without_references_is_the_same_one() -> None:
    """Who has no media pays nothing."""
    request = il.Request(messages=(il.user("Hi"),))
    assert await with_media(request, _gone) is request
