"""The facts of Converse beside its bodies, for a server and a caller.

Source: service model `bedrock-runtime/2023-09-30` of botocore 1.44; vendor pages "Converse", "ConverseStream",
"API keys"; read in November 2026.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote, unquote

from interlingua.dialects._service import IdPlaces, LimitFields, Override, Phrase, Service, ServicePath
from interlingua.errors import (
    AuthenticationError,
    ContextWindowExceededError,
    NotFoundError,
    RateLimitError,
    UnknownModelError,
)
from interlingua.wire.eventstream import AMAZON_STREAM, encode_event_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EVENT", "SERVICE", "ConversePath", "path_of", "read_path"]

EVENT = {":event-type": "", ":content-type": "application/json", ":message-type": "event"}
"""The headers of an event, which has its name in the first."""
_SAID = frozenset({"messages", "system", "prompt", "inputtext"})
"""Members by which models take their input, which Converse says itself."""
_PATH = re.compile(r"/model/(?P<model>[^?]+)/converse(?P<stream>-stream)?$")


class ConversePath(NamedTuple):
    """The model and the operation in the path of a request."""

    model: str
    """The model that is asked: an id, an inference profile or an ARN."""
    streams: bool
    """Whether a stream is asked for."""
    json_array: bool = False
    """Whether a stream comes as one JSON array, which it never does."""


def read_path(url: str) -> ConversePath | None:
    """The model and the operation in a path; None where it names no model."""
    match = _PATH.search(url.partition("#")[0].partition("?")[0])
    return None if match is None else ConversePath(unquote(match["model"]), match["stream"] is not None)


def path_of(model: str, *, stream: bool) -> str:
    """The path behind a provider's base URL; an ARN has slashes and colons, which are no part of the path."""
    return f"/model/{quote(model, safe='')}/converse{'-stream' if stream else ''}"


def _path(path: str, model: str, streams: bool) -> str:  # noqa: ARG001, FBT001 - the form of `path_of`
    """The path behind the base URL."""
    return path_of(model, stream=streams)


def _keep_alive(path: str, model: str) -> bytes:  # noqa: ARG001 - the form of `keep_alive`
    """An event of a name that no client knows, which they pass over."""
    return encode_event_frame({**EVENT, ":event-type": "ping"}, b"{}")


def _overrides(body: Any) -> Iterator[Override]:
    """The members for the model itself, whose words win over those of Converse."""
    members = body.get("additionalModelRequestFields")
    if isinstance(members, dict):
        yield Override("/additionalModelRequestFields", "bedrock", cast("dict[str, Any]", members), _SAID)


_DATA = ("input", "json", "inputSchema", "additionalModelRequestFields", "promptVariables", "requestMetadata")
SERVICE = Service(
    paths=(
        ServicePath("conversation", "/model/{model:path}/converse"),
        ServicePath("conversation", "/model/{model:path}/converse-stream"),
        ServicePath("hosted", "/model/{model:path}/invoke"),
        ServicePath("hosted", "/model/{model:path}/invoke-with-response-stream"),
    ),
    prefixes=("/model/",),
    read_path=read_path,
    tools_inside="toolConfig",
    data=_DATA,
    id_places=IdPlaces(names=("uri",), data=_DATA),  # of an S3 location, which is read with the account's own rights
    limits=LimitFields(
        ("maxTokens",),
        ("inferenceConfig",),
        thinking=(("additionalModelRequestFields",), ("thinking",), ("budget_tokens",)),
    ),
    stream_type=AMAZON_STREAM,
    keep_alive=_keep_alive,
    phrases={
        ContextWindowExceededError: Phrase("Input is too long for requested model:", "input is too long"),
        AuthenticationError: Phrase("The security token included in the request is invalid:", "security token"),
        RateLimitError: Phrase("Too many requests, please wait before trying again:", "too many requests"),
        **dict.fromkeys(
            (NotFoundError, UnknownModelError),
            Phrase("The provided model identifier is invalid:", "model identifier is invalid"),
        ),
    },
    overrides=_overrides,
    thoughts="if_asked",
    passes=False,
    path_of=_path,
    embeds="bedrock",
    reply_headers=("x-amzn-",),
)
"""Converse beside its bodies."""
