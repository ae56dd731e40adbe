"""Embeddings of Cohere's API, version 2: `/embed`.

Shape: `{"model", "texts", "input_type", "embedding_types", "output_dimension"}` to `{"id", "embeddings": {"float":
[[…]]}, "texts", "meta": {"billed_units": {"input_tokens"}}}`; base64 of packed 32-bit floats stands under `base64`.

Rules
- The service insists on what the texts are for: a request that does not say it embeds documents, with an entry.
- `inputs` holds texts among pictures: an input of one text is that text, any other one is for this dialect alone.
- Of the types of numbers `float` and `base64` are given, one in each answer; whole numbers and bits are none of ours.
Source: cohere-python 7.3.1, `v2/client.py`, `EmbedByTypeResponse`, read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._answer import changes_of, extra_of
from interlingua.dialects._members import is_list, is_object, merge_members, passing
from interlingua.dialects._serve import JSON_HEADERS, hand_over
from interlingua.dialects._vectors import (
    DecodedEmbed,
    EmbedDialect,
    as_base64,
    as_inputs,
    check_request,
    foreign_noted,
    input_type_of,
    read_base64,
    read_usage,
    refuse_opaque,
    sent,
)
from interlingua.dialects.cohere.parts import NAME
from interlingua.errors import DecodeError
from interlingua.types.change import Changes
from interlingua.types.content import OpaquePart
from interlingua.types.vectors import Embeddings, EmbedRequest, floats_of
from interlingua.wire.http import HttpReply
from interlingua.wire.json import WireStruct, decode_wire, encode

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions, ServerContext
    from interlingua.types.vectors import EmbedInput, InputType, Packed
    from interlingua.wire.http import HttpRequest

__all__ = [
    "EMBEDDING", "ReplyWire", "RequestWire", "billed_tokens", "decode_request", "decode_response", "encode_request",
    "encode_response",
]  # fmt: skip

PATH = "/embed"
_PASSED = passing("meta", "id")
_WORDS: dict[InputType, str] = {
    "query": "search_query",
    "document": "search_document",
    "classification": "classification",
    "clustering": "clustering",
}
_READ: dict[str, InputType] = {word: kind for kind, word in _WORDS.items()}
_USUAL = "search_document"


class RequestWire(WireStruct):
    """A request body."""

    model: str | None = None
    texts: list[str] | None = None
    images: list[str] | None = None
    inputs: list[Any] | None = None
    input_type: str | None = None
    embedding_types: list[str] | None = None
    output_dimension: int | None = None


class ReplyWire(WireStruct):
    """An answer."""

    embeddings: dict[str, Any]
    id: str | None = None
    texts: Any = None
    images: Any = None
    meta: Any = None
    response_type: Any = None


# The client's role


def encode_request(request: EmbedRequest, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError for inputs of another dialect.
    """
    changes = Changes(NAME, "encode_request", options.allow)
    refuse_opaque(request.inputs, NAME, changes)
    wire = RequestWire(
        model=options.target.model or None,
        input_type=_USUAL,
        embedding_types=["float"],
        output_dimension=request.dimensions,
    )
    texts = [each for each in request.inputs if isinstance(each, str)]
    if len(texts) == len(request.inputs):
        wire.texts = texts
    else:
        wire.inputs = [
            {"content": [{"type": "text", "text": each}]} if isinstance(each, str) else each.raw
            for each in request.inputs
        ]
    members = foreign_noted(request.extra, NAME, changes)
    if request.input_type in _WORDS:
        wire.input_type = _WORDS[request.input_type]
    elif request.input_type is not None:
        changes.add("parameter_adjusted", "/input_type", f"there is no word for {request.input_type}: {_USUAL}")
    elif "input_type" not in members:
        changes.add("parameter_added", "/input_type", _USUAL)
    if request.user is not None:
        changes.add("parameter_unsupported", "/user", "the dialect has no user")
    merge_members(wire, members)
    return sent(PATH, wire, changes, options)


