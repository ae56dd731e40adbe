"""The facts of Ollama's API beside its bodies, for a server and a caller.

Source: the project's document "API", its server's routes, and the official clients; read in November 2026.
"""

from __future__ import annotations

from typing import Any

from interlingua.dialects._service import LimitFields, Phrase, Service, ServicePath
from interlingua.errors import (
    AuthenticationError,
    ContextWindowExceededError,
    NotFoundError,
    RateLimitError,
    UnknownModelError,
)
from interlingua.wire.json import encode

__all__ = ["SERVICE"]

_OLDER = "/api/generate"


def _is_unusual(node: dict[str, Any]) -> bool:
    """Whether an object of a history has arguments as text."""
    return type(node.get("arguments")) is str


def _path(path: str, model: str, streams: bool) -> str:  # noqa: ARG001, FBT001 - the form of `path_of`
    """The path behind the base URL, which is the path of the request."""
    return path


def _keep_alive(path: str, model: str) -> bytes:
    """A piece without content; an empty line would be read as JSON."""
    empty = {"response": ""} if path.endswith("/generate") else {"message": {"role": "assistant", "content": ""}}
    return encode({"model": model, "created_at": "1970-01-01T00:00:00Z", **empty, "done": False}) + b"\n"


SERVICE = Service(
    paths=(
        ServicePath("load", "/api/chat"),
        ServicePath("load", _OLDER),
        ServicePath("tags", "/api/tags", "GET"),
        ServicePath("show", "/api/show"),
        ServicePath("loaded", "/api/ps", "GET"),
        ServicePath("version", "/api/version", "GET"),
        ServicePath("embed", "/api/embed"),
        ServicePath("embed", "/api/embeddings"),
    ),
    prefixes=("/api/",),
    silent_paths=frozenset({_OLDER}),
    streams=True,
    data=("format",),
    limits=LimitFields(("num_predict",), ("options",)),
    is_unusual=_is_unusual,
    body_type="application/json; charset=utf-8",
    stream_type="application/x-ndjson",
    keep_alive=_keep_alive,
    phrases={
        ContextWindowExceededError: Phrase(
            "the input length exceeds the context length:", "exceeds the context length"
        ),
        AuthenticationError: Phrase("unauthorized:", "unauthorized"),
        RateLimitError: Phrase("too many requests:", "too many requests"),
        **dict.fromkeys((NotFoundError, UnknownModelError), Phrase("model not found:", "not found")),
    },
    thoughts="unasked",
    version="0.13.0",
    loads=True,
    path_of=_path,
    embeds="ollama",
)
"""Ollama's API beside its bodies; `version` is the server's whose interface is imitated, which clients compare."""
