"""Services that give vectors and rank documents, imitated strictly: they refuse what the real ones refuse.

```python
service = VectorUpstream("openai")
with service.serving() as base_url:                        # on a port of the loopback
    ...
assert service.requests[-1].url.endswith("/embeddings")
```

Rules
- A service takes the members that its official client or its page knows, and no other; bounds are those of its page.
- The vector of a text has the text's length in letters first, and is filled up to its size with its first letter's
  number, so that a test sees which text it belongs to. A document is the more relevant the longer it is.

Source: SDK types `EmbeddingCreateParams` (openai 3.54), `EmbedContentParameters` (google-genai 3.4), `EmbedRequest`
(ollama 0.6.3), `V2Client.embed` and `rerank` (cohere 7.3); vendor pages "Embeddings", "Rerankers" of Voyage AI and Jina
AI; read in November 2026.
"""

from __future__ import annotations

import re
import threading
from base64 import b64encode
from collections.abc import Callable, Generator
from contextlib import contextmanager
from struct import pack
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import msgspec

from interlingua.testing.upstream.loopback import serving
from interlingua.testing.upstream.notation import parse
from interlingua.testing.upstream.refusals import error_reply
from interlingua.testing.upstream.shapes import Named, Reading, faults
from interlingua.transport.replay import Line, Script
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode

__all__ = ["VECTOR_SERVICES", "VectorService", "VectorUpstream"]

JsonObject: TypeAlias = dict[str, Any]

_GRAMMAR = parse(
    r"""
OpenAiEmbed {model text(1..); input text(1..) | [text(1..)](1..2048) | [integer](1..) | [[integer](1..)](1..2048);
  dimensions? integer(1..3072); encoding_format? "float" | "base64"; user? text}
VoyageEmbed {model text(1..); input text(1..) | [text(1..)](1..1000); input_type? "query" | "document" | null;
  truncation? flag; output_dimension? integer(1..) | null; output_dtype? "float"; encoding_format? "base64" | null}
VoyageRank {model text(1..); query text(1..); documents [text](1..1000); top_k? integer(1..) | null;
  return_documents? flag; truncation? flag}
JinaEmbed {model text(1..); input [text(1..)](1..2048);
  task? "retrieval.query" | "retrieval.passage" | "text-matching" | "classification" | "separation";
  dimensions? integer(1..); normalized, late_chunking, truncate? flag; embedding_type? "float" | "base64"}
JinaRank {model text(1..); query text(1..); documents [text](1..2048); top_n? integer(1..); return_documents? flag}
GoogleBatch {requests [GoogleOne](1..100)}
GoogleOne {model text(/(models|tunedModels)\/.+/); content GoogleContent; taskType? GoogleTask; title? text;
  outputDimensionality? integer(1..)}
GoogleContent {parts [GooglePart](1..); role? text}
GooglePart {text text}
GoogleTask = "RETRIEVAL_QUERY" | "RETRIEVAL_DOCUMENT" | "SEMANTIC_SIMILARITY" | "CLASSIFICATION" | "CLUSTERING" |
  "QUESTION_ANSWERING" | "FACT_VERIFICATION" | "CODE_RETRIEVAL_QUERY"
VertexPredict {instances [VertexInstance](1..250); parameters? VertexParameters}
VertexInstance {content text(1..); task_type? GoogleTask; title? text}
VertexParameters {outputDimensionality? integer(1..); autoTruncate? flag}
OllamaEmbed {model text(1..); input text | [text]; truncate? flag; dimensions? integer(1..); options? object;
  keep_alive? number | text}
CohereEmbed {model text(1..); texts? [text](1..96); images? [text](1..); inputs? [any](1..96);
  input_type "search_document" | "search_query" | "classification" | "clustering" | "image";
  embedding_types? ["float" | "int8" | "uint8" | "binary" | "ubinary" | "base64"](1..); max_tokens? integer(1..);
  output_dimension? integer(1..); truncate? "NONE" | "START" | "END"; priority? integer(0..999)}
CohereRank {model text(1..); query text(1..); documents [text](1..1000); top_n? integer(1..);
  max_tokens_per_doc? integer(1..); priority? integer(0..999)}
"""
)
_READING = Reading(grammar=_GRAMMAR)
_SIZE = 4


def _vector(text: str, size: int | None) -> list[float]:
    return [float(len(text)), *[float(ord(text[:1] or "\0"))] * ((size or _SIZE) - 1)]


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [each if isinstance(each, str) else str(each) for each in value]


