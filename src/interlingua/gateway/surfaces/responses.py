"""Requests of Responses clients on stored answers: read an answer, list its input, delete it, compact a conversation.

Rules
- An answer that is kept here is told from here; of one that its provider keeps the request is passed on, for its owner
  alone. Anything else is not there.
- A conversation is compacted by a provider that can; else, and where there are hooks, the model is asked for a summary,
  and the item that stands for the conversation holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from interlingua.client.aio.pump import carried_out
from interlingua.client.call.core import call_steps
from interlingua.dialects.table import store_dialect
from interlingua.errors import BadRequestError
from interlingua.gateway.calls.exchange import call_of
from interlingua.gateway.calls.replies import trail_headers, visible
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.keys.reservation import done
from interlingua.gateway.state.stored import (
    Item,
    KeptAnswer,
    KeptElsewhere,
    compacted,
    input_list,
    input_of,
    listed,
    not_found,
    page,
)
from interlingua.gateway.surfaces.passing import with_model
from interlingua.routing.estimate import estimate_text
from interlingua.types.message import user
from interlingua.types.usage import Usage
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.client.call.values import Call
    from interlingua.gateway.calls.exchange import ClientExchange, Conversations
    from interlingua.gateway.calls.plan import Targets
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.state.stored import Held
    from interlingua.gateway.surfaces.passing import Passing

__all__ = ["ResponseRequests"]

JSON = (("content-type", "application/json"),)
CANNOT_COMPACT = frozenset({404, 405, 501})
"""Statuses with which a provider says that it has no such route."""
KEPT_TOKENS = 20_000
"""How much of what the user said stays in words beside the summary, newest first."""
SUMMARIZE = (
    "Summarize this conversation so that the work can go on from the summary alone. Keep what was asked, what was "
    "decided and why, facts, names, numbers, file names and identifiers exactly, what has been done and what is still "
    "open. Answer with the summary alone."
)


def _id_of(request: GatewayRequest) -> str:
    return request.path.removeprefix("/v1/responses/").partition("/")[0]


class ResponseRequests(msgspec.Struct, frozen=True, kw_only=True):
    """Requests of clients on stored answers."""

    conversations: Conversations
    """Conversations, with what is stored of them."""
    passing: Passing
    """The way to a provider that keeps an answer, or compacts."""
    targets: Targets
    """The targets of names."""

    async def _stored_answer(self, request: GatewayRequest) -> Held:
        """The record of the answer that a path names.

        Raises: NotFoundError where it is nothing of whoever asks.
        """
        if request.kept_by:
            return KeptElsewhere(f"{request.kept_by[0]}/*")
        stored = await self.conversations.stored.find(self.conversations.ids.owner(request), _id_of(request))
        if stored is None:
            raise not_found(_id_of(request))
        return stored

    async def _elsewhere(self, request: GatewayRequest, spec: str) -> GatewayReply:
        """The reply of the provider that keeps an answer."""
        targets = self.targets.of(spec, store_dialect(), tools=False)
        return await self.passing.pass_on(request, targets[0].endpoint, request.path.removeprefix("/v1"))

    async def retrieve(self, request: GatewayRequest) -> GatewayReply:
        """An answer that is kept.

        Raises: NotFoundError; BadRequestError for one that is kept here and asked for as a stream.
        """
        stored = await self._stored_answer(request)
        if isinstance(stored, KeptElsewhere):
            return await self._elsewhere(request, stored.spec)
        if "stream=true" in request.query.split("&"):
            raise BadRequestError("stream: an answer that is kept here is sent as a whole", status=400)
        return self._kept_reply(request, stored, stored.answer)

    async def delete(self, request: GatewayRequest) -> GatewayReply:
        """Nothing more of an answer.

        Raises: NotFoundError.
        """
        stored = await self._stored_answer(request)
        await self.conversations.stored.forget(self.conversations.ids.owner(request), _id_of(request))
        if isinstance(stored, KeptElsewhere):
            return await self._elsewhere(request, stored.spec)
        content = {"id": _id_of(request), "object": "response", "deleted": True}
        return GatewayReply(headers=JSON, body=encode(content))

    async def cancel(self, request: GatewayRequest) -> GatewayReply:
        """An answer that its provider works on in the background, no more.

        Raises: NotFoundError; BadRequestError for one that is kept here, since it is whole.
        """
        stored = await self._stored_answer(request)
        if isinstance(stored, KeptAnswer):
            raise BadRequestError("this response is complete; only one in the background can be cancelled", status=400)
        return await self._elsewhere(request, stored.spec)

    async def input_items(self, request: GatewayRequest) -> GatewayReply:
        """The items that an answer was given to, in pages.

        Raises: NotFoundError.
        """
        stored = await self._stored_answer(request)
        if isinstance(stored, KeptElsewhere):
            return await self._elsewhere(request, stored.spec)
        query = dict(parse_qsl(request.query))
        limit = query.get("limit", "20")
        content = page(
            listed(input_of(stored), _id_of(request)),
            after=query.get("after", ""),
            limit=max(1, min(100, int(limit))) if limit.isascii() and limit.isdigit() and len(limit) < 9 else 20,
            order=query.get("order", "desc"),
        )
        return self._kept_reply(request, stored, encode(content, nulls=1 << 20))

    def _kept_reply(self, request: GatewayRequest, stored: KeptAnswer, body: bytes) -> GatewayReply:
        """The reply with an answer that is kept here, with its provider's ids signed as the answer itself had them."""
        sign = self.conversations.ids.signing(request, stored.provider, is_here=True) if stored.provider else None
        return GatewayReply(headers=JSON, body=body if sign is None else sign(body))

    # Compaction

    async def compact(self, request: GatewayRequest) -> GatewayReply:
        """A conversation in short: what the user said last, and an item that stands for the rest.

        Raises: DecodeError for a body without model or input; what a call raises.
        """
        conversations = self.conversations
        prepared = await conversations.stored.prepare(
            conversations.ids.owner(request), await conversations.offload.body_of(request, store_dialect())
        )
        http = msgspec.structs.replace(request, body=prepared.body.text)
        exchange = conversations.read(http, store_dialect(), prepared.body)
        call = await call_of(exchange)
        if exchange.key is not None:
            await done(conversations.admission.admit(exchange, exchange.key, call))
        try:
            return await self._compacted(exchange, call, is_changed=prepared.is_changed)
        except BaseException:
            if exchange.reservation is not None:
                await done(exchange.reservation.settle(None))
            raise

    async def _compacted(self, exchange: ClientExchange, call: Call, *, is_changed: bool) -> GatewayReply:
        http = exchange.http
        for target in self.targets.of(exchange.head.model, store_dialect(), tools=exchange.head.has_tools):
            is_same = (
                target.dialect.name == store_dialect() and not self.conversations.hooks
            )  # what goes out is what these have seen
            if is_same and not exchange.is_ours and not is_changed:
                body = with_model(exchange.head.body, target.endpoint.model)
                reply = await self.passing.call_provider(http, target.endpoint, "/responses/compact", body)
                if reply.status not in CANNOT_COMPACT:
                    if exchange.reservation is not None:
                        await done(
                            exchange.reservation.settle_unread(target.endpoint.spec, is_failed=reply.status != 200)
                        )
                    served = ("x-interlingua-target", visible(target.endpoint.spec))
                    return GatewayReply(status=reply.status, headers=(*JSON, served), body=reply.body)
        return await self._summarized(exchange, call)

    async def _summarized(self, exchange: ClientExchange, call: Call) -> GatewayReply:
        request = await exchange.whole()
        choice = "none" if request.tools else None
        asking = msgspec.structs.replace(
            request,
            messages=(*request.messages, user(SUMMARIZE)),
            tool_choice=choice,
            output_schema=None,
            json_mode=False,
            store=None,
            extra={},
        )
        call = msgspec.structs.replace(call, request=asking)
        if self.conversations.hooks:
            from interlingua.client.hooks.run import Hooking, context_of  # who has no hooks pays nothing

            client, model = exchange.dialect.name, exchange.head.model
            context = context_of(call, stream=False, model=model, owner=exchange.owner, client=client)
            steps = Hooking(self.conversations.hooks, context).around(call, call_steps)
        else:
            steps = call_steps(call)
        response = await carried_out(steps)
        if exchange.reservation is not None:
            target = next((target for target in call.targets if target.endpoint.spec == response.model), None)
            await done(exchange.reservation.settle(response, target))
        if not response.text.strip():
            raise BadRequestError(f"{response.model} gave no summary of the conversation", status=502)
        summary = compacted(response.text, self.conversations.make_id("cmp_"))
        usage = response.usage or Usage()
        read_tokens, written_tokens = usage.input_tokens or 0, usage.output_tokens or 0
        content: dict[str, Any] = {
            "id": self.conversations.make_id("resp_"),
            "object": "response.compaction",
            "created_at": int(self.conversations.now()),
            "output": [*_last_user_items(exchange), summary],
            "usage": {
                "input_tokens": read_tokens,
                "input_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
                "output_tokens": written_tokens,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
                "total_tokens": read_tokens + written_tokens,
            },
        }
        headers = (*JSON, *trail_headers(response.attempts, response.changes, response.cost_usd))
        return GatewayReply(headers=headers, body=encode(content, nulls=1 << 20))


def _last_user_items(exchange: ClientExchange) -> list[Item]:
    """The last items of the user, as far as they are short enough."""
    items = input_list(exchange.head.body.get("input"))
    listing: list[Item] = []
    tokens = 0.0
    for item in reversed([item for item in items if item.get("role") == "user"]):
        tokens += estimate_text(str(item.get("content")))
        if tokens > KEPT_TOKENS:
            break
        listing.insert(0, item)
    return listed(listing, exchange.conversations.make_id("resp_"))
