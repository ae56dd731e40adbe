"""A gateway on a port of the loopback, for tests: one line starts it, the end of the block ends it.

```python
with Upstream("anthropic").serving() as upstream, serving(providers={"up": f"anthropic://token@{…}"}) as url:
    ...
with Upstream("anthropic").standing(), serving(aliases={"m": "anthropic/claude-opus-5"}) as url:
    ...
```
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.serving.server import GatewayServer
from interlingua.gateway.settings import GatewaySettings
from interlingua.gateway.state.reasoning_store import ReasoningStore
from interlingua.registry.resolve import Registry
from interlingua.types.event import Event
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply
from interlingua.wire.json import encode

MODELS = {
    "openai-chat": "openai-chat/gpt-4.1",
    "openai-responses": "openai-responses/gpt-4.1",
    "anthropic": "anthropic/claude-opus-4-5",
    "google": "google/gemini-2.5-pro",
    "ollama": "ollama/qwen3",
    "cohere": "cohere/command-a-03-2025",
    "bedrock": "bedrock/us.anthropic.claude-opus-4-5",
    "unified": "hub/some-model",
}
"""A model of a target for each upstream dialect; `hub` is the unified one."""
_SCHEMES = {
    "openai-chat": "openai-compatible",
    "openai-responses": "openai-responses",
    "unified": "interlingua",
}


def gateway(
    environ: Mapping[str, str] | None = None, aliases: Mapping[str, str] | None = None, **settings: Any
) -> Gateway:
    """A gateway over a registry of its own: the rows, `environ`, and `aliases`."""
    registry = Registry({"LLM_HUB": "interlingua://hub.example", "AWS_REGION": "us-east-1", **(environ or {})})
    for name, spec in (aliases or {}).items():
        registry.register_alias(name, spec)
    return Gateway(GatewaySettings(**settings), registry=registry)


async def remembered(
    reasoning_store: ReasoningStore,
    owner: str,
    request: Request,
    response: Response[Any],
    provider_ids: Mapping[str, str],
) -> None:
    """Have a reasoning store remember the answer to a request."""
    await reasoning_store.remember(owner, await reasoning_store.restore(owner, request), response, provider_ids)


def provider(dialect: str, base_url: str, key: str = "upstream-key") -> str:
    """The DSN of a server of `dialect` at an address of the loopback."""
    at = urlsplit(base_url)
    scheme = _SCHEMES.get(dialect, dialect)
    return f"{scheme}://{key}@{at.netloc}{at.path}?tls=0"


@contextmanager
def serving(
    made: Gateway | None = None,
    *,
    providers: Mapping[str, str] | None = None,
    aliases: Mapping[str, str] | None = None,
    **settings: Any,
) -> Generator[str]:
    """The base URL of a gateway; `providers` are names and DSNs, `aliases` names and specs."""
    environ = {f"LLM_{name.replace('-', '_').upper()}": dsn for name, dsn in (providers or {}).items()}
    server = GatewayServer(made or gateway(environ, aliases, **settings))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=(listener,), daemon=True)
        thread.start()
        while not server.is_started and thread.is_alive():
            threading.Event().wait(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.stop()
            thread.join(60)


# In the process, without a port

_PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "ollama": "/api/chat",
    "cohere": "/v2/chat",
    "unified": "/unified/v1/generate",
}


def asking(
    dialect: str,
    model: str,
    text: str = "Hi",
    *,
    stream: bool = False,
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> GatewayRequest:
    """What a client of `dialect` on the same machine asks; `members` are further ones of its body."""
    told: Any = [{"role": "user", "content": text}]
    path, query = _PATHS.get(dialect, ""), ""
    body: dict[str, Any] = {"model": model, "messages": told, "stream": stream}
    if dialect == "openai-responses":
        body = {"model": model, "input": told, "stream": stream}
    elif dialect == "anthropic":
        body["max_tokens"] = 500
    elif dialect == "google":
        method = "streamGenerateContent" if stream else "generateContent"
        path, query = f"/v1beta/models/{model}:{method}", "alt=sse" if stream else ""
        body = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    elif dialect == "bedrock":
        path = f"/model/{quote(model, safe='')}/converse{'-stream' if stream else ''}"
        body = {"messages": [{"role": "user", "content": [{"text": text}]}]}
    given = tuple((name.lower(), value) for name, value in (headers or {}).items())
    return GatewayRequest(
        path=path,
        query=query,
        headers=(("host", "localhost"), ("content-type", "application/json"), *given),
        body=encode({**body, **members}, nulls=100),
        peer="127.0.0.1",
    )


async def body_of(reply: GatewayReply) -> bytes:
    """The whole body of a reply."""
    return reply.body if isinstance(reply.body, bytes) else b"".join([piece async for piece in reply.body])


async def answer_of(dialect: str, reply: GatewayReply) -> Response[Any]:
    """A whole answer, as our own client of `dialect` reads it."""
    whole = HttpReply(status=reply.status, headers=reply.headers, body=await body_of(reply))
    return get_dialect(dialect).decode_response(whole, DecodeContext())


async def events_of(dialect: str, reply: GatewayReply) -> list[Event]:
    """The events of a stream, as our own client of `dialect` reads them."""
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    return [*decoder.feed(await body_of(reply)), *decoder.close()]


def header_of(reply: GatewayReply, name: str) -> str | None:
    """A header of a reply."""
    return next((value for key, value in reply.headers if key == name), None)
