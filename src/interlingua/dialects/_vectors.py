"""Embeddings and rerank in a dialect: pure functions in both roles, and what they share.

Rules
- A dialect that has them declares so in its `service.py` (`embeds`, `reranks`), and defines `EMBEDDING` in
  `embeddings.py`, `RERANKING` in `rerank.py` of a dialect's folder; `table` finds them.
- What no dialect but one understands (tokens, pictures) is an `OpaquePart`: verbatim there, refused elsewhere.
- A vector that is no list of finite numbers, a number of vectors that is not that of the inputs, and an index twice
  are a DecodeError: a vector in the wrong place is worse than none.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec

from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions, ServerContext
from interlingua.dialects._members import foreign_extras, is_list, is_object, told_names
from interlingua.errors import DecodeError, UnsupportedError
from interlingua.types.change import Changes
from interlingua.types.content import OpaquePart
from interlingua.types.usage import Usage
from interlingua.types.vectors import (
    Embeddings,
    EmbedInput,
    EmbedRequest,
    InputType,
    Packed,
    Ranked,
    Ranking,
    RerankRequest,
    floats_of,
    packed_of,
)
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import encode_wire

if TYPE_CHECKING:
    from interlingua.wire.json import WireStruct

__all__ = [
    "DecodedEmbed", "DecodedRerank", "EmbedDialect", "RerankDialect", "VectorForm", "as_base64", "as_inputs",
    "check_request", "foreign_noted", "in_order", "input_type_of", "ranked_in_order", "read_base64", "read_documents",
    "read_usage", "refuse_opaque", "sent", "truncation_of", "without_truncation",
]  # fmt: skip

T = TypeVar("T")
_MOST_TOKENS = 2**53
"""The most tokens that an answer may count."""
VectorForm: TypeAlias = Literal["float", "base64", "single", "predict"]
"""How a client wants its vectors: as numbers, packed, or the only one by itself."""


class DecodedEmbed(msgspec.Struct, frozen=True, kw_only=True):
    """A client's request for vectors."""

    model: str
    """The model that it named; empty when it named none."""
    request: EmbedRequest
    """The request."""
    form: VectorForm = "float"
    """How it wants the vectors."""


class DecodedRerank(msgspec.Struct, frozen=True, kw_only=True):
    """A client's request for documents in order."""

    model: str
    """The model that it named; empty when it named none."""
    request: RerankRequest
    """The request."""
    form: Literal["jina", "voyage"] = "jina"
    """The provider whose form of an answer it reads, where a dialect has several."""
    shows_documents: bool = False
    """Whether it wants the documents back."""


