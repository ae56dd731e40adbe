"""Rerank of Cohere's API, version 2: `/rerank`.

Shape: `{"model", "query", "documents", "top_n"}` to `{"id", "results": [{"index", "relevance_score"}], "meta":
{"billed_units": {"search_units"}}}`.
Source: cohere-python 7.3.1, `v2/client.py`, `V2RerankResponse`, read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._answer import changes_of, extra_of
from interlingua.dialects._members import merge_members, passing
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
)
from interlingua.dialects.cohere.embeddings import billed_tokens
from interlingua.dialects.cohere.parts import NAME
from interlingua.errors import DecodeError
from interlingua.types.change import Changes
from interlingua.types.vectors import Ranked, Ranking, RerankRequest
from interlingua.wire.http import HttpReply
from interlingua.wire.json import WireStruct, decode_wire, encode

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions, ServerContext
    from interlingua.wire.http import HttpRequest

__all__ = [
    "RERANKING", "ReplyWire", "RequestWire", "ResultWire", "decode_request", "decode_response", "encode_request",
    "encode_response",
]  # fmt: skip

PATH = "/rerank"
_PASSED = passing("meta", "id")


class RequestWire(WireStruct):
    """A request body."""

    model: str | None = None
    query: str | None = None
    documents: list[Any] | None = None
    top_n: int | None = None


class ResultWire(WireStruct):
    """One document in its place."""

    index: int
    relevance_score: float


class ReplyWire(WireStruct):
    """An answer."""

    results: list[ResultWire]
    id: str | None = None
    meta: Any = None


def encode_request(request: RerankRequest, options: EncodeOptions) -> Encoded:
    """The request on the wire."""
    changes = Changes(NAME, "encode_request", options.allow)
    wire = RequestWire(
        model=options.target.model or None,
        query=request.query,
        documents=list(request.documents),
        top_n=request.top_n,
    )
    merge_members(wire, foreign_noted(request.extra, NAME, changes))
    return sent(PATH, wire, changes, options)


def decode_response(reply: HttpReply, context: DecodeContext) -> Ranking:
    """The documents by their relevance.

    Raises: DecodeError, with the place.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ReplyWire, repairs=repairs)
    ranked = [Ranked(each.index, each.relevance_score) for each in wire.results]
    return Ranking(
        results=ranked_in_order(ranked, "/results"),
        usage=read_usage(billed_tokens(wire.meta)),
        model=context.target.model,
        changes=changes_of(NAME, "decode_response", repairs).done(),
        extra=extra_of(NAME, _PASSED(wire)),
    )


@check_request
def decode_request(http: HttpRequest) -> DecodedRerank:
    """The request of a client.

    Raises: DecodeError, with the place.
    """
    wire = decode_wire(http.body, RequestWire, repairs=[])
    if not wire.query:
        raise DecodeError("/query: it is missing or empty", path="/query")
    if wire.top_n is not None and wire.top_n < 1:
        raise DecodeError("/top_n: at least one document is wanted", path="/top_n")
    request = RerankRequest(
        query=wire.query,
        documents=read_documents(wire.documents),
        top_n=wire.top_n,
        extra=extra_of(NAME, dict(wire.extra or {})),
    )
    return DecodedRerank(model=wire.model or "", request=request)


def encode_response(ranking: Ranking, decoded: DecodedRerank, context: ServerContext) -> HttpReply:  # noqa: ARG001 - its form
    """The answer to a request."""
    changes = Changes(NAME, "encode_response")
    members = foreign_noted(ranking.extra, NAME, changes)
    hand_over(changes, context)
    body = {
        "id": "rerank" if context.make_id is None else context.make_id(),
        "results": [{"index": each.index, "relevance_score": each.score} for each in ranking.results],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
        **members,
    }
    return HttpReply(status=200, headers=JSON_HEADERS, body=encode(body))


RERANKING = RerankDialect(
    encode_request=encode_request,
    decode_response=decode_response,
    decode_request=decode_request,
    encode_response=encode_response,
    ends=(PATH,),
)
"""Rerank of Cohere's API."""
