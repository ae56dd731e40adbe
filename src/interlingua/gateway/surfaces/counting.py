"""How many tokens a request has: asked of a provider that counts in the client's dialect, else estimated.

Rules
- A target of the client's own dialect is asked, with the body as it came and its own name of the model. Its refusal of
  the body is the client's answer; where it cannot count (no such route, no time, no key) the count is estimated.
- Where there are hooks it is estimated, too: they have not seen the body, so it goes to nobody.
- An estimate says so: `x-interlingua-changes: approximated tokens_estimated …`. How far off it is stands in
  `routing/estimate.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from interlingua.dialects._service import Count
from interlingua.dialects.table import get_service
from interlingua.errors import ConfigError, DecodeError, LimitExceededError, TransportError
from interlingua.gateway.calls.reading import read_request
from interlingua.gateway.calls.replies import trail_headers
from interlingua.gateway.http import GatewayReply, HeadFacts
from interlingua.gateway.surfaces.passing import with_model
from interlingua.routing.estimate import estimate_tokens
from interlingua.types.change import Changes
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from interlingua.gateway.calls.exchange import ClientExchange, Conversations
    from interlingua.gateway.calls.plan import Targets
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.surfaces.passing import Passing
    from interlingua.registry.endpoint import Endpoint
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["TokenCounts"]

CLIENTS_FAULT = frozenset({400, 413, 422})
"""Statuses with which a provider refuses the body itself."""


class TokenCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of tokens."""

    conversations: Conversations
    """Conversations, whose requests are counted."""
    passing: Passing
    """The way to a provider that counts."""
    targets: Targets
    """The targets of names."""

    async def answer(self, dialect: str, request: GatewayRequest) -> GatewayReply:
        """The count of a request of a client of a dialect.

        Raises: as a conversation, before anything is sent.
        """
        conversations, service = self.conversations, get_service(dialect)
        count = service.count or Count("", "input_tokens")
        body = await conversations.offload.body_of(request, dialect)
        for name in count.wrappers:  # around the whole request that a client would send
            if type(body.get(name)) is dict:
                body = read_request(bytes(body.members[name]), dialect)
                break
        if not count.wrappers and service.store is not None:
            body = (await conversations.stored.prepare(conversations.ids.owner(request), body)).body
        exchange = conversations.read(msgspec.structs.replace(request, body=body.text), dialect, body)
        targets = self.targets.of(exchange.head.model, dialect, tools=exchange.head.has_tools)
        for target in targets:
            if target.dialect.name == dialect and not exchange.is_ours and not conversations.hooks:
                reply = await self._counted(exchange, target.endpoint, count)
                if reply is not None:
                    return GatewayReply(status=reply.status, headers=_count_headers(target.endpoint), body=reply.body)
        await exchange.decode()
        endpoint = targets[0].endpoint
        tokens = estimate_tokens(exchange.decoded.request, endpoint.model)
        changes = Changes(dialect, "routing")
        hooked = "hooks stand before every target"
        reason = hooked if conversations.hooks else f"{endpoint.spec} does not count in this dialect"
        changes.add("tokens_estimated", f"/{count.member}", reason)
        headers = (*_count_headers(endpoint), *trail_headers((), changes.done()))
        return GatewayReply(headers=headers, body=encode({**count.beside, count.member: tokens}))

    async def _counted(self, exchange: ClientExchange, endpoint: Endpoint, count: Count) -> HttpReply | None:
        """A provider's own count, or its refusal of the body; None where it cannot count."""
        path = count.path.format(model=quote(endpoint.model, safe="/@-._~"))
        request, client_body = exchange.http, exchange.head.body
        body = client_body.text if "{model}" in count.path else with_model(client_body, endpoint.model)
        defaults = get_service(endpoint.dialect).default_headers
        missing = tuple([pair for pair in defaults if request.header(pair[0]) is None])
        if missing:
            request = msgspec.structs.replace(request, headers=(*request.headers, *missing), facts=HeadFacts())
        try:
            reply = await self.passing.call_provider(request, endpoint, path, body)
        except (TransportError, ConfigError):
            return None
        member = "error" if reply.status in CLIENTS_FAULT else count.member if reply.status == 200 else ""
        try:
            content = decode_any(reply.body)
        except (DecodeError, LimitExceededError):
            return None  # a proxy in between may say anything with any status
        return reply if isinstance(content, dict) and member in content else None


def _count_headers(endpoint: Endpoint) -> Headers:
    return (("content-type", "application/json"), ("x-interlingua-target", endpoint.spec))
