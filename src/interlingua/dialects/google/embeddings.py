"""Embeddings of Gemini: `:batchEmbedContents`, `:embedContent` for clients that have one text, `:predict` on Vertex AI.

Shape: `{"requests": [{"model", "content": {"parts": [{"text"}]}, "taskType", "outputDimensionality"}]}` to
`{"embeddings": [{"values": […]}]}`; of one text `{"content", …}` to `{"embedding": {"values"}}`. Vertex AI takes
`{"instances": [{"content", "task_type"}], "parameters": {"outputDimensionality"}}` and gives `{"predictions":
[{"embeddings": {"values", "statistics": {"token_count"}}}]}`.

Rules
- The requests of one body are one request: they must agree in everything but their content.
- At `:predict` vectors of texts alone are read; a body of another kind is refused at its place, and never passed on.
- A content of one text is that text. Any other one (pictures, several parts) is for this dialect alone.
Source: official client `google-genai` 3.4, its mappers of embedContent; vendor pages "Embeddings", "Text embeddings
API"; read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from interlingua.dialects._answer import changes_of, extra_of
from interlingua.dialects._members import is_list, is_object, members_of
from interlingua.dialects._serve import JSON_HEADERS, hand_over
from interlingua.dialects._vectors import (
    DecodedEmbed,
    EmbedDialect,
    check_request,
    foreign_noted,
    input_type_of,
    read_usage,
    refuse_opaque,
    sent,
)
from interlingua.dialects.google.parts import NAME
from interlingua.dialects.google.path import read_path
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
    "EMBEDDING",
    "BatchWire",
    "PredictionWire",
    "ReplyWire",
    "RequestWire",
    "VectorWire",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
]

_TASKS: dict[InputType, str] = {
    "query": "RETRIEVAL_QUERY",
    "document": "RETRIEVAL_DOCUMENT",
    "similarity": "SEMANTIC_SIMILARITY",
    "classification": "CLASSIFICATION",
    "clustering": "CLUSTERING",
}
_KINDS: dict[str, InputType] = {task: kind for kind, task in _TASKS.items()}
_SPELLINGS = {"task_type": "taskType", "output_dimensionality": "outputDimensionality"}
_SINGLE, _BATCH = ":embedContent", ":batchEmbedContents"


class RequestWire(WireStruct):
    """A request body; each of `requests` is an object of the members of a single one."""

    model: Any = None
    requests: list[dict[str, Any]] | None = None
    content: dict[str, Any] | None = None
    instances: list[dict[str, Any]] | None = None
    parameters: dict[str, Any] | None = None


class BatchWire(WireStruct):
    """The body: several requests, or instances with what holds for all of them."""

    requests: list[dict[str, Any]] | None = None
    instances: list[dict[str, Any]] | None = None
    parameters: dict[str, Any] | None = None


class VectorWire(WireStruct):
    """One vector of an answer."""

    values: list[float]
    shape: Any = None
    statistics: Any = None


class PredictionWire(WireStruct):
    """One vector of an answer of Vertex AI."""

    embeddings: VectorWire


class ReplyWire(WireStruct):
    """An answer."""

    embeddings: list[VectorWire] | None = None
    embedding: VectorWire | None = None
    predictions: list[PredictionWire] | None = None
    usageMetadata: Any = None
    metadata: Any = None


# The client's role


def encode_request(request: EmbedRequest, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError for inputs of another dialect.
    """
    changes = Changes(NAME, "encode_request", options.allow)
    refuse_opaque(request.inputs, NAME, changes)
    if request.user is not None:
        changes.add("parameter_unsupported", "/user", "the dialect has no user")
    members = foreign_noted(request.extra, NAME, changes)
    model, predicts = options.target.model, options.target.quirks.embed_form == "predict"
    write = _instances if predicts else _requests
    is_whole = model.startswith(("models/", "tunedModels/", "publishers/"))
    named = quote(model if is_whole else f"models/{model}", safe="/@-._~")
    path = f"/{named}:predict" if predicts else f"/{named}{_BATCH}"
    return sent(path, write(request, model, members), changes, options)


