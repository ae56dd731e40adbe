"""Vectors of texts and an order of documents: from any client's dialect to any provider's.

Strategy: the body is read by the client's dialect, the request goes the way of every call (`client.vectors`), and the
answer is written in the client's dialect again. What only that dialect knows goes along to a target that speaks it.

Rules
- Key, models, limits, budget, policy and hooks hold as for a conversation: hooks see the texts as the parts of one
  message; tokens in their place are refused where a hook sees everything. What is charged is what was read.
- More texts than a target takes at once are sent to it in several requests.
- A chain that would give vectors of two models is refused before anything is sent.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.client.aio.embed import gathered
from interlingua.client.aio.pump import carried_out
from interlingua.client.call.core import call_steps
from interlingua.client.call.values import CallRefused
from interlingua.client.vectors import (
    check_one_model,
    combined,
    embedded,
    inputs_of,
    message_of,
    output_of,
    ranked,
    ranking_of,
)
from interlingua.dialects._contract import ServerContext
from interlingua.dialects.table import DEFAULT_DIALECT, get_embedding, get_reranking
from interlingua.errors import BadRequestError, ConfigError, Error, PermissionDeniedError, UsageError
from interlingua.gateway.calls.reading import PASSED_RULES, checked_model, is_cheap, missing, other_models
from interlingua.gateway.calls.replies import limit_headers, own_headers, trail_headers
from interlingua.gateway.http import STRICT, GatewayReply
from interlingua.gateway.keys.reservation import done
from interlingua.gateway.surfaces.passing import check_query
from interlingua.routing.estimate import estimate_body, estimate_text
from interlingua.transport.override import answers_alone
from interlingua.types.change import first_changes
from interlingua.types.content import OpaquePart
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.usage import Usage
from interlingua.types.vectors import Embeddings, Ranking
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from interlingua import Hook
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.hooks.run import Hooking
    from interlingua.dialects._vectors import DecodedEmbed, DecodedRerank
    from interlingua.gateway.calls.plan import Plans
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.admission import Admission
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.keys.reservation import CallReservation
    from interlingua.gateway.offload.pool import Offload
    from interlingua.types.capability import Operation
    from interlingua.types.change import Change
    from interlingua.types.vectors import EmbedInput
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["MAX_INPUTS", "Vectors"]

MAX_INPUTS = 10_000
"""The most texts of one request: each is a part of its own, and providers that take one at once are asked for each."""
MAX_NUMBERS = 8_388_608
"""The most numbers of one answer, some 170 MB of JSON; OpenAI's largest answers have 6,291,456."""
_HEAVY_NUMBERS = 65_536
"""Answers with more of them are written off the event loop."""


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """Vectors and reranks."""

    guard: Guard
    """The guard that knows the keys."""
    admission: Admission
    """The admission of calls by the limits of keys."""
    plans: Plans
    """The plans of requests."""
    offload: Offload
    """Where costly bodies are read."""
    hooks: tuple[Hook, ...]
    """Hooks that run around calls, in this order."""
    token_hooks: tuple[Hook, ...]
    """Those of them that may want to see tokens, too; none where the operator lets them pass."""
    make_id: Callable[[str], str]
    """Makes a new id that begins with a prefix."""
    now: Callable[[], float]
    """Unix time in seconds."""

    async def embed(self, dialect: str, request: GatewayRequest) -> GatewayReply:
        """The vectors that a client of a dialect asks for.

        Raises: as a conversation.
        """
        form = get_embedding(dialect)
        assert form is not None, "a dialect with a path for them has them"  # noqa: S101 - an invariant
        decoded: DecodedEmbed = await self._read(request, form.decode_request)
        exchange = _Exchange(self, request, dialect, decoded.model)
        ask = decoded.request
        call = exchange.call("embeddings", ask.inputs, user=ask.user, extra=ask.extra)
        try:
            check_one_model(call.targets)
        except ConfigError as error:
            raise BadRequestError(error.message, status=400) from error

        async def ask_targets(call: Call) -> Response[Any]:
            answers = await gathered(call, inputs_of(call), exchange.counted(embedded(ask)))
            vectors = combined(answers)
            return msgspec.structs.replace(
                answers[-1],
                output=vectors,
                usage=vectors.usage,
                cost_usd=vectors.cost_usd,
                changes=vectors.changes,
                attempts=vectors.attempts,
            )

        answer = await exchange.carried_out(call, ask_targets)
        write = partial(exchange.reply, answer, lambda context: form.encode_response(answer.output, decoded, context))
        return await asyncio.to_thread(write) if exchange.numbers > _HEAVY_NUMBERS else write()

    async def rerank(self, dialect: str, request: GatewayRequest) -> GatewayReply:
        """The order of documents that a client of a dialect asks for.

        Raises: as a conversation.
        """
        form = get_reranking(dialect)
        assert form is not None, "a dialect with a path for them has them"  # noqa: S101 - an invariant
        decoded: DecodedRerank = await self._read(request, form.decode_request)
        exchange = _Exchange(self, request, dialect, decoded.model)
        ask = decoded.request
        call = exchange.call("rerank", (ask.query, *ask.documents), extra=ask.extra)

        async def ask_targets(call: Call) -> Response[Any]:
            return output_of(await carried_out(call_steps(call, exchange.counted(ranked(ask)))), Ranking)

        answer = await exchange.carried_out(call, ask_targets)
        return exchange.reply(answer, lambda context: form.encode_response(ranking_of(answer), decoded, context))

    async def _read(self, request: GatewayRequest, decode: Callable[[HttpRequest], Any]) -> Any:
        """The request of a client; the body is checked for what is ambiguous first, as every body is.

        Raises: DecodeError, LimitExceededError with the status 400 and the place; PermissionDeniedError for a body with
        which a key may reach models that it may not ask for.
        """
        body = await self.offload.body_of(request, "")
        check_query(self.guard, request)
        key = self.guard.key(request)
        if self.guard.lists_models(key):
            others = other_models(body, PASSED_RULES, DEFAULT_DIALECT, lambda name: self.guard.lets(key, name))
            if others:
                member = others[0].path.rpartition("/")[2]
                raise PermissionDeniedError(f"/{member}: this key may not choose other models", status=403)
        url = f"{request.path}?{request.query}" if request.query else request.path
        http = HttpRequest(method=request.method, url=url, headers=request.headers, body=request.body)
        return decode(http) if is_cheap(request.body) else await asyncio.to_thread(decode, http)


