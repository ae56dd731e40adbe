"""Vectors from local weights: what a request asks, the vectors that the engine gives, and the reply.

Rules
- A GGUF file that was made for embeddings is pooled as it says itself. The models that can be pulled were made for
  conversations: theirs are the means of their states, which tell texts apart far less well.
- One text after the other, so that a cancellation is seen between two.

Not responsible for: loading weights (`engine`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from interlingua.local.chat import ChatError
from interlingua.local.reply import Fault, Vectors
from interlingua.wire import json

__all__ = ["PATH", "EmbedPlan", "EmbedServer", "embed_body", "embed_plan", "embedded"]

JsonObject: TypeAlias = dict[str, Any]
PATH = "/embeddings"
"""How the path of such a request ends."""
_KNOWN = frozenset({"model", "input", "encoding_format", "user"})


class EmbedServer(Protocol):
    """The engine, started for vectors."""

    def handle_embeddings(self, payload: JsonObject, /) -> JsonObject:
        """The vector of one text, or an error."""
        ...


class EmbedPlan(NamedTuple):
    """A request for vectors."""

    texts: tuple[str, ...]
    """The texts."""
    model: str
    """The model, as the request names it."""


def embed_plan(body: bytes) -> EmbedPlan:
    """The request for vectors in a body.

    Raises: ChatError for what the engine does not take; DecodeError, LimitExceededError.
    """
    request = json.decode_any(body)
    members = cast("dict[str, Any]", request) if isinstance(request, dict) else {}
    for member in members:
        if member not in _KNOWN:
            raise ChatError(f"the local model does not take {member}", param=member, code="unsupported_parameter")
    if members.get("encoding_format") not in (None, "float"):
        raise ChatError("the local model gives floats", param="encoding_format", code="unsupported_value")
    value = members.get("input")
    texts: list[Any] = (
        [value] if isinstance(value, str) else cast("list[Any]", value) if isinstance(value, list) else []
    )
    if not texts or not all([isinstance(text, str) and text for text in texts]):
        raise ChatError("input must be a text or a list of texts", param="input", code="unsupported_value")
    return EmbedPlan(tuple(texts), str(members.get("model") or ""))


def embedded(server: EmbedServer, plan: EmbedPlan, is_cancelled: Callable[[], bool]) -> Vectors | Fault | None:
    """The vectors of a plan; None where nobody wants them any more."""
    vectors: list[list[float]] = []
    tokens = 0
    for text in plan.texts:
        if is_cancelled():
            return None
        answer = server.handle_embeddings({"input": text})
        if error := answer.get("error"):
            message = str(error.get("message") or "the local engine failed")
            is_too_long = "too large" in message
            return Fault(400, f"the local engine refuses a text: {message}", "invalid_request_error",
                         "context_length_exceeded" if is_too_long else None)  # fmt: skip
        vectors.append(answer["data"][0]["embedding"])
        tokens += answer.get("usage", {}).get("prompt_tokens", 0)
    return Vectors(tuple(vectors), tokens)


def embed_body(plan: EmbedPlan, vectors: Vectors) -> bytes:
    """The reply in the form of Chat Completions' service."""
    data = [
        {"object": "embedding", "index": place, "embedding": vector} for place, vector in enumerate(vectors.vectors)
    ]
    usage = {"prompt_tokens": vectors.input_tokens, "total_tokens": vectors.input_tokens}
    return json.encode({"object": "list", "data": data, "model": plan.model, "usage": usage})