class EmbedDialect(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Embeddings of one dialect in both roles."""

    encode_request: Callable[[EmbedRequest, EncodeOptions], Encoded]
    """client: the request on the wire. Raises UnsupportedError."""
    decode_response: Callable[[HttpReply, DecodeContext], Embeddings]
    """client: a whole successful answer. Raises DecodeError."""
    decode_request: Callable[[HttpRequest], DecodedEmbed]
    """server: what a client asks. Raises DecodeError with the status 400."""
    encode_response: Callable[[Embeddings, DecodedEmbed, ServerContext], HttpReply]
    """server: the answer to a request."""
    ends: tuple[str, ...]
    """How the paths of such requests end."""
    max_inputs: int = 2_048
    """The most inputs of one request, where the server's row says nothing."""
    max_tokens: int = 300_000
    """About the most tokens of one request."""
    takes_one: Callable[[str], bool] | None = None
    """Whether a model takes one input at once; None where each takes several."""


class RerankDialect(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Rerank of one dialect in both roles."""

    encode_request: Callable[[RerankRequest, EncodeOptions], Encoded]
    """client: the request on the wire. Raises UnsupportedError."""
    decode_response: Callable[[HttpReply, DecodeContext], Ranking]
    """client: a whole successful answer. Raises DecodeError."""
    decode_request: Callable[[HttpRequest], DecodedRerank]
    """server: what a client asks. Raises DecodeError with the status 400."""
    encode_response: Callable[[Ranking, DecodedRerank, ServerContext], HttpReply]
    """server: the answer to a request."""
    ends: tuple[str, ...]
    """How the paths of such requests end."""


# Writing a request


def refuse_opaque(inputs: Sequence[EmbedInput], dialect: str, changes: Changes) -> None:
    """Note a refusal of each input that is of another dialect."""
    for place, each in enumerate(inputs):
        if isinstance(each, OpaquePart) and each.dialect != dialect:
            changes.add(
                "opaque_part", f"/inputs/{place}", f"{each.kind} of {each.dialect}, which is not one plain text"
            )


def foreign_noted(extra: Mapping[str, Any], dialect: str, changes: Changes) -> dict[str, Any]:
    """The members that are for this dialect alone; an entry for those of each other."""
    for other in foreign_extras(extra, dialect):
        changes.add("extra_foreign", f"/extra/{other}", told_names(extra[other]))
    return extra.get(dialect, {})


def truncation_of(value: object) -> dict[str, Any]:
    """The member with which Voyage is told whether long texts are cut, where a client sends it."""
    return {} if value is None else {"truncation": value}


def without_truncation(members: Mapping[str, Any], changes: Changes) -> Mapping[str, Any]:
    """The members without Voyage's, which other servers refuse and its client always sends."""
    if "truncation" not in members:
        return members
    changes.add("parameter_unsupported", "/truncation", "it is a member of Voyage's servers alone")
    return {name: value for name, value in members.items() if name != "truncation"}


def sent(path: str, wire: WireStruct, changes: Changes, options: EncodeOptions) -> Encoded:
    """The request as it is sent.

    Raises: UnsupportedError with every refusal found.
    """
    refused = changes.refused()
    if refused:
        reasons = "; ".join(f"{change.path} ({change.detail or change.code})" for change in refused)
        target = options.target
        who = "/".join(name for name in (target.provider, target.model) if name) or changes.dialect
        raise UnsupportedError(f"{who} cannot take {reasons}", changes=refused)
    return Encoded(path=path, body=encode_wire(wire), changes=changes.done())


# Reading a request


def as_inputs(value: object, dialect: str, path: str) -> tuple[EmbedInput, ...]:
    """The inputs that a member holds: a text, or several; tokens and objects stay what they are.

    Raises: DecodeError for none at all, and for what can be no input.
    """
    if isinstance(value, str):
        return (value,)
    if not is_list(value) or not value:
        raise DecodeError(f"{path}: a text or a list of texts is missing", path=path)
    if all([type(item) is int for item in value]):
        return (OpaquePart(dialect, "tokens", value),)
    return tuple([_input(item, dialect, f"{path}/{place}") for place, item in enumerate(value)])


def _input(item: object, dialect: str, path: str) -> EmbedInput:
    if isinstance(item, str):
        return item
    if is_list(item):
        return OpaquePart(dialect, "tokens", item)
    if is_object(item):
        return OpaquePart(dialect, "content", item)
    raise DecodeError(f"{path}: expected a text, got {type(item).__name__}", path=path)


def input_type_of(words: Mapping[str, InputType], word: object) -> InputType | None:
    """The canonical word for a dialect's own; None where there is none."""
    return words.get(word) if isinstance(word, str) else None


def check_request(read: Callable[[HttpRequest], T]) -> Callable[[HttpRequest], T]:
    """The decorator of a decoder whose bytes are a client's: what it cannot read is the client's fault."""

    def run(http: HttpRequest) -> T:
        try:
            return read(http)
        except DecodeError as error:
            error.status = 400
            raise

    return run


def read_documents(documents: list[Any] | None) -> tuple[str, ...]:
    """Documents of a client: texts, or objects that hold one.

    Raises: DecodeError for none at all, and for what is no text.
    """
    if not documents:
        raise DecodeError("/documents: a list of texts is missing", path="/documents")
    texts: list[str] = []
    for place, each in enumerate(documents):
        text = each.get("text") if is_object(each) else each
        path = f"/documents/{place}"
        if not isinstance(text, str):
            raise DecodeError(f"{path}: expected a text, got {type(each).__name__}", path=path)
        if is_object(each) and (others := [name for name in each if name != "text"]):
            raise DecodeError(f"{path}: only its text would be ranked, and it has {others[0][:60]!r}, too", path=path)
        texts.append(text)
    return tuple(texts)


# Reading an answer


def read_base64(text: str, path: str) -> bytes:
    """Packed 32-bit floats; base64 for URLs, without its padding, or in lines reads as what it means.

    Raises: DecodeError for what is none.
    """
    plain = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        packed = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (Base64Error, ValueError):
        raise DecodeError(f"{path}: neither numbers nor base64", path=path) from None
    if len(packed) % 4:
        raise DecodeError(f"{path}: {len(packed)} bytes are no 32-bit floats", path=path)
    if not isfinite(sum(floats_of(packed))):  # 32-bit floats cannot add up to infinity by themselves
        raise DecodeError(f"{path}: a number is not finite", path=path)
    return packed


def as_base64(vector: Packed) -> str:
    """A vector as base64 of packed 32-bit floats."""
    return b64encode(packed_of(vector)).decode()


def in_order(vectors: Sequence[tuple[int | None, T]], path: str) -> tuple[T, ...]:
    """Vectors by their index; those without one are in order already.

    Raises: DecodeError for an index that is missing, or is there twice.
    """
    places = [place if index is None else index for place, (index, _) in enumerate(vectors)]
    if sorted(places) != list(range(len(vectors))):
        raise DecodeError(f"{path}: the indexes are not those of {len(vectors)} vectors", path=path)
    by_place = dict(zip(places, [vector for _, vector in vectors], strict=True))
    return tuple([by_place[place] for place in range(len(vectors))])


def ranked_in_order(results: Sequence[Ranked], path: str) -> tuple[Ranked, ...]:
    """Documents by their scores, the best first.

    Raises: DecodeError for an index below 0, or one that is there twice.
    """
    indexes = [each.index for each in results]
    if len(set(indexes)) != len(indexes) or min(indexes, default=0) < 0:
        raise DecodeError(f"{path}: an index is there twice, or below 0", path=path)
    return tuple(sorted(results, key=lambda each: -each.score))


def read_usage(tokens: int | None) -> Usage:
    """The counts of an answer that reads alone; a number that no request can have is none."""
    return Usage() if tokens is None or tokens > _MOST_TOKENS else Usage(input_tokens=tokens, output_tokens=0)
