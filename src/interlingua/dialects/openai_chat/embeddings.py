"""Embeddings in OpenAI's form: `/embeddings`, as its service and the many servers like it have them.

Shape: `{"model", "input", "dimensions", "encoding_format", "user"}` to `{"object": "list", "data": [{"object":
"embedding", "index", "embedding"}], "model", "usage": {"prompt_tokens", "total_tokens"}}`. A vector is a list of
numbers, or base64 of packed 32-bit floats.

Rules
- What the texts are for has no member at OpenAI. Others have `input_type` (`query`, `document`) or `task`
  (`retrieval.query`, `retrieval.passage`, …); the quirk `embed_input_type` says which.
- Tokens in the place of texts are of this dialect alone.
Source: SDK types `EmbeddingCreateParams`, `CreateEmbeddingResponse` 3.54; vendor pages "Embeddings" of Voyage AI and
Jina AI; read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._answer import changes_of, extra_of
from interlingua.dialects._members import is_object, merge_members
from interlingua.dialects._path import model_in_path
from interlingua.dialects._serve import JSON_HEADERS, hand_over
from interlingua.dialects._vectors import (
    DecodedEmbed,
    EmbedDialect,
    as_base64,
    as_inputs,
    check_request,
    foreign_noted,
    in_order,
    input_type_of,
    read_base64,
    read_usage,
    refuse_opaque,
    sent,
    truncation_of,
    without_truncation,
)
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.errors import DecodeError
from interlingua.types.change import Changes
from interlingua.types.content import OpaquePart
from interlingua.types.vectors import Embeddings, EmbedRequest, floats_of
from interlingua.wire.http import HttpReply
from interlingua.wire.json import WireStruct, decode_wire, encode

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions, ServerContext
    from interlingua.types.vectors import InputType, Packed
    from interlingua.wire.http import HttpRequest

__all__ = [
    "EMBEDDING",
    "ReplyWire",
    "RequestWire",
    "VectorWire",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
]

PATH = "/embeddings"
_WORDS: dict[str, dict[InputType, str]] = {
    "input_type": {"query": "query", "document": "document"},
    "task": {
        "query": "retrieval.query", "document": "retrieval.passage", "similarity": "text-matching",
        "classification": "classification", "clustering": "separation",
    },
}  # fmt: skip
"""The words of a server, by the member that they stand in."""
_READ: dict[str, InputType] = {
    "passage": "document", "search_query": "query", "search_document": "document",
    **{word: kind for words in _WORDS.values() for kind, word in words.items()},
}  # fmt: skip
_SILENT = ("object", "id", "created", "system_fingerprint")
"""Members of an answer that say nothing of it."""


class RequestWire(WireStruct):
    """A request body; from `output_dimension` on the names of other vendors."""

    model: str | None = None
    input: Any = None
    dimensions: int | None = None
    encoding_format: str | None = None
    user: str | None = None
    output_dimension: int | None = None
    input_type: str | None = None
    task: str | None = None
    truncation: bool | None = None


class VectorWire(WireStruct):
    """One vector of an answer."""

    object: Any = None
    index: int | None = None
    embedding: list[float] | str | None = None


class ReplyWire(WireStruct):
    """An answer."""

    data: list[VectorWire]
    object: Any = None
    model: str | None = None
    usage: Any = None


# The client's role


def encode_request(request: EmbedRequest, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError for inputs of another dialect.
    """
    quirks, changes = options.target.quirks, Changes(NAME, "encode_request", options.allow)
    refuse_opaque(request.inputs, NAME, changes)
    inputs = [each.raw if isinstance(each, OpaquePart) else each for each in request.inputs]
    wire = RequestWire(model=options.target.model or None, input=inputs, user=request.user)
    if quirks.embed_form == "pooled" and "/" not in options.target.model:
        changes.add("vectors_pooled", "/inputs", f"{options.target.model} was made for conversations")
    if quirks.embed_base64:
        wire.encoding_format = "base64"
    if request.dimensions is not None:
        if quirks.embed_dimensions == "none":
            changes.add("parameter_unsupported", "/dimensions", "the server has no member for it")
        else:
            setattr(wire, quirks.embed_dimensions, request.dimensions)
    if request.input_type is not None:
        word = _WORDS.get(quirks.embed_input_type, {}).get(request.input_type)
        if word is None:
            changes.add("parameter_unsupported", "/input_type", f"the server has no word for {request.input_type}")
        else:
            setattr(wire, quirks.embed_input_type, word)
    members = foreign_noted(request.extra, NAME, changes)
    is_voyages = quirks.embed_input_type == "input_type"
    merge_members(wire, members if is_voyages else without_truncation(members, changes))
    return sent(PATH, wire, changes, options)