def decode_response(reply: HttpReply, context: DecodeContext) -> Embeddings:
    """The vectors that a whole answer holds.

    Raises: DecodeError, with the place.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ReplyWire, repairs=repairs)
    kind = next((name for name in ("float", "base64") if wire.embeddings.get(name) is not None), None)
    if kind is None:
        raise DecodeError("/embeddings/float: there are no vectors", path="/embeddings/float")
    vectors = wire.embeddings[kind]
    path = f"/embeddings/{kind}"
    if not is_list(vectors):
        raise DecodeError(f"{path}: it is no list", path=path)
    read: list[Packed] = []
    for place, vector in enumerate(vectors):
        at = f"{path}/{place}"
        if isinstance(vector, str):
            read.append(read_base64(vector, at))
        elif is_list(vector) and all([type(number) in (int, float) for number in vector]):
            try:
                read.append([float(number) for number in vector])
            except OverflowError:
                raise DecodeError(f"{at}: a number is out of range", path=at) from None
        else:
            raise DecodeError(f"{at}: it is no list of numbers", path=at)
    return Embeddings(
        packed=tuple(read),
        usage=read_usage(billed_tokens(wire.meta)),
        model=context.target.model,
        changes=changes_of(NAME, "decode_response", repairs).done(),
        extra=extra_of(NAME, _PASSED(wire)),
    )


def billed_tokens(meta: object) -> int | None:
    """The tokens that were read, where an answer counts them."""
    units: Any = meta.get("billed_units") if is_object(meta) else None
    count: Any = units.get("input_tokens") if is_object(units) else None
    return int(count) if type(count) in (int, float) and count >= 0 else None


# The server's role


@check_request
def decode_request(http: HttpRequest) -> DecodedEmbed:
    """The request of a client.

    Raises: DecodeError, with the place.
    """
    wire = decode_wire(http.body, RequestWire, repairs=[])
    kind = input_type_of(_READ, wire.input_type)
    if wire.output_dimension is not None and wire.output_dimension < 1:
        raise DecodeError("/output_dimension: a vector has at least one number", path="/output_dimension")
    members = dict(wire.extra or {})
    if wire.input_type is not None and kind is None:
        members["input_type"] = wire.input_type
    request = EmbedRequest(
        inputs=_inputs(wire), dimensions=wire.output_dimension, input_type=kind, extra=extra_of(NAME, members)
    )
    return DecodedEmbed(model=wire.model or "", request=request, form=_form(wire.embedding_types))


def _form(kinds: list[str] | None) -> Any:
    """The type of numbers that a client wants.

    Raises: DecodeError for several, and for one that is not given here.
    """
    if not kinds or kinds == ["float"]:
        return "float"
    if kinds == ["base64"]:
        return "base64"
    path = "/embedding_types"
    raise DecodeError(f'{path}: it is ["float"] or ["base64"] here, not {kinds!r:.60}', path=path)


def _inputs(wire: RequestWire) -> tuple[EmbedInput, ...]:
    """The texts, pictures or mixed inputs of a client.

    Raises: DecodeError for none at all, and for several of these members.
    """
    names = [name for name in ("texts", "images", "inputs") if getattr(wire, name)]
    if len(names) != 1:
        raise DecodeError("/texts: one of texts, images and inputs has to be there", path="/texts")
    if wire.images:
        pictures = [{"content": [{"type": "image_url", "image_url": {"url": url}}]} for url in wire.images]
        return tuple([OpaquePart(NAME, "content", picture) for picture in pictures])
    if wire.inputs:
        return as_inputs([_as_text(each) for each in wire.inputs], NAME, "/inputs")
    return as_inputs(wire.texts, NAME, "/texts")


def _as_text(each: Any) -> Any:
    """A mixed input of one text as that text; any other one as it is."""
    match each:
        case {"content": [{"type": "text", "text": str(text)}]}:
            return text
        case _:
            return each


def encode_response(embeddings: Embeddings, decoded: DecodedEmbed, context: ServerContext) -> HttpReply:
    """The answer to a request, in the type of numbers that its client wants."""
    changes = Changes(NAME, "encode_response")
    members = foreign_noted(embeddings.extra, NAME, changes)
    hand_over(changes, context)
    packs = decoded.form == "base64"
    vectors = [as_base64(each) if packs else floats_of(each) for each in embeddings.packed]
    body = {
        "id": "embed" if context.make_id is None else context.make_id(),
        "embeddings": {decoded.form: vectors},
        "texts": [each for each in decoded.request.inputs if isinstance(each, str)],
        "meta": {
            "api_version": {"version": "2"}, "billed_units": {"input_tokens": embeddings.usage.input_tokens or 0},
        },
        "response_type": "embeddings_by_type",
        **members,
    }  # fmt: skip
    return HttpReply(status=200, headers=JSON_HEADERS, body=encode(body))


EMBEDDING = EmbedDialect(
    encode_request=encode_request,
    decode_response=decode_response,
    decode_request=decode_request,
    encode_response=encode_response,
    ends=(PATH,),
    max_inputs=96,
)
"""Embeddings of Cohere's API."""