def _reads(each: EmbedInput) -> int:
    """About how many tokens an input has; those of a list of tokens are counted."""
    if isinstance(each, OpaquePart):
        return max(estimate_body(encode(each.raw)), len(each.raw)) + 1
    return int(estimate_text(each)) + 1


def _unread(call: Call) -> Response[Any]:
    """An answer that nobody could read, with an estimate of what it has read."""
    reads = sum([_reads(each) for each in inputs_of(call)])
    return Response(finish_reason="error", usage=Usage(input_tokens=reads))


class _Exchange:
    """One request of a client, from its call to its reply."""

    def __init__(self, vectors: Vectors, http: GatewayRequest, dialect: str, model: str) -> None:
        """A request that names `model`.

        Raises: DecodeError for one that names none; PermissionDeniedError for a model that the key may not ask for.
        """
        if not model:
            raise missing("model", "name the model, as `provider/model` or by an alias")
        self.vectors, self.http, self.dialect, self.model = vectors, http, dialect, checked_model(model)
        if http.entry is not None:
            http.entry.set_model(model, stream=False)
        self.key = vectors.guard.key_for(http, model)
        self.reservation: CallReservation | None = None
        self.target: CallTarget | None = None
        self.hooking: Hooking | None = None
        self.hook_changes: tuple[Change, ...] = ()
        self.numbers: int = 0

    def call(self, operation: Operation, inputs: Sequence[EmbedInput], **fields: Any) -> Call:
        """The call of what is asked.

        Raises: UnknownModelError, ConfigError for a name that stands for nothing usable; BadRequestError for more
        than `MAX_INPUTS` texts.
        """
        if len(inputs) > MAX_INPUTS:
            raise BadRequestError(f"{len(inputs):,} texts in one request; {MAX_INPUTS:,} is the most", status=400)
        plan = self.vectors.plans.plan(self.model, self.dialect, tools=False)
        settings = plan.strict if self.http.header(STRICT) == "1" else plan.call.settings
        if self.http.trace_headers:
            settings = msgspec.structs.replace(settings, headers=self.http.trace_headers)
        return msgspec.structs.replace(
            plan.call,
            request=Request(messages=(message_of(inputs),), **fields),
            settings=settings,
            operation=operation,
            make_id=None,
            with_credential=not answers_alone(),
        )

    async def carried_out(self, call: Call, ask: Callable[[Call], Awaitable[Response[Any]]]) -> Response[Any]:
        """The answer to a call, let in, with the hooks around it, and settled.

        Raises: as a conversation.
        """
        reads = sum([_reads(each) for each in inputs_of(call)])
        reservation = self.reservation = await self.vectors.admission.admit_reading(self.key, call.targets, reads)
        try:
            answer = await (self._hooked(call, ask) if self.vectors.hooks else ask(call))
        except CallRefused as refusal:
            raise refusal.error from None
        except BaseException as error:
            if reservation is not None:
                await done(reservation.settle_failed(error))
            raise
        if reservation is not None:
            reservation.without_parts()
            await done(reservation.settle(answer, self.target))
        return answer

    async def _hooked(self, call: Call, ask: Callable[[Call], Awaitable[Response[Any]]]) -> Response[Any]:
        from interlingua.client.hooks.run import Hooking, context_of  # who has no hooks pays nothing
        from interlingua.gateway.surfaces.unread import guards_of, unreadable

        has_tokens = any([isinstance(each, OpaquePart) and each.kind == "tokens" for each in inputs_of(call)])
        if has_tokens and (guards := guards_of(self.vectors.token_hooks)):
            raise unreadable(self.http, guards, "with texts")
        owner = "" if self.key is None else self.key.name
        context = context_of(call, stream=False, model=self.model, owner=owner, client=self.dialect)
        hooking = Hooking(self.vectors.hooks, context)
        result = await carried_out(hooking.before(call.request))
        if isinstance(result, Response):
            raise UsageError("a hook answered in the place of the model; it cannot give vectors, nor an order")
        self.hook_changes = hooking.take_changes()
        answer = await ask(msgspec.structs.replace(call, request=result, hooking=hooking))
        return await carried_out(hooking.after(answer))

    def counted(
        self, attempt: Callable[[Call, CallTarget], Steps[Response[Any]]]
    ) -> Callable[[Call, CallTarget], Steps[Response[Any]]]:
        """An attempt that tells the reservation what became of it."""

        def run(call: Call, target: CallTarget) -> Steps[Response[Any]]:
            if self.reservation is not None:
                yield from self.reservation.again(target)
            try:
                answer = yield from attempt(call, target)
            except Error as error:
                if self.reservation is not None:
                    self.reservation.failed(error, target, _unread(call))
                raise
            except asyncio.CancelledError:
                if self.reservation is not None:
                    self.reservation.paused(
                        _unread(call), target
                    )  # its provider works on, although another request failed
                raise
            if self.reservation is not None:
                self.reservation.paused(answer, target)  # paid for, whatever becomes of other requests and of hooks
            self.target = target
            output: object = answer.output
            if isinstance(output, Embeddings):
                self.numbers += len(output) * output.dimensions
            if self.numbers > MAX_NUMBERS:
                raise BadRequestError(
                    f"the vectors hold more than {MAX_NUMBERS:,} numbers; ask for fewer texts, or fewer dimensions",
                    status=400,
                )
            return answer

        return run

    def reply(self, answer: Response[Any], encode: Callable[[ServerContext], HttpReply]) -> GatewayReply:
        """The reply that an answer makes in the client's dialect, with who answered and what was changed."""
        lost: list[Change] = []
        context = ServerContext(
            model=self.model,
            created=int(self.vectors.now()),
            make_id=lambda: self.vectors.make_id("rerank-"),
            path=self.http.path,
            changes=lost,
        )
        encoded = encode(context)
        changes = first_changes((*self.hook_changes, *answer.changes, *lost))
        if self.http.entry is not None:
            self.http.entry.answered(answer, changes)
        limits: Headers = limit_headers(self.dialect, answer.rate_limits)
        trail = trail_headers(answer.attempts, changes, answer.cost_usd)
        headers = (*own_headers(encoded.headers), *limits, *trail)
        return GatewayReply(status=encoded.status, headers=headers, body=encoded.body)
