"""Embeddings of an Ollama server: `/api/embed`, and the older `/api/embeddings` for its clients.

Shape: `{"model", "input", "dimensions", "truncate"}` to `{"model", "embeddings": [[…]], "prompt_eval_count"}`; in the
older form `{"model", "prompt"}` to `{"embedding": […]}`.
Source: vendor page "API", SDK types `EmbedRequest`, `EmbedResponse` 0.6.3; read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._answer import changes_of, extra_of
from interlingua.dialects._members import merge_members, passing
from interlingua.dialects._serve import hand_over
from interlingua.dialects._vectors import (
    DecodedEmbed,
    EmbedDialect,
    as_inputs,
    check_request,
    foreign_noted,
    read_usage,
    refuse_opaque,
    sent,
)
from interlingua.dialects.ollama.parts import NAME
from interlingua.errors import DecodeError
from interlingua.types.change import Changes
from interlingua.types.content import OpaquePart
from interlingua.types.vectors import Embeddings, EmbedRequest, floats_of
from interlingua.wire.http import HttpReply
from interlingua.wire.json import WireStruct, decode_wire, encode

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions, ServerContext
    from interlingua.wire.http import HttpRequest

__all__ = [
    "EMBEDDING",
    "ReplyWire",
    "RequestWire",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
]

PATH, OLDER_PATH = "/api/embed", "/api/embeddings"
_HEADERS = (("content-type", "application/json; charset=utf-8"),)
_passing_members = passing("total_duration", "load_duration")


class RequestWire(WireStruct):
    """A request body; `prompt` is the older form."""

    model: str | None = None
    input: Any = None
    prompt: str | None = None
    dimensions: int | None = None


class ReplyWire(WireStruct):
    """An answer."""

    embeddings: list[list[float]]
    model: str | None = None
    prompt_eval_count: Any = None
    total_duration: Any = None
    load_duration: Any = None


def encode_request(request: EmbedRequest, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError for inputs of another dialect.
    """
    changes = Changes(NAME, "encode_request", options.allow)
    refuse_opaque(request.inputs, NAME, changes)
    inputs = [each.raw if isinstance(each, OpaquePart) else each for each in request.inputs]
    wire = RequestWire(model=options.target.model or None, input=inputs, dimensions=request.dimensions)
    for name in ("input_type", "user"):
        if getattr(request, name) is not None:
            changes.add("parameter_unsupported", f"/{name}", f"the dialect has no {name}")
    merge_members(wire, foreign_noted(request.extra, NAME, changes))
    return sent(PATH, wire, changes, options)


def decode_response(reply: HttpReply, context: DecodeContext) -> Embeddings:
    """The vectors that a whole answer holds.

    Raises: DecodeError, with the place.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ReplyWire, repairs=repairs)
    count = wire.prompt_eval_count
    return Embeddings(
        packed=tuple(wire.embeddings),
        usage=read_usage(count if type(count) is int and count >= 0 else None),
        model=wire.model or context.target.model,
        wire_model=wire.model,
        changes=changes_of(NAME, "decode_response", repairs).done(),
        extra=extra_of(NAME, _passing_members(wire)),
    )


@check_request
def decode_request(http: HttpRequest) -> DecodedEmbed:
    """The request of a client.

    Raises: DecodeError, with the place.
    """
    wire = decode_wire(http.body, RequestWire, repairs=[])
    older = http.url.partition("?")[0].endswith(OLDER_PATH)
    member = "prompt" if older else "input"
    inputs = as_inputs(wire.prompt if older else wire.input, NAME, f"/{member}")
    if wire.dimensions is not None and wire.dimensions < 1:
        raise DecodeError("/dimensions: a vector has at least one number", path="/dimensions")
    request = EmbedRequest(inputs=inputs, dimensions=wire.dimensions, extra=extra_of(NAME, dict(wire.extra or {})))
    return DecodedEmbed(model=wire.model or "", request=request, form="single" if older else "float")


def encode_response(embeddings: Embeddings, decoded: DecodedEmbed, context: ServerContext) -> HttpReply:
    """The answer to a request, in the form of its path."""
    changes = Changes(NAME, "encode_response")
    members = foreign_noted(embeddings.extra, NAME, changes)
    hand_over(changes, context)
    vectors = [floats_of(each) for each in embeddings.packed]
    if decoded.form == "single":
        return HttpReply(status=200, headers=_HEADERS, body=encode({"embedding": vectors[0]}))
    body = {
        "model": context.model or embeddings.wire_model or embeddings.model,
        "embeddings": vectors,
        "total_duration": 0,
        "load_duration": 0,
        "prompt_eval_count": embeddings.usage.input_tokens or 0,
        **members,
    }
    return HttpReply(status=200, headers=_HEADERS, body=encode(body))


EMBEDDING = EmbedDialect(
    encode_request=encode_request,
    decode_response=decode_response,
    decode_request=decode_request,
    encode_response=encode_response,
    ends=(PATH, OLDER_PATH),
    max_inputs=256,
)
"""Embeddings of an Ollama server."""
