"""What can be asked of the gateway: one table of methods, paths and handlers.

Rules
- A pattern is a path in which `{name}` stands for one or more characters without a slash, `{name:path}` for any.
- An exact path wins over a pattern, an earlier pattern over a later one.
- A route names the dialect of its clients: whatever goes wrong there is told in it.
- HEAD is answered where GET is, at fixed paths of our own: who looks after servers asks so whether one is there.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from interlingua.gateway.calls.exchange import converse
from interlingua.gateway.console import health
from interlingua.gateway.console.live import live as live_feed
from interlingua.gateway.console.page import asset, root
from interlingua.gateway.console.sides import sides
from interlingua.gateway.console.usage import keys
from interlingua.gateway.records.metrics import metrics
from interlingua.gateway.sockets.session import upgrade
from interlingua.gateway.surfaces import models, responses
from interlingua.gateway.surfaces.counting import COUNTS, counting
from interlingua.gateway.surfaces.explaining import explain, explain_path
from interlingua.gateway.surfaces.health import live, ready, targets
from interlingua.gateway.surfaces.loading import loading
from interlingua.gateway.surfaces.openapi import openapi
from interlingua.gateway.surfaces.passing import PASSED, passing

if TYPE_CHECKING:
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayReply, GatewayRequest

__all__ = ["ROUTES", "Handler", "Route", "find_route", "meant_path", "methods_of"]

Handler: TypeAlias = "Callable[[Gateway, GatewayRequest], Awaitable[GatewayReply]]"
"""Answers one kind of request; an `Error` that it raises is told in the dialect of its route."""


class Route(NamedTuple):
    """One kind of request."""

    method: str
    """GET, POST, …"""
    pattern: str
    """The path, with `{name}` where something stands that differs."""
    handler: Handler
    """Who answers."""
    dialect: str = "openai-chat"
    """The dialect of the clients that ask this; empty where their headers say it."""
    is_open: bool = False
    """Whether it is answered without a key."""
    is_conversation: bool = False
    """Whether its body holds a conversation, and is read by the rules of its dialect."""


def _conversing(pattern: str, handler: Handler, dialect: str) -> Route:
    """A route whose body holds a conversation in a dialect."""
    return Route("POST", pattern, handler, dialect, is_conversation=True)


ROUTES: list[Route] = [
    _conversing("/v1/chat/completions", converse("openai-chat"), "openai-chat"),
    _conversing("/api/v1/chat/completions", converse("openai-chat"), "openai-chat"),
    _conversing("/v1/responses", converse("openai-responses"), "openai-responses"),
    _conversing("/v1/messages", converse("anthropic"), "anthropic"),
    _conversing("/messages", converse("anthropic"), "anthropic"),
    _conversing("/v1beta/models/{model:path}:generateContent", converse("google"), "google"),
    _conversing("/v1beta/models/{model:path}:streamGenerateContent", converse("google"), "google"),
    _conversing("/v1/models/{model:path}:generateContent", converse("google"), "google"),
    _conversing("/v1/models/{model:path}:streamGenerateContent", converse("google"), "google"),
    _conversing("/v1beta/{provider}/{model:path}:generateContent", converse("google"), "google"),
    _conversing("/v1beta/{provider}/{model:path}:streamGenerateContent", converse("google"), "google"),
    _conversing("/api/chat", loading(converse("ollama")), "ollama"),
    _conversing("/api/generate", loading(converse("ollama")), "ollama"),
    _conversing("/unified/v1/generate", converse("unified"), "unified"),
    Route("GET", "/v1/models", models.list_models, ""),
    Route("GET", "/v1/models/{model:path}", models.one_model, ""),
    Route("GET", "/api/v1/models", models.list_models, ""),
    Route("GET", "/v1beta/models", models.list_google, "google"),
    Route("GET", "/v1beta/models/{model:path}", models.one_google, "google"),
    Route("GET", "/api/tags", models.tags, "ollama"),
    Route("POST", "/api/show", models.show, "ollama"),
    Route("GET", "/api/ps", models.ps, "ollama"),
    Route("GET", "/api/version", models.version, "ollama"),
    Route("HEAD", "/", models.greet, is_open=True),
    Route("GET", "/", root, is_open=True),
    Route("GET", "/metrics", metrics, "unified", is_open=True),
    Route("GET", "/openapi.json", openapi, "unified"),
    Route("GET", "/health/live", live, "unified", is_open=True),
    Route("GET", "/health/ready", ready, "unified", is_open=True),
    Route("GET", "/health/targets", targets, "unified"),
    *[_conversing(count.pattern, counting(dialect), dialect) for dialect, count in COUNTS.items()],
    _conversing("/messages/count_tokens", counting("anthropic"), "anthropic"),
    _conversing("/v1/models/{model:path}:countTokens", counting("google"), "google"),
    _conversing("/v1beta/{provider}/{model:path}:countTokens", counting("google"), "google"),
    _conversing("/v1/responses/compact", responses.compact, "openai-responses"),
    Route("GET", "/v1/responses", upgrade, "openai-responses"),
    Route("GET", "/v1/responses/{id}", responses.retrieve, "openai-responses"),
    Route("DELETE", "/v1/responses/{id}", responses.delete, "openai-responses"),
    Route("POST", "/v1/responses/{id}/cancel", responses.cancel, "openai-responses"),
    Route("GET", "/v1/responses/{id}/input_items", responses.input_items, "openai-responses"),
    Route("GET", "/console/live", live_feed, "unified"),
    Route("GET", "/console/targets", health.targets, "unified"),
    Route("POST", "/console/targets/suspend", health.suspend, "unified"),
    Route("POST", "/console/targets/resume", health.resume, "unified"),
    Route("GET", "/console/keys", keys, "unified"),
    Route("POST", "/console/sides", sides, "unified"),
    Route("GET", "/console/{name}", asset, "unified", is_open=True),
    Route("POST", "/explain", explain, "unified"),
    Route("POST", "/explain/{path:path}", explain_path, "unified"),
    *[Route(method, kind.pattern, passing(kind.dialect), kind.dialect) for kind in PASSED for method in kind.methods],
]
"""Every route of the gateway."""
_EXACT = {(route.method, route.pattern): route for route in ROUTES if "{" not in route.pattern}
_ELSEWHERE = frozenset({kind.pattern for kind in PASSED} | {"/console/live", "/v1/responses"})
"""What is passed on, and what does not end."""
_HEADS = {path: route for (method, path), route in _EXACT.items() if method == "GET" and path not in _ELSEWHERE}
_MOST_STEPS = 6
"""The most parts of a path that is looked at for the one that was meant."""
_PATTERNS = [route for route in ROUTES if "{" in route.pattern]


def find_route(method: str, path: str) -> Route | None:
    """The route of a request, or None."""
    found = _EXACT.get((method, path))
    if found is not None:
        return found
    if method == "HEAD" and path in _HEADS:
        return _HEADS[path]
    return next((route for route in _PATTERNS if route.method == method and _fits(route.pattern, path)), None)


def methods_of(path: str) -> tuple[str, ...]:
    """The methods that a path can be asked with; none for a path that is not known."""
    return tuple(dict.fromkeys(route.method for route in ROUTES if _fits(route.pattern, path)))


def meant_path(method: str, path: str) -> str | None:
    """The path that a client may have meant whose base URL ends too early or too late; None for none that is near."""
    steps = path.strip("/").split("/", _MOST_STEPS)
    if len(steps) > _MOST_STEPS:
        return None
    rests = ["/" + "/".join(steps[start:]) for start in range(len(steps))]
    longer = [f"/{version}{rests[0]}" for version in ("v1", "v1beta")]
    return next((rest for rest in (*rests, *longer) if len(rest) > 1 and find_route(method, rest) is not None), None)


def _fits(pattern: str, path: str) -> bool:
    return _shape(pattern).fullmatch(path) is not None


@cache
def _shape(pattern: str) -> re.Pattern[str]:
    pieces = re.split(r"\{\w+(:path)?\}", pattern)
    texts, kinds = pieces[0::2], pieces[1::2]
    groups = [".+" if kind else "[^/]+" for kind in kinds]
    return re.compile(
        "".join([part for pair in zip(map(re.escape, texts), [*groups, ""], strict=True) for part in pair])
    )