def decode_response(reply: HttpReply, context: DecodeContext) -> Embeddings:
    """The vectors that a whole answer holds.

    Raises: DecodeError, with the place.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ReplyWire, repairs=repairs)
    vectors: list[tuple[int | None, Packed]] = []
    for place, each in enumerate(wire.data):
        path, vector = f"/data/{place}/embedding", each.embedding
        if vector is None:
            raise DecodeError(f"{path}: there is no vector", path=path)
        vectors.append((each.index, read_base64(vector, path) if isinstance(vector, str) else vector))
    packed = in_order(vectors, "/data")
    usage: dict[str, Any] = wire.usage if is_object(wire.usage) else {}
    counts = [usage.get(name) for name in ("prompt_tokens", "total_tokens")]  # some servers count the total alone
    extra: dict[str, Any] = wire.extra or {}
    members = {name: value for name, value in extra.items() if name not in _SILENT}
    return Embeddings(
        packed=packed,
        usage=read_usage(next((count for count in counts if type(count) is int and count >= 0), None)),
        model=wire.model or context.target.model,
        wire_model=wire.model,
        changes=changes_of(NAME, "decode_response", repairs).done(),
        extra=extra_of(NAME, members),
    )


# The server's role


@check_request
def decode_request(http: HttpRequest) -> DecodedEmbed:
    """The request of a client.

    Raises: DecodeError, with the place.
    """
    wire = decode_wire(http.body, RequestWire, repairs=[])
    form = wire.encoding_format or "float"
    if form not in ("float", "base64"):
        raise DecodeError(f"/encoding_format: it is `float` or `base64`, not {form[:40]!r}", path="/encoding_format")
    spelt = {name: getattr(wire, name) for name in _WORDS if getattr(wire, name) is not None}
    kinds: list[InputType] = [kind for word in spelt.values() if (kind := input_type_of(_READ, word)) is not None]
    others: dict[str, Any] = wire.extra or {}
    members = {
        **{name: value for name, value in others.items() if value is not None},  # SDKs say null for nothing
        **({} if kinds else spelt),
        **truncation_of(wire.truncation),
    }
    dimensions = wire.output_dimension if wire.dimensions is None else wire.dimensions
    if dimensions is not None and dimensions < 1:
        raise DecodeError("/dimensions: a vector has at least one number", path="/dimensions")
    inputs = as_inputs(wire.input, NAME, "/input")
    if "" in inputs:  # no service takes a text without a letter
        path = f"/input/{inputs.index('')}"
        raise DecodeError(f"{path}: a text is empty", path=path)
    return DecodedEmbed(
        model=wire.model or model_in_path(http.url),
        request=EmbedRequest(
            inputs=inputs,
            dimensions=dimensions,
            input_type=kinds[0] if kinds else None,
            user=wire.user,
            extra=extra_of(NAME, members),
        ),
        form="base64" if form == "base64" else "float",
    )


def encode_response(embeddings: Embeddings, decoded: DecodedEmbed, context: ServerContext) -> HttpReply:
    """The answer to a request, in the form that its client wants."""
    packs = decoded.form == "base64"
    data = [
        {"object": "embedding", "index": place, "embedding": as_base64(each) if packs else floats_of(each)}
        for place, each in enumerate(embeddings.packed)
    ]
    tokens = embeddings.usage.input_tokens or 0
    changes = Changes(NAME, "encode_response")
    members = foreign_noted(embeddings.extra, NAME, changes)
    hand_over(changes, context)
    body = {
        **members,
        "object": "list",
        "data": data,
        "model": context.model or embeddings.wire_model or embeddings.model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    return HttpReply(status=200, headers=JSON_HEADERS, body=encode(body))


EMBEDDING = EmbedDialect(
    encode_request=encode_request,
    decode_response=decode_response,
    decode_request=decode_request,
    encode_response=encode_response,
    ends=(PATH,),
    max_inputs=256,
)
"""Embeddings in OpenAI's form."""
