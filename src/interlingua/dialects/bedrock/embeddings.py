"""Embeddings of Bedrock: the models of Titan and of Cohere, by `InvokeModel`.

Shape: Titan takes `{"inputText", "dimensions"}` and gives `{"embedding", "inputTextTokenCount"}`, one text at once;
Cohere takes `{"texts", "input_type", "embedding_types", "output_dimension"}` and gives `{"embeddings": {"float":
[[…]]}}`, or the list itself.

Rules
- The form is that of the model's vendor, which its id names, an inference profile's and an ARN's, too.
- Cohere's models insist on what the texts are for: documents where nobody says it, with an entry.
- No client is served under these paths: what stands there belongs to the model that is named.
Source: vendor pages "Amazon Titan Text Embeddings", "Cohere Embed", "InvokeModel"; read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from msgspec import field

from interlingua.dialects._answer import changes_of
from interlingua.dialects._members import merge_members
from interlingua.dialects._serve import JSON_HEADERS
from interlingua.dialects._vectors import (
    DecodedEmbed,
    EmbedDialect,
    as_inputs,
    check_request,
    foreign_noted,
    input_type_of,
    read_usage,
    refuse_opaque,
    sent,
)
from interlingua.dialects.bedrock.parts import NAME
from interlingua.errors import DecodeError
from interlingua.types.change import Changes
from interlingua.types.content import OpaquePart
from interlingua.types.vectors import Embeddings, EmbedRequest, floats_of
from interlingua.wire.http import HttpReply
from interlingua.wire.json import WireStruct, decode_wire, encode

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions, ServerContext
    from interlingua.types.vectors import InputType
    from interlingua.wire.http import HttpRequest

__all__ = [
    "EMBEDDING", "ReplyWire", "RequestWire", "VectorsWire", "decode_request", "decode_response", "encode_request",
    "encode_response", "takes_one",
]  # fmt: skip

_WORDS: dict[InputType, str] = {
    "query": "search_query",
    "document": "search_document",
    "classification": "classification",
    "clustering": "clustering",
}
_READ: dict[str, InputType] = {word: kind for kind, word in _WORDS.items()}
_USUAL = "search_document"


class RequestWire(WireStruct):
    """A request body: Titan's members, then Cohere's."""

    inputText: str | None = None
    dimensions: int | None = None
    texts: list[str] | None = None
    input_type: str | None = None
    embedding_types: list[str] | None = None
    output_dimension: int | None = None


class VectorsWire(WireStruct):
    """Cohere's vectors by the type of their numbers."""

    floats: list[list[float]] | None = field(default=None, name="float")


class ReplyWire(WireStruct):
    """An answer: Titan's members, then Cohere's."""

    embedding: list[float] | None = None
    embeddingsByType: Any = None
    inputTextTokenCount: int | None = None
    embeddings: VectorsWire | list[list[float]] | None = None
    id: Any = None
    texts: Any = None
    response_type: Any = None


def takes_one(model: str) -> bool:
    """Whether a model takes one text at once: all but those of Cohere."""
    return "cohere." not in model


def encode_request(request: EmbedRequest, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError for what is no text, and for several texts to a model that takes one.
    """
    model, changes = options.target.model, Changes(NAME, "encode_request", options.allow)
    refuse_opaque(request.inputs, "", changes)
    if request.user is not None:
        changes.add("parameter_unsupported", "/user", "the dialect has no user")
    members = foreign_noted(request.extra, NAME, changes)
    if takes_one(model):
        if len(request.inputs) > 1:
            changes.add("opaque_part", "/inputs/1", "the model takes one text at once")
        if request.input_type is not None:
            changes.add("parameter_unsupported", "/input_type", "the model makes no difference")
        wire = RequestWire(inputText=_text(next(iter(request.inputs))), dimensions=request.dimensions)
    else:
        word = _USUAL if request.input_type is None else _WORDS.get(request.input_type)
        if request.input_type is None:
            changes.add("parameter_added", "/input_type", _USUAL)
        elif word is None:
            changes.add("parameter_adjusted", "/input_type", f"there is no word for {request.input_type}: {_USUAL}")
        wire = RequestWire(
            texts=[_text(each) for each in request.inputs],
            input_type=word or _USUAL,
            embedding_types=["float"],
            output_dimension=request.dimensions,
        )
    merge_members(wire, members)
    return sent(f"/model/{quote(model, safe='')}/invoke", wire, changes, options)


def _text(each: str | OpaquePart) -> str:
    return each if isinstance(each, str) else ""  # which was refused


def decode_response(reply: HttpReply, context: DecodeContext) -> Embeddings:
    """The vectors that a whole answer holds.

    Raises: DecodeError, with the place.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ReplyWire, repairs=repairs)
    several = wire.embeddings.floats if isinstance(wire.embeddings, VectorsWire) else wire.embeddings
    vectors = several if wire.embedding is None else [wire.embedding]
    if vectors is None:
        raise DecodeError("/embedding: there is no vector", path="/embedding")
    tokens = wire.inputTextTokenCount
    if tokens is None:
        counted = [value for name, value in reply.headers if name == "x-amzn-bedrock-input-token-count"]
        is_count = bool(counted) and len(counted[0]) < 16 and counted[0].isascii() and counted[0].isdigit()
        tokens = int(counted[0]) if is_count else None
    return Embeddings(
        packed=tuple(vectors),
        usage=read_usage(tokens if tokens is None or tokens >= 0 else None),
        model=context.target.model,
        changes=changes_of(NAME, "decode_response", repairs).done(),
    )


@check_request
def decode_request(http: HttpRequest) -> DecodedEmbed:
    """The request in this form, for who stands in for the service.

    Raises: DecodeError, with the place.
    """
    wire = decode_wire(http.body, RequestWire, repairs=[])
    is_one = wire.inputText is not None
    inputs = as_inputs(wire.inputText if is_one else wire.texts, NAME, "/inputText" if is_one else "/texts")
    size = wire.dimensions if is_one else wire.output_dimension
    model = unquote(http.url.partition("?")[0].rpartition("/model/")[2].removesuffix("/invoke"))
    request = EmbedRequest(inputs=inputs, dimensions=size, input_type=input_type_of(_READ, wire.input_type))
    return DecodedEmbed(model=model, request=request, form="single" if is_one else "float")


def encode_response(embeddings: Embeddings, decoded: DecodedEmbed, context: ServerContext) -> HttpReply:  # noqa: ARG001 - its form
    """The answer to a request, in the form of its model."""
    vectors = [floats_of(each) for each in embeddings.packed]
    if decoded.form == "single":
        body: dict[str, Any] = {
            "embedding": vectors[0], "inputTextTokenCount": embeddings.usage.input_tokens or 0,
        }  # fmt: skip
    else:
        body = {"id": "embed", "embeddings": {"float": vectors}, "response_type": "embeddings_by_type"}
    return HttpReply(status=200, headers=JSON_HEADERS, body=encode(body))


EMBEDDING = EmbedDialect(
    encode_request=encode_request,
    decode_response=decode_response,
    decode_request=decode_request,
    encode_response=encode_response,
    ends=("/invoke",),
    max_inputs=96,
    takes_one=takes_one,
)
"""Embeddings of Bedrock."""
