"""The vectors and the order of documents that the fakes make up: pure functions, the same every time.

Rules
- Each word of a text has a place and a sign in its vector, by its digest; a vector has the length 1. So texts that have
  words in common are near each other, and nothing else is meant.
- The relevance of a document is the cosine of its vector with that of the query, from 0 on.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from math import sqrt

from interlingua.types.usage import Usage
from interlingua.types.vectors import Embeddings, EmbedRequest, Ranked, Ranking, RerankRequest
from interlingua.wire.json import encode

__all__ = ["DIMENSIONS", "fake_ranking", "fake_vectors"]

DIMENSIONS = 64
"""How many numbers a vector has, unless the request says so."""
MAX_DIMENSIONS = 10_000
"""The most that it can have."""
_RANKED_DIMENSIONS = 256
_TOKEN = 4
"""How many characters are one token."""


def fake_vectors(request: EmbedRequest) -> Embeddings:
    """The vectors of a request."""
    size = min(request.dimensions or DIMENSIONS, MAX_DIMENSIONS)
    texts = [each if isinstance(each, str) else encode(each.raw).decode() for each in request.inputs]
    return Embeddings(packed=tuple([_vector(text, size) for text in texts]), usage=_usage(texts))


def fake_ranking(request: RerankRequest) -> Ranking:
    """The documents of a request in an order."""
    query = _vector(request.query, _RANKED_DIMENSIONS)
    vectors = [_vector(text, _RANKED_DIMENSIONS) for text in request.documents]
    scores = [max(0.0, sum([one * other for one, other in zip(query, vector, strict=True)])) for vector in vectors]
    results = sorted([Ranked(index, score) for index, score in enumerate(scores)], key=lambda each: -each.score)
    return Ranking(results=tuple(results[: request.top_n]), usage=_usage([request.query, *request.documents]))


def _usage(texts: list[str]) -> Usage:
    return Usage(input_tokens=sum([max(1, len(text) // _TOKEN) for text in texts]), output_tokens=0)


def _vector(text: str, size: int) -> list[float]:
    numbers = [0.0] * size
    for word in re.findall(r"\w+", text.lower()) or [text]:
        digest = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        numbers[(digest >> 1) % size] += 1.0 if digest & 1 else -1.0
    length = sqrt(sum([number * number for number in numbers]))
    if length == 0.0:  # words that take each other's place
        return [1.0, *numbers[1:]]
    return [number / length for number in numbers]
