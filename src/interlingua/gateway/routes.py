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
from interlingua.gateway.sockets.session import upgrade
from interlingua.gateway.surfaces.health import live
from interlingua.gateway.surfaces.models import greet, ps, version
from interlingua.gateway.surfaces.openapi import openapi

if TYPE_CHECKING:
    from interlingua.dialects._service import ModelReads, PathKind
    from interlingua.gateway.http import GatewayReply, GatewayRequest
    from interlingua.gateway.parts import Parts

__all__ = ["ROUTES", "Handler", "Route", "find_route", "meant_path", "methods_of", "packaged_dialect"]

Handler: TypeAlias = "Callable[[Parts, GatewayRequest, Route], Awaitable[GatewayReply]]"
"""Has one of a gateway's parts answer a request; an `Error` that it raises is told in the dialect of the route."""


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
    reads: ModelReads = ""
    """Of what is passed on: the text of it that a model reads."""

    def answer(self, parts: Parts, request: GatewayRequest) -> Awaitable[GatewayReply]:
        """The reply of a gateway's parts to a request."""
        return self.handler(parts, request, self)


_CONVERSATIONS = frozenset({"conversation", "load", "count", "compact"})


_HANDLERS: dict[PathKind, Handler] = {
    "conversation": lambda parts, request, route: parts.conversations.converse(route.dialect, request),
    "load": lambda parts, request, route: parts.loading.answer(route.dialect, request),
    "count": lambda parts, request, route: parts.counts.answer(route.dialect, request),
    "compact": lambda parts, request, _: parts.responses.compact(request),
    "socket": lambda _, request, __: upgrade(request),
    "answer": lambda parts, request, _: parts.responses.retrieve(request),
    "answer_delete": lambda parts, request, _: parts.responses.delete(request),
    "answer_cancel": lambda parts, request, _: parts.responses.cancel(request),
    "answer_items": lambda parts, request, _: parts.responses.input_items(request),
    "models": lambda parts, request, route: parts.models.listing(route.dialect, request),
    "model": lambda parts, request, route: parts.models.single(route.dialect, request, route.pattern.partition("{")[0]),
    "tags": lambda parts, request, _: parts.models.tags(request),
    "show": lambda parts, request, _: parts.models.show(request),
    "loaded": lambda _, __, ___: ps(),
    "version": lambda _, __, route: version(route.dialect),
    "embed": lambda parts, request, route: parts.vectors.embed(route.dialect, request),
    "rerank": lambda parts, request, route: parts.vectors.rerank(route.dialect, request),
    "hosted": lambda parts, request, _: parts.hosted.answer(request, lambda route, own: route.answer(parts, own)),
    "passed": lambda parts, request, route: parts.passing.answer(route.dialect, request, route.reads),
}
"""The handlers of each kind of path that dialects declare."""


def _route(dialect: str, path: ServicePath) -> Route:
    """The route of a path that a dialect declares."""
    is_conversation = path.kind in _CONVERSATIONS
    return Route(
        path.method,
        path.pattern,
        _HANDLERS[path.kind],
        dialect,
        is_conversation=is_conversation,
        kind=path.kind,
        reads=path.reads,
    )


def _own(method: str, pattern: str, handler: Handler, dialect: str = OWN_DIALECT, *, is_open: bool = False) -> Route:
    """A route of the gateway's own."""
    return Route(method, pattern, handler, dialect, is_open=is_open)


_OWN: list[Route] = [
    _own("HEAD", "/", lambda _, request, __: greet(request), DEFAULT_DIALECT, is_open=True),
    _own("GET", "/", lambda parts, request, _: parts.console.files.root(request), DEFAULT_DIALECT, is_open=True),
    _own("GET", "/metrics", lambda parts, request, _: parts.metrics.answer(request), is_open=True),
    _own("GET", "/openapi.json", lambda _, __, ___: openapi()),
    _own("GET", "/health/live", lambda _, __, ___: live(), is_open=True),
    _own("GET", "/health/ready", lambda parts, _, __: parts.health.ready(), is_open=True),
    _own("GET", "/health/targets", lambda parts, request, _: parts.health.targets(request)),
    _own("GET", "/console/live", lambda parts, request, _: parts.console.requests.answer(request)),
    _own("GET", "/console/targets", lambda parts, request, _: parts.console.targets.listing(request)),
    _own("POST", "/console/targets/suspend", lambda parts, request, _: parts.console.targets.suspend(request)),
    _own("POST", "/console/targets/resume", lambda parts, request, _: parts.console.targets.resume(request)),
    _own("GET", "/console/keys", lambda parts, request, _: parts.console.keys.answer(request)),
    _own("POST", "/console/sides", lambda parts, request, _: parts.console.side_by_side.answer(request)),
    _own("GET", "/console/{name}", lambda parts, request, _: parts.console.files.asset(request), is_open=True),
    _own("POST", "/explain", lambda parts, request, _: parts.explaining.explain(request)),
    _own("POST", "/explain/{path:path}", lambda parts, request, _: parts.explaining.explain_path(request)),
]
"""The gateway's own routes."""
ROUTES: list[Route] = [
    *[_route(name, path) for name, service in services().items() for path in service.paths],
    *[_route("", ServicePath("models", pattern, "GET")) for pattern in ("/v1/models", "/api/v1/models")],
    _route("", ServicePath("model", "/v1/models/{model:path}", "GET")),
    *[_route("", path) for path in passed_on([("GET POST", "/v1/files"), ("GET DELETE", "/v1/files/{rest:path}")])],
    *_OWN,
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
