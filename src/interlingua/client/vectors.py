"""Vectors of texts and an order of documents, without I/O: one request to one target, and what many of them come to.

Strategy: such a request goes the way of every call. Its texts are the parts of one message, so that limits, hooks and
observers see what is read; the attempt writes it in the form of the target's dialect. What comes back is the `output`
of a response, whose usage, price and changes are counted as those of any answer.

Rules
- A chain asks for vectors of one model alone: those of two do not compare. Its name may stand under several providers.
- More texts than one request takes are sent in several, by the smallest bound of all targets; the order stays.
- A request that fails fails the whole, with the numbers of its texts.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from interlingua.client.call.attempt import answered, context_of, fetching
from interlingua.client.call.effect import Work
from interlingua.client.call.encoding import encode_options, settled
from interlingua.client.face import call_of
from interlingua.dialects.table import get_embedding, get_reranking
from interlingua.errors import ConfigError, DecodeError, UnsupportedError, UsageError, WireError, kind_of
from interlingua.routing.estimate import estimate_text
from interlingua.types.change import Change, first_changes
from interlingua.types.content import OpaquePart, TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.usage import Usage, add_usage
from interlingua.types.vectors import Embeddings, EmbedRequest, Ranking, RerankRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.face import Face
    from interlingua.dialects._contract import DecodeContext
    from interlingua.errors import Error
    from interlingua.types.vectors import EmbedInput, Ranked
    from interlingua.wire.http import HttpReply

__all__ = [
    "CONCURRENCY",
    "Batch",
    "as_texts",
    "batches_of",
    "check_one_model",
    "combined",
    "embed_call",
    "embedded",
    "inputs_of",
    "message_of",
    "output_of",
    "placed",
    "ranked",
    "ranking_of",
    "rerank_call",
    "with_inputs",
]

CONCURRENCY = 4
"""How many requests are under way at once, unless somebody says otherwise."""
_NO_OPTIONS = frozenset({
    "system", "tools", "tool_choice", "output_schema", "schema_name", "schema_description", "schema_strict",
    "json_mode", "max_tokens", "temperature", "top_p", "top_k", "min_p", "stop", "seed", "presence_penalty",
    "frequency_penalty", "logit_bias", "logprobs", "n", "effort", "thinking", "thinking_summary", "thinking_budget",
    "parallel_tool_calls", "verbosity", "cache", "cache_key", "continues", "store", "call_ids", "history_policy",
    "repair", "max_repairs",
})  # fmt: skip
"""Options of answers, which say nothing here."""
_HEAVY_BYTES = 262_144
"""Larger replies are read off the event loop: a megabyte of numbers takes about ten milliseconds."""
_LARGEST = 3.4028235677973366e38
"""From there on a number is infinite as a 32-bit float."""


class Batch(NamedTuple):
    """The texts of one request, and the place of the first one among all."""

    first: int
    """The number of the first, from 0."""
    inputs: tuple[EmbedInput, ...]
    """They themselves."""


# What is asked


def as_texts(texts: object, name: str, what: str) -> tuple[str, ...]:
    """A text, or several, as a tuple; `name` takes them, and `what` is each of them called.

    Raises: UsageError for anything else, pictures too.
    """
    if isinstance(texts, str):
        return (texts,)
    if not hasattr(texts, "__iter__") or type(texts) in (bytes, dict):
        raise UsageError(f"{name} takes a text or several, not {kind_of(texts)}")
    several: Iterable[Any] = texts  # pyright: ignore[reportAssignmentType]  # it can be gone through
    items = tuple(several)
    for place, each in enumerate(items):
        if not isinstance(each, str):
            raise UsageError(f"{name}: {what} {place} is {kind_of(each)}; only texts are taken, no media")
        if not each:
            raise UsageError(f"{name}: {what} {place} is empty")
    return items


def embed_call(face: Face, ask: EmbedRequest, options: Mapping[str, Any]) -> Call:
    """The call of one request for vectors.

    Raises: UsageError for options of answers; ConfigError for a chain of several models; as `il.model`.
    """
    _check_options("embed", options)
    call = call_of(face, Request(messages=(message_of(ask.inputs),)), None, options)
    check_one_model(call.targets)
    return msgspec.structs.replace(call, operation="embeddings")


def rerank_call(face: Face, ask: RerankRequest, options: Mapping[str, Any]) -> Call:
    """The call of a rerank.

    Raises: UsageError for options of answers; as `il.model`.
    """
    _check_options("rerank", options)
    call = call_of(face, Request(messages=(message_of((ask.query, *ask.documents)),)), None, options)
    return msgspec.structs.replace(call, operation="rerank")


def _check_options(name: str, options: Mapping[str, Any]) -> None:
    wrong = [option for option in options if option in _NO_OPTIONS]
    if wrong:
        raise UsageError(f"il.{name} takes no {wrong[0]}: it generates no answer")


def message_of(inputs: Sequence[EmbedInput]) -> Message:
    """The one message of a request for vectors: each input is a part of it."""
    return Message("user", tuple([TextPart(each) if isinstance(each, str) else each for each in inputs]))


def with_inputs(call: Call, inputs: Sequence[EmbedInput]) -> Call:
    """The call of some of the inputs."""
    request = msgspec.structs.replace(call.request, messages=(message_of(inputs),))
    return msgspec.structs.replace(call, request=request)


def inputs_of(call: Call) -> tuple[EmbedInput, ...]:
    """The inputs as the call has them: hooks may have changed their words.

    Raises: UsageError for a hook that has made something else of them.
    """
    messages = call.request.messages
    parts = messages[0].parts if len(messages) == 1 else ()
    inputs: list[EmbedInput] = []
    for part in parts:
        if isinstance(part, TextPart):
            inputs.append(part.text)
        elif isinstance(part, OpaquePart):
            inputs.append(part)
    if not inputs or len(inputs) != len(parts):
        raise UsageError("a hook has to leave the texts in their one message, each in a part of its own")
    return tuple(inputs)


def check_one_model(targets: Sequence[CallTarget]) -> None:
    """Raises: ConfigError for a chain that names several models: their vectors do not compare."""
    # Names of models without what says where they are: `models/x`, `openai/x` and `x:latest` are `x`.
    names = {
        target.endpoint.model.rpartition("/")[2].lower().removesuffix(":latest"): target.endpoint.spec
        for target in targets
    }
    if len(names) > 1:
        raise ConfigError(
            f"vectors of two models do not compare, and {' and '.join(sorted(names.values()))} are two; a chain for "
            "embeddings names one model under several providers"
        )


# In several requests


def batches_of(call: Call, inputs: tuple[EmbedInput, ...]) -> list[Batch]:
    """The inputs in as many requests as it takes, each within the bounds of every target."""
    most, tokens = 2_048, 300_000.0  # inputs, and about tokens, of one request
    for target in call.targets:
        form, quirks = get_embedding(target.dialect.name), target.endpoint.target.quirks
        if form is not None:
            is_alone = form.takes_one is not None and form.takes_one(target.endpoint.model)
            most = min(most, 1 if is_alone else quirks.embed_inputs or form.max_inputs)
            tokens = min(tokens, quirks.embed_tokens or form.max_tokens)
    tokens *= 0.8  # estimates miss
    batches: list[Batch] = []
    first, weight = 0, 0.0
    for place, each in enumerate(inputs):
        own = estimate_text(each) if isinstance(each, str) else float(len(str(each.raw)))
        if place > first and (place - first >= most or weight + own > tokens):
            batches.append(Batch(first, inputs[first:place]))
            first, weight = place, 0.0
        weight += own
    batches.append(Batch(first, inputs[first:]))
    return batches


def placed(error: Error, batch: Batch, total: int) -> Error:
    """The error of one request, with the numbers of its texts where there are others."""
    if len(batch.inputs) < total:
        last = batch.first + len(batch.inputs) - 1
        error.args = (f"texts {batch.first} to {last} of {total}: {error.message}", *error.args[1:])
    return error


def combined(answers: Sequence[Response[Embeddings]]) -> Embeddings:
    """The embeddings of several requests, in their order."""
    usage: Usage | None = None
    for each in answers:
        usage = add_usage(usage, each.usage)
    costs = [each.cost_usd for each in answers]
    changes = dict.fromkeys([change for each in answers for change in each.changes])  # every request says the same
    last = answers[-1]
    return msgspec.structs.replace(
        last.output,
        packed=tuple([vector for each in answers for vector in each.output.packed]),
        usage=usage or Usage(),
        model=last.model,
        cost_usd=sum([cost for cost in costs if cost is not None]) if None not in costs else None,
        changes=first_changes(tuple(changes)),
        attempts=tuple([attempt for each in answers for attempt in each.attempts]),
    )


# One request to one target


def embedded(ask: EmbedRequest) -> Callable[[Call, CallTarget], Steps[Response[Any]]]:
    """The attempt of a request for vectors; its inputs are those of the call."""
    return partial(_embedded, ask)


def _embedded(ask: EmbedRequest, call: Call, target: CallTarget) -> Steps[Response[Any]]:
    """The vectors that one target gives.

    Raises: UnsupportedError for a target that makes none; every `Error` but those of streams and chains.
    """
    form = get_embedding(target.dialect.name)
    if form is None:
        raise UnsupportedError(f"{target.endpoint.spec} makes no vectors: {target.dialect.name} has no embeddings")
    inputs = inputs_of(call)
    request = msgspec.structs.replace(ask, inputs=inputs, user=call.request.user, extra=call.request.extra)
    options = encode_options(target.endpoint.target, call.settings, stream=False)
    encoded = settled(form.encode_request(request, options), call, target, ())
    reply: HttpReply = yield fetching(call, target, encoded)

    def decode(reply: HttpReply, context: DecodeContext) -> Response[Any]:
        vectors = form.decode_response(reply, context)
        if len(vectors.packed) != len(inputs):
            raise DecodeError(
                f"{target.endpoint.spec} gave {len(vectors.packed)} vectors for {len(inputs)} texts", path="/data"
            )
        sizes = {len(each) if isinstance(each, list) else len(each) // 4 for each in vectors.packed}
        if len(sizes) > 1:
            raise DecodeError(f"{target.endpoint.spec} gave vectors of several dimensions", path="/data")
        if 0 in sizes:
            raise DecodeError(f"{target.endpoint.spec} gave vectors without numbers", path="/data")
        if any([max(each) > _LARGEST or min(each) < -_LARGEST for each in vectors.packed if isinstance(each, list)]):
            raise DecodeError(f"{target.endpoint.spec} gave a number that no 32-bit float can hold", path="/data")
        return _receipt(vectors, vectors.usage, vectors.wire_model, vectors.changes)

    if len(reply.body) <= _HEAVY_BYTES or not 200 <= reply.status < 300:
        return answered(call, target, encoded, reply, decode)
    outcome = yield Work(partial(_caught, decode, reply, context_of(call, target, encoded)))

    def decoded(*_: object) -> Response[Any]:
        if isinstance(outcome, WireError):
            raise outcome
        return outcome

    return answered(call, target, encoded, reply, decoded)


def _caught(
    decode: Callable[[HttpReply, DecodeContext], Response[Any]], reply: HttpReply, context: DecodeContext
) -> Response[Any] | WireError:
    """The answer of a reply, or the error of one that cannot be read; run off the event loop."""
    try:
        return decode(reply, context)
    except WireError as error:
        return error


def _receipt(output: Any, usage: Usage, wire_model: str | None, changes: tuple[Change, ...]) -> Response[Any]:
    """An answer that says nothing: what came is its output, and the rest is counted as of any other."""
    return Response(finish_reason="stop", usage=usage, wire_model=wire_model, changes=changes, output=output)


def ranked(ask: RerankRequest) -> Callable[[Call, CallTarget], Steps[Response[Any]]]:
    """The attempt of a rerank; its query and documents are those of the call."""
    return partial(_ranked, ask)


def _ranked(ask: RerankRequest, call: Call, target: CallTarget) -> Steps[Response[Any]]:
    """The order that one target gives.

    Raises: as `_embedded`.
    """
    form = get_reranking(target.dialect.name)
    if form is None:
        raise UnsupportedError(f"{target.endpoint.spec} ranks no documents: {target.dialect.name} has no rerank")
    query, *documents = [str(each) for each in inputs_of(call)]
    request = msgspec.structs.replace(ask, query=query, documents=tuple(documents), extra=call.request.extra)
    options = encode_options(target.endpoint.target, call.settings, stream=False)
    encoded = settled(form.encode_request(request, options), call, target, ())
    reply = yield fetching(call, target, encoded)

    def decode(reply: HttpReply, context: DecodeContext) -> Response[Any]:
        ranking = form.decode_response(reply, context)
        results: list[Ranked] = []
        for each in ranking.results:
            if each.index >= len(documents):
                spec, number = target.endpoint.spec, len(documents)
                raise DecodeError(f"{spec} ranks document {each.index} of {number}", path="/results")
            results.append(msgspec.structs.replace(each, document=documents[each.index]))
        ranking = msgspec.structs.replace(ranking, results=tuple(results[: ask.top_n]))
        return _receipt(ranking, ranking.usage, ranking.wire_model, ranking.changes)

    return answered(call, target, encoded, reply, decode)


def ranking_of(answer: Response[Ranking]) -> Ranking:
    """The order that an answer holds, with what the call knows of it."""
    return msgspec.structs.replace(
        answer.output,
        usage=answer.usage or Usage(),
        model=answer.model,
        cost_usd=answer.cost_usd,
        changes=answer.changes,
        attempts=answer.attempts,
    )


def output_of(answer: Response[Any], kind: type[Any]) -> Response[Any]:
    """The answer, which holds what was asked for.

    Raises: UsageError for a hook that answered with something else.
    """
    if not isinstance(answer.output, kind):
        raise UsageError(f"a hook that answers in the place of the model has to put {kind.__name__} into `output`")
    return answer
