"""Rerank as Jina, vLLM and others have it beside OpenAI's format: `/rerank`, and Voyage's form of the same.

Shape: `{"model", "query", "documents", "top_n", "return_documents"}` to `{"model", "results": [{"index",
"relevance_score", "document": {"text"}}], "usage": {"total_tokens"}}`. Voyage says `top_k`, `data` for `results`, and
has documents as texts; a client that sends `top_k` or `truncation` is answered so.
Source: vendor pages "Reranker API" of Jina AI and "Rerankers" of Voyage AI, the server source of vLLM; November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._answer import changes_of, extra_of
from interlingua.dialects._members import is_object, members_of, merge_members
from interlingua.dialects._serve import JSON_HEADERS, hand_over
from interlingua.dialects._vectors import (
    DecodedRerank,
    RerankDialect,
    check_request,
    foreign_noted,
    ranked_in_order,
    read_documents,
    read_usage,
    sent,
    truncation_of,
    without_truncation,
)
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.errors import DecodeError
from interlingua.types.change import Changes
from interlingua.types.vectors import Ranked, Ranking, RerankRequest
from interlingua.wire.http import HttpReply
from interlingua.wire.json import WireStruct, decode_wire, encode

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions, ServerContext
    from interlingua.wire.http import HttpRequest

__all__ = [
    "RERANKING",
    "ReplyWire",
    "RequestWire",
    "ResultWire",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
]

PATH = "/rerank"


class RequestWire(WireStruct):
    """A request body; the last two are Voyage's."""

    model: str | None = None
    query: str | None = None
    documents: list[Any] | None = None
    top_n: int | None = None
    return_documents: bool | None = None
    top_k: int | None = None
    truncation: bool | None = None


class ResultWire(WireStruct):
    """One document in its place."""

    index: int
    relevance_score: float
    document: Any = None


class ReplyWire(WireStruct):
    """An answer; `data` is Voyage's name for `results`."""

    results: list[ResultWire] | None = None
    data: list[ResultWire] | None = None
    model: str | None = None
    usage: Any = None
    object: Any = None
    id: Any = None


def encode_request(request: RerankRequest, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError where the server has no such path.
    """
    form, changes = options.target.quirks.rerank_form, Changes(NAME, "encode_request", options.allow)
    if form == "none":
        changes.add("feature_missing", "/query", "the provider has no rerank")
    wire = RequestWire(model=options.target.model or None, query=request.query, documents=list(request.documents))
    if request.top_n is not None:
        setattr(wire, "top_k" if form == "voyage" else "top_n", request.top_n)
    members = foreign_noted(request.extra, NAME, changes)
    merge_members(wire, members if form == "voyage" else without_truncation(members, changes))
    return sent(PATH, wire, changes, options)


def decode_response(reply: HttpReply, context: DecodeContext) -> Ranking:
    """The documents by their relevance.

    Raises: DecodeError, with the place.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ReplyWire, repairs=repairs)
    results = wire.data if wire.results is None else wire.results
    if results is None:
        raise DecodeError("/results: it is missing", path="/results")
    ranked = [Ranked(each.index, each.relevance_score) for each in results]
    usage: dict[str, Any] = wire.usage if is_object(wire.usage) else {}
    tokens = usage.get("total_tokens")
    return Ranking(
        results=ranked_in_order(ranked, "/results"),
        usage=read_usage(tokens if type(tokens) is int and tokens >= 0 else None),
        model=wire.model or context.target.model,
        wire_model=wire.model,
        changes=changes_of(NAME, "decode_response", repairs).done(),
        extra=members_of(wire, NAME),
    )


@check_request
def decode_request(http: HttpRequest) -> DecodedRerank:
    """The request of a client.

    Raises: DecodeError, with the place.
    """
    wire = decode_wire(http.body, RequestWire, repairs=[])
    if not wire.query:
        raise DecodeError("/query: it is missing or empty", path="/query")
    top = wire.top_k if wire.top_n is None else wire.top_n
    if top is not None and top < 1:
        raise DecodeError("/top_n: at least one document is wanted", path="/top_n")
    return DecodedRerank(
        model=wire.model or "",
        request=RerankRequest(
            query=wire.query,
            documents=read_documents(wire.documents),
            top_n=top,
            extra=extra_of(NAME, dict(wire.extra or {}) | truncation_of(wire.truncation)),
        ),
        form="voyage" if wire.top_k is not None or wire.truncation is not None else "jina",
        shows_documents=bool(wire.return_documents),
    )


def encode_response(ranking: Ranking, decoded: DecodedRerank, context: ServerContext) -> HttpReply:
    """The answer to a request, with the documents where its client wants them."""
    documents, is_voyages = decoded.request.documents, decoded.form == "voyage"
    results: list[dict[str, Any]] = []
    for each in ranking.results:
        text = documents[each.index]
        shown = {"document": text if is_voyages else {"text": text}} if decoded.shows_documents else {}
        results.append({"index": each.index, "relevance_score": each.score, **shown})
    changes = Changes(NAME, "encode_response")
    members = foreign_noted(ranking.extra, NAME, changes)
    hand_over(changes, context)
    body = {
        **members,
        **({"object": "list"} if is_voyages else {"id": "rerank" if context.make_id is None else context.make_id()}),
        "model": context.model or ranking.wire_model or ranking.model,
        "data" if is_voyages else "results": results,
        "usage": {"total_tokens": ranking.usage.input_tokens or 0},
    }
    return HttpReply(status=200, headers=JSON_HEADERS, body=encode(body))


RERANKING = RerankDialect(
    encode_request=encode_request,
    decode_response=decode_response,
    decode_request=decode_request,
    encode_response=encode_response,
    ends=(PATH,),
)
"""Rerank beside OpenAI's format."""