def _requests(request: EmbedRequest, model: str, members: dict[str, Any]) -> BatchWire:
    same: dict[str, Any] = {}
    if request.input_type is not None:
        same["taskType"] = _TASKS[request.input_type]
    if request.dimensions is not None:
        same["outputDimensionality"] = request.dimensions
    named = model if "/" in model else f"models/{model}"
    contents: list[Any] = [
        {"parts": [{"text": each}]} if isinstance(each, str) else each.raw for each in request.inputs
    ]
    return BatchWire(requests=[{"model": named, "content": content, **same, **members} for content in contents])


def _instances(request: EmbedRequest, model: str, members: dict[str, Any]) -> BatchWire:  # noqa: ARG001 - as `_requests`
    task = {} if request.input_type is None else {"task_type": _TASKS[request.input_type]}
    instances = [
        {"content": each, **task} if isinstance(each, str) else {"content": each.raw, **task} for each in request.inputs
    ]
    size = {} if request.dimensions is None else {"outputDimensionality": request.dimensions}
    return BatchWire(instances=instances, parameters={**size, **members} or None)


def decode_response(reply: HttpReply, context: DecodeContext) -> Embeddings:
    """The vectors that a whole answer holds.

    Raises: DecodeError, with the place.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ReplyWire, repairs=repairs)
    if wire.predictions is not None:
        vectors = [each.embeddings for each in wire.predictions]
    elif wire.embeddings is not None:
        vectors = wire.embeddings
    elif wire.embedding is not None:
        vectors = [wire.embedding]
    else:
        raise DecodeError("/embeddings: there are no vectors", path="/embeddings")
    packed: tuple[Packed, ...] = tuple([each.values for each in vectors])
    return Embeddings(
        packed=packed,
        usage=read_usage(_tokens(wire, vectors)),
        model=context.target.model,
        changes=changes_of(NAME, "decode_response", repairs).done(),
        extra=members_of(wire, NAME),
    )


def _tokens(wire: ReplyWire, vectors: list[VectorWire]) -> int | None:
    """The tokens that were read, where the answer says so: of all of it, or beside each vector."""
    if is_object(wire.usageMetadata):
        return _count(wire.usageMetadata.get("promptTokenCount"))
    counts = [_count(each.statistics.get("token_count")) for each in vectors if is_object(each.statistics)]
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if numbers and len(numbers) == len(vectors) else None


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


# The server's role


@check_request
def decode_request(http: HttpRequest) -> DecodedEmbed:
    """The request of a client.

    Raises: DecodeError, with the place; also for requests of one body that differ in more than their content.
    """
    path = read_path(http.url)
    model = "" if path is None else path.model
    wire = decode_wire(http.body, RequestWire, repairs=[])
    is_single = path is not None and path.method == "embedContent"
    if path is not None and path.method == "predict":
        contents, members, where = _predicted(wire)
    elif is_single:
        contents, members, where = [wire.content], _flat(dict(wire.extra or {})), [""]
        _check_model(wire.model, model, "")
    else:
        requests = wire.requests or []
        if not requests:
            raise DecodeError("/requests: a list of requests is missing", path="/requests")
        contents = [each.get("content") for each in requests]
        members = _agreed([_flat({name: each[name] for name in each if name not in _OWN}) for each in requests])
        where = [f"/requests/{place}" for place in range(len(requests))]
        for each, at in zip(requests, where, strict=True):
            _check_model(each.get("model"), model, at)
    members = {_SPELLINGS.get(name, name): value for name, value in members.items()}
    inputs = tuple([_input(content, f"{at}/content") for content, at in zip(contents, where, strict=True)])
    kind = input_type_of(_KINDS, members.get("taskType"))
    if kind is not None or members.get("taskType") == "TASK_TYPE_UNSPECIFIED":
        del members["taskType"]
    size = members.pop("outputDimensionality", None)
    if size is not None and (type(size) is not int or size < 1):
        at = f"{where[0]}/outputDimensionality"
        raise DecodeError(f"{at}: it is a whole number from 1 on", path=at)
    return DecodedEmbed(
        model=model,
        request=EmbedRequest(inputs=inputs, dimensions=size, input_type=kind, extra=extra_of(NAME, members)),
        form="single" if is_single else "predict" if wire.instances is not None else "float",
    )


def _predicted(wire: RequestWire) -> tuple[list[Any], dict[str, Any], list[str]]:
    """The texts of a `:predict`, what holds for all of them, and their places.

    Raises: DecodeError for a body that does not ask for vectors of texts: nothing else is read at this path.
    """
    instances = wire.instances or []
    if not instances:
        raise DecodeError("/instances: a list of texts is missing; vectors alone are made here", path="/instances")
    where = [f"/instances/{place}" for place in range(len(instances))]
    members = _agreed([{name: each[name] for name in each if name != "content"} for each in instances], "/instances")
    for each, at in zip(instances, where, strict=True):
        odd = sorted(each.keys() - {"content", "task_type", "taskType"})
        if odd or not isinstance(each.get("content"), str):
            path = f"{at}/{odd[0] if odd else 'content'}"
            raise DecodeError(f"{path}: only texts with a task are read here, for their vectors", path=path)
    return [each["content"] for each in instances], {**members, **(wire.parameters or {}), **(wire.extra or {})}, where


_OWN = frozenset({"model", "content"})


def _flat(members: dict[str, Any]) -> dict[str, Any]:
    """The members with those inside of `embedContentConfig`, where clients of Vertex AI put them.

    Raises: DecodeError for one that would take the place of the model or of the content.
    """
    config = members.pop("embedContentConfig", None)
    if is_object(config) and (own := sorted(_OWN & config.keys())):
        path = f"/embedContentConfig/{own[0]}"
        raise DecodeError(f"{path}: it is said beside the configuration", path=path)
    return {**members, **config} if is_object(config) else members


def _check_model(named: object, model: str, at: str) -> None:
    """Raises: DecodeError for a place that names another model than the path."""
    if model and named not in (None, model, f"models/{model}"):
        path = f"{at}/model"
        raise DecodeError(f"{path}: the path names {model[:100]!r}, and this another model", path=path)


def _agreed(requests: list[dict[str, Any]], at: str = "/requests") -> dict[str, Any]:
    """The members that all requests of a body have beside their content.

    Raises: DecodeError for one that differs.
    """
    for place, each in enumerate(requests):
        if each != requests[0]:
            path = f"{at}/{place}"
            raise DecodeError(f"{path}: it differs from the first one in more than its content", path=path)
    return requests[0]


def _input(content: Any, path: str) -> EmbedInput:
    if isinstance(content, str):
        return content
    if not is_object(content) or not content.get("parts"):
        raise DecodeError(f"{path}: it has no parts", path=path)
    parts = content["parts"]
    if is_list(parts) and len(parts) == 1 and is_object(parts[0]) and set(parts[0]) == {"text"}:
        text = parts[0]["text"]
        if isinstance(text, str):
            return text
    return OpaquePart(NAME, "content", content)


def encode_response(embeddings: Embeddings, decoded: DecodedEmbed, context: ServerContext) -> HttpReply:
    """The answer to a request, in the form of its path."""
    changes = Changes(NAME, "encode_response")
    members = foreign_noted(embeddings.extra, NAME, changes)
    hand_over(changes, context)
    vectors = [{"values": floats_of(each)} for each in embeddings.packed]
    tokens = embeddings.usage.input_tokens
    if decoded.form == "predict":
        statistics: dict[str, Any] = (
            {} if tokens is None or len(vectors) > 1 else {"statistics": {"token_count": tokens}}
        )
        predictions = [{"embeddings": {**vector, **statistics}} for vector in vectors]
        return HttpReply(status=200, headers=JSON_HEADERS, body=encode({"predictions": predictions, **members}))
    counts = {} if tokens is None else {"usageMetadata": {"promptTokenCount": tokens}}
    body = {"embedding": vectors[0]} if decoded.form == "single" else {"embeddings": vectors}
    return HttpReply(status=200, headers=JSON_HEADERS, body=encode({**body, **counts, **members}))


EMBEDDING = EmbedDialect(
    encode_request=encode_request,
    decode_response=decode_response,
    decode_request=decode_request,
    encode_response=encode_response,
    ends=(_SINGLE, _BATCH, ":predict"),
    max_inputs=100,
    max_tokens=200_000,
)
"""Embeddings of Gemini."""
