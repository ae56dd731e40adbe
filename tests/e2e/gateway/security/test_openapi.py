"""The gateway's own description, and what a program makes of it that tries whatever it allows and forbids."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.generation import GenerationMode

from interlingua.gateway.core import dialect_of
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.routes import ROUTES, Route, find_route
from interlingua.gateway.surfaces.openapi import BY_HEADERS, describe
from interlingua.testing.upstream import Upstream
from interlingua.wire.json import encode
from tests.support.docs_tables import OPENAPI, openapi_text
from tests.support.gateway import MODELS, gateway
from tests.support.imitated import IMITATED

DESCRIBED = describe(tuple(ROUTES))
NOT_OURS = (501, 502, 503, 504)
"""Statuses of upstreams: who has none of a kind, or whose upstream fails, says so."""


def test_the_committed_description_is_the_one_made_now() -> None:
    """`python -m tests.support.docs_tables` writes it anew."""
    assert Path(OPENAPI).read_text(encoding="utf-8") == openapi_text()


def test_every_route_is_described_once_and_nothing_else() -> None:
    """As many operations as routes, each with an id of its own."""
    told = [operation for path in DESCRIBED["paths"].values() for operation in path.values()]
    assert len(told) == len({(route.method, route.pattern) for route in ROUTES})
    assert len({operation["operationId"] for operation in told}) == len(told)


async def test_the_description_is_served() -> None:
    """To who may ask."""
    reply = await gateway()(GatewayRequest(method="GET", path="/openapi.json", peer="127.0.0.1"))
    assert isinstance(reply.body, bytes)
    assert json.loads(reply.body) == DESCRIBED


def _narrowed() -> Any:
    """The description with the names of models that there are, so that what is tried comes further than that."""
    told = json.loads(json.dumps(DESCRIBED))
    for shape in told["components"]["schemas"].values():
        if "model" in shape.get("properties", {}):
            shape["properties"]["model"] = {"enum": ["known", "openai-chat/gpt-4.1", "fake/model", "unknown"]}
    for path in told["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "model":
                    parameter["schema"] = {"enum": ["known", "anthropic/m", "fake/model", "unknown", "a b", "%00"]}
    return told


SCHEMA: Any = schemathesis.openapi.from_dict(_narrowed())
OPERATIONS: dict[str, Any] = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}


def _modes() -> Iterator[tuple[str, GenerationMode]]:
    """What fits each operation, and what does not fit those that ask for something."""
    for path, operations in DESCRIBED["paths"].items():
        for method, operation in operations.items():
            label = f"{method.upper()} {path}"
            yield label, GenerationMode.POSITIVE
            if "requestBody" in operation:
                yield label, GenerationMode.NEGATIVE


@pytest.mark.parametrize(("label", "mode"), list(_modes()))
def test_whatever_is_tried_is_answered_in_the_dialects_own_shape(label: str, mode: GenerationMode) -> None:
    """No fault of ours, no crash, and every error has the shape that is described, whether or not the body fits."""
    dialect = DESCRIBED["paths"][label.partition(" ")[2]][label.partition(" ")[0].lower()]["tags"][0]
    dialect = (
        dialect if dialect in IMITATED else "openai-chat"
    )  # by headers, or a dialect whose bodies are not passed on
    made = gateway(
        aliases={"known": MODELS[dialect]}, providers=("anthropic", "openai-chat", "google", "ollama", "cohere")
    )

    @seed(1)
    @settings(
        max_examples=2,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
    def tries(case: Any) -> None:
        _try(made, _request_of(case))

    with Upstream(dialect).standing():  # what is passed on is answered in the dialect of its path
        tries()


def _request_of(case: Any) -> GatewayRequest:
    sent: Any = case.as_transport_kwargs(base_url="http://localhost")
    at = urlsplit(str(sent["url"]))
    body = sent.get("data") or b""
    body = encode(sent["json"], nulls=1 << 20) if "json" in sent else body if isinstance(body, bytes) else b"--b--"
    headers = tuple([(str(name).lower(), str(value)) for name, value in sent["headers"].items()])
    return GatewayRequest(
        method=sent["method"], path=unquote(at.path), query=at.query, headers=headers, body=body, peer="127.0.0.1"
    )


def _try(made: Any, request: GatewayRequest) -> None:
    reply = asyncio.run(_whole(made, request))
    assert isinstance(reply.body, bytes)
    assert reply.status < 500 or reply.status in NOT_OURS, (request, reply)
    if reply.status >= 400 and request.method != "HEAD":
        route = find_route(request.method, request.path)
        _check_shape(route, request, reply)


async def _whole(made: Any, request: GatewayRequest) -> GatewayReply:
    reply = await made(request)
    if isinstance(reply.body, bytes):
        return reply
    pieces: list[bytes] = []
    try:
        async with asyncio.timeout(0.2):
            async for piece in reply.body:
                pieces.append(piece)  # noqa: PERF401 - what came before the time was over counts
    except TimeoutError:
        pass  # a feed without an end
    finally:
        await reply.body.aclose()
    return GatewayReply(status=reply.status, headers=reply.headers, body=b"".join(pieces))


def _check_shape(route: Route | None, request: GatewayRequest, reply: GatewayReply) -> None:
    names = (dialect_of(request),) if route is None else (route.dialect,) if route.dialect else BY_HEADERS
    shapes = [DESCRIBED["components"]["schemas"][f"Error.{name}"] for name in names]
    assert isinstance(reply.body, bytes)
    told = json.loads(reply.body)
    assert any(jsonschema_rs.is_valid(shape, told) for shape in shapes), (request, reply)
