"""The routes of the gateway: one table of methods, paths and handlers.

Rules
- Each dialect declares the paths of its clients (`dialects/_service.py`); the rest are the gateway's own.
- A pattern is a path in which `{name}` stands for one or more characters without a slash, `{name:path}` for any.
- An exact path wins over a pattern, an earlier pattern over a later one.
- A route names the dialect of its clients: whatever goes wrong there is told in it.
- HEAD is answered where GET is, at fixed paths of our own: who looks after servers asks so whether one is there.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from interlingua.dialects._service import ServicePath, passed_on
from interlingua.dialects.table import DEFAULT_DIALECT, OWN_DIALECT, get_service, services
from interlingua.errors import Error
from interlingua.gateway.calls.exchange import converse
from interlingua.gateway.console import health
from interlingua.gateway.console.live import live as live_feed
from interlingua.gateway.console.page import asset, root
from interlingua.gateway.console.side_by_side import side_by_side
from interlingua.gateway.console.usage import keys
from interlingua.gateway.records.metrics import metrics
from interlingua.gateway.sockets.session import upgrade
from interlingua.gateway.surfaces import models, responses
from interlingua.gateway.surfaces.counting import counting
from interlingua.gateway.surfaces.explaining import explain, explain_path
from interlingua.gateway.surfaces.health import live, ready, targets
from interlingua.gateway.surfaces.hosted import hosted
from interlingua.gateway.surfaces.loading import loading
from interlingua.gateway.surfaces.openapi import openapi
from interlingua.gateway.surfaces.passing import passing
from interlingua.gateway.surfaces.vectors import embedding, reranking

if TYPE_CHECKING:
    from interlingua.dialects._service import PathKind
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayReply, GatewayRequest

__all__ = ["ROUTES", "Handler", "Route", "find_route", "meant_path", "methods_of", "packaged_dialect"]

Handler: TypeAlias = "Callable[[Gateway, GatewayRequest], Awaitable[GatewayReply]]"
"""Answers one kind of request; an `Error` that it raises is told in the dialect of its route."""


class Route(NamedTuple):
    """One kind of request."""

    method: str
    """GET, POST, …"""
    pattern: str
    """The path, with `{name}` where something stands that differs."""
    handler: Handler
    """The handler that answers."""
    dialect: str = DEFAULT_DIALECT
    """The dialect of the clients that ask this; empty where their headers say it."""
    is_open: bool = False
    """Whether it is answered without a key."""
    is_conversation: bool = False
    """Whether its body holds a conversation, and is read by the rules of its dialect."""
    kind: PathKind | None = None
    """The kind of path, where a dialect has one for it."""


_HANDLERS: dict[str, Callable[[str], Handler]] = {
    "conversation": converse,
    "load": loading,
    "count": counting,
    "compact": lambda _: responses.compact,
    "socket": lambda _: upgrade,
    "answer": lambda _: responses.retrieve,
    "answer_delete": lambda _: responses.delete,
    "answer_cancel": lambda _: responses.cancel,
    "answer_items": lambda _: responses.input_items,
    "models": models.listing,
    "tags": lambda _: models.tags,
    "show": lambda _: models.show,
    "loaded": lambda _: models.ps,
    "version": lambda _: models.version,
    "embed": embedding,
    "rerank": reranking,
    "hosted": lambda _: hosted,
}
"""The handlers of each kind of path that dialects declare, by the dialect; models and passed calls need more."""
_CONVERSATIONS = frozenset({"conversation", "load", "count", "compact"})


def _route(dialect: str, path: ServicePath) -> Route:
    """The route of a path that a dialect declares."""
    match path.kind:
        case "model":
            handler = models.showing(dialect, path.pattern.partition("{")[0])
        case "passed":
            handler = passing(dialect, path.reads)
        case _:
            handler = _HANDLERS[path.kind](dialect)
    return Route(
        path.method, path.pattern, handler, dialect, is_conversation=path.kind in _CONVERSATIONS, kind=path.kind
    )


ROUTES: list[Route] = [
    *[_route(name, path) for name, service in services().items() for path in service.paths],
    *[_route("", ServicePath("models", pattern, "GET")) for pattern in ("/v1/models", "/api/v1/models")],
    _route("", ServicePath("model", "/v1/models/{model:path}", "GET")),
    *[_route("", path) for path in passed_on([("GET POST", "/v1/files"), ("GET DELETE", "/v1/files/{rest:path}")])],
    Route("HEAD", "/", models.greet, is_open=True),
    Route("GET", "/", root, is_open=True),
    Route("GET", "/metrics", metrics, OWN_DIALECT, is_open=True),
    Route("GET", "/openapi.json", openapi, OWN_DIALECT),
    Route("GET", "/health/live", live, OWN_DIALECT, is_open=True),
    Route("GET", "/health/ready", ready, OWN_DIALECT, is_open=True),
    Route("GET", "/health/targets", targets, OWN_DIALECT),
    Route("GET", "/console/live", live_feed, OWN_DIALECT),
    Route("GET", "/console/targets", health.targets, OWN_DIALECT),
    Route("POST", "/console/targets/suspend", health.suspend, OWN_DIALECT),
    Route("POST", "/console/targets/resume", health.resume, OWN_DIALECT),
    Route("GET", "/console/keys", keys, OWN_DIALECT),
    Route("POST", "/console/sides", side_by_side, OWN_DIALECT),
    Route("GET", "/console/{name}", asset, OWN_DIALECT, is_open=True),
    Route("POST", "/explain", explain, OWN_DIALECT),
    Route("POST", "/explain/{path:path}", explain_path, OWN_DIALECT),
]
"""Every route of the gateway."""
_EXACT = {(route.method, route.pattern): route for route in ROUTES if "{" not in route.pattern}
_ELSEWHERE = frozenset([route.pattern for route in ROUTES if route.kind in ("passed", "socket")] + ["/console/live"])
"""Patterns of routes that are passed on, and of those that do not end."""
_HEADS = {path: route for (method, path), route in _EXACT.items() if method == "GET" and path not in _ELSEWHERE}
_MOST_STEPS = 6
"""The most parts of a path that is looked at for the one that was meant."""
_PATTERNS = [route for route in ROUTES if "{" in route.pattern]


def find_route(method: str, path: str) -> Route | None:
    """The route of a request, or None."""
    exact = _EXACT.get((method, path))
    if exact is not None:
        return exact
    if method == "HEAD" and path in _HEADS:
        return _HEADS[path]
    return next((route for route in _PATTERNS if route.method == method and _fits(route.pattern, path)), None)


def packaged_dialect(method: str, path: str) -> str:
    """The dialect of an installed package whose clients ask at a path; empty for none that can be loaded."""
    from interlingua.dialects._installed import find_installed, installed_names  # only an unknown path looks for them

    for name in sorted(installed_names("interlingua.dialects")):
        with suppress(Error):
            paths = get_service(name).paths
            installed = find_installed("interlingua.dialects", name)
            if installed is not None and any([one.method == method and _fits(one.pattern, path) for one in paths]):
                return f"{name} (of {installed.origin})"
    return ""


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