def _openai(body: JsonObject) -> JsonObject:
    size = body.get("dimensions") or body.get("output_dimension")
    vectors = [_vector(text, size) for text in _texts(body["input"])]
    is_packed = "base64" in (body.get("encoding_format"), body.get("embedding_type"))
    data = [
        {"object": "embedding", "index": place, "embedding": _packed(vector) if is_packed else vector}
        for place, vector in enumerate(vectors)
    ]
    tokens = len(vectors)
    return {
        "object": "list", "data": data[::-1], "model": body["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }  # fmt: skip


def _packed(vector: list[float]) -> str:
    return b64encode(pack(f"<{len(vector)}f", *vector)).decode()


def _google(body: JsonObject) -> JsonObject:
    parts = [(each["content"]["parts"][0]["text"], each.get("outputDimensionality")) for each in body["requests"]]
    return {"embeddings": [{"values": _vector(text, size)} for text, size in parts]}


def _vertex(body: JsonObject) -> JsonObject:
    size = body.get("parameters", {}).get("outputDimensionality")
    vectors = [_vector(each["content"], size) for each in body["instances"]]
    counted = {"truncated": False, "token_count": 1}
    return {"predictions": [{"embeddings": {"values": vector, "statistics": counted}} for vector in vectors]}


def _ollama(body: JsonObject) -> JsonObject:
    vectors = [_vector(text, body.get("dimensions")) for text in _texts(body["input"])]
    return {
        "model": body["model"], "embeddings": vectors, "total_duration": 1, "load_duration": 1,
        "prompt_eval_count": len(vectors),
    }  # fmt: skip


def _cohere(body: JsonObject) -> JsonObject:
    vectors = [_vector(text, body.get("output_dimension")) for text in body["texts"]]
    kinds = body.get("embedding_types", ["float"])
    embeddings = {"float": vectors} if "float" in kinds else {"base64": [_packed(vector) for vector in vectors]}
    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": len(vectors)}}
    return {
        "id": "e-1", "embeddings": embeddings, "texts": body["texts"], "meta": meta,
        "response_type": "embeddings_by_type",
    }  # fmt: skip


def _order(body: JsonObject) -> list[JsonObject]:
    documents = body["documents"]
    scores = [{"index": place, "relevance_score": min(1.0, len(text) / 100)} for place, text in enumerate(documents)]
    return sorted(scores, key=lambda each: -each["relevance_score"])[: body.get("top_n") or body.get("top_k")]


def _jina_rank(body: JsonObject) -> JsonObject:
    return {"model": body["model"], "results": _order(body), "usage": {"total_tokens": 7}}


def _voyage_rank(body: JsonObject) -> JsonObject:
    return {"object": "list", "data": _order(body), "model": body["model"], "usage": {"total_tokens": 7}}


def _cohere_rank(body: JsonObject) -> JsonObject:
    units = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return {"id": "r-1", "results": _order(body), "meta": units}


class VectorService(msgspec.Struct, frozen=True):
    """One service: what is asked where, and what it answers."""

    dialect: str
    """The dialect of its errors."""
    paths: tuple[tuple[str, str, Callable[[JsonObject], JsonObject]], ...]
    """Regular expression of a path, the shape of its body, and what makes the answer."""


VECTOR_SERVICES: dict[str, VectorService] = {
    "openai": VectorService("openai-chat", ((r".*/v1/embeddings", "OpenAiEmbed", _openai),)),
    "voyage": VectorService(
        "openai-chat",
        ((r".*/v1/embeddings", "VoyageEmbed", _openai), (r".*/v1/rerank", "VoyageRank", _voyage_rank)),
    ),
    "jina": VectorService(
        "openai-chat", ((r".*/v1/embeddings", "JinaEmbed", _openai), (r".*/v1/rerank", "JinaRank", _jina_rank))
    ),
    "google": VectorService("google", ((r".*/models/[^/:]+:batchEmbedContents", "GoogleBatch", _google),)),
    "vertex": VectorService("google", ((r".*/models/[^/:]+:predict", "VertexPredict", _vertex),)),
    "ollama": VectorService("ollama", ((r"/api/embed", "OllamaEmbed", _ollama),)),
    "cohere": VectorService(
        "cohere", ((r".*/v2/embed", "CohereEmbed", _cohere), (r".*/v2/rerank", "CohereRank", _cohere_rank))
    ),
}
"""Every service, by its name."""


class VectorUpstream(Script):
    """One service of vectors, imitated; also the script of a replay transport."""

    def __init__(self, name: str, *, failures: int = 0, status: int = 503) -> None:
        """The service of that name, which fails the first `failures` requests with `status`."""
        super().__init__()
        self.problems: list[str] = []
        """The problems of requests, oldest first."""
        self._service = VECTOR_SERVICES[name]
        self._failures, self._status = failures, status
        self._lock = threading.Lock()

    def answer(self, request: HttpRequest) -> Line:
        """The service's answer to `request`."""
        with self._lock:
            self.requests.append(request)
            if self._failures:
                self._failures -= 1
                return self._refused(self._status, "try again")
            path = urlsplit(request.url).path
            for pattern, shape, make in self._service.paths:
                if re.fullmatch(pattern, path):
                    return self._answered(request, shape, make)
            return self._refused(404, f"there is nothing at {path}")

    def _answered(self, request: HttpRequest, shape: str, make: Callable[[JsonObject], JsonObject]) -> Line:
        body = decode_any(request.body)
        problems = faults(_READING, Named(shape), body)
        if problems:
            return self._refused(400, f"{problems[0].pointer}: {problems[0].sentence}")
        return Line(pieces=(encode(make(body)),))

    def _refused(self, status: int, message: str) -> Line:
        self.problems.append(message)
        reply = error_reply(self._service.dialect, status, message)
        return Line(pieces=(reply.body,), status=reply.status, headers=reply.headers)

    @contextmanager
    def serving(self) -> Generator[str]:
        """The base URL of this service on a port of the loopback."""
        with serving(self.answer) as base_url:
            yield base_url
