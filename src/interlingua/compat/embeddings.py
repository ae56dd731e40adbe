"""Vectors in the shape of OpenAI's embeddings, made by any model: what `embeddings.create` and `embedding` share.

Rules
- The body is read and the answer written by the dialect's own reader and writer of embeddings; between them a request
  for vectors goes the way of `il.embed`: in as many requests as it takes, by chains of one model.
- Vectors are lists of numbers unless `encoding_format="base64"` asks for texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from msgspec.structs import replace

from interlingua.client.vectors import check_one_model, combined, embedded, inputs_of, message_of
from interlingua.compat.answer import Answer
from interlingua.compat.asking import body_of
from interlingua.compat.body import Body
from interlingua.compat.calls import prepared_body
from interlingua.dialects._contract import ServerContext
from interlingua.dialects.table import get_embedding
from interlingua.types.request import Request
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from interlingua.client.call.values import Call
    from interlingua.compat.account import Account
    from interlingua.dialects._vectors import DecodedEmbed, EmbedDialect
    from interlingua.types.change import Change
    from interlingua.types.response import Response
    from interlingua.types.vectors import Embeddings

__all__ = ["CreateEmbeddingResponse", "Embedding", "EmbeddingUsage", "embeddings", "embeddings_async"]

CHAT = "openai-chat"


class Embedding(Body):
    """One vector."""

    embedding: list[float]
    """Its numbers; a text of base64 where that was asked for."""
    index: int
    """The number of its input."""
    object: str
    """`embedding`."""


class EmbeddingUsage(Body):
    """The tokens of a request."""

    prompt_tokens: int
    """Tokens that were read."""
    total_tokens: int
    """Equal to `prompt_tokens`: nothing is written."""


class CreateEmbeddingResponse(Answer):
    """Vectors in the order of their inputs; `interlingua.output` has them as `il.Embeddings`."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"data": Embedding, "usage": EmbeddingUsage}

    data: list[Embedding]
    """The vectors."""
    model: str
    """The provider's own name of the model."""
    object: str
    """`list`."""
    usage: EmbeddingUsage
    """Tokens."""


class _Asked(NamedTuple):
    """One request for vectors, read."""

    call: Call
    form: EmbedDialect
    decoded: DecodedEmbed


def embeddings(account: Account, members: Mapping[str, Any]) -> CreateEmbeddingResponse:
    """The vectors that the arguments of `embeddings.create` ask for.

    Raises: as `il.embed`; DecodeError with the place for a bad body.
    """
    from interlingua.client.embed import gathered

    prepared = _prepare(account, members)
    return _made(prepared, gathered(prepared.call, inputs_of(prepared.call), embedded(prepared.decoded.request)))


async def embeddings_async(account: Account, members: Mapping[str, Any]) -> CreateEmbeddingResponse:
    """`embeddings`, awaited."""
    from interlingua.client.aio.embed import gathered  # who blocks needs no event loop

    prepared = _prepare(account, members)
    return _made(prepared, await gathered(prepared.call, inputs_of(prepared.call), embedded(prepared.decoded.request)))


def _prepare(account: Account, members: Mapping[str, Any]) -> _Asked:
    form = get_embedding(CHAT)
    assert form is not None, "the dialect has embeddings"  # noqa: S101 - an invariant
    account, body = prepared_body(account, members)
    decoded = form.decode_request(HttpRequest(url="https://localhost/v1/embeddings", body=body_of(body)))
    ask = decoded.request
    request = Request(messages=(message_of(ask.inputs),), user=ask.user, extra=ask.extra)
    call = account.call(CHAT, decoded.model, request)
    check_one_model(call.targets)
    return _Asked(replace(call, operation="embeddings"), form, decoded)


def _made(prepared: _Asked, answers: list[Response[Embeddings]]) -> CreateEmbeddingResponse:
    vectors = combined(answers)
    changes: list[Change] = []
    body = prepared.form.encode_response(vectors, prepared.decoded, ServerContext(changes=changes)).body
    answer = CreateEmbeddingResponse(cast("dict[str, Any]", decode_any(body)))
    response = replace(
        answers[-1],
        output=vectors,
        usage=vectors.usage,
        cost_usd=vectors.cost_usd,
        attempts=vectors.attempts,
        changes=vectors.changes,
    )
    answer.behind(response, (*vectors.changes, *changes))
    return answer
