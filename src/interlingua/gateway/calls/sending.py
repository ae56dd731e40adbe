"""One call on its way to its targets: what each gets, the body as it came or a translation.

Strategy: the client's `Relay` carries the call, with its chain, its retries and its health. A target of the client's
own dialect gets the body as it came (`outgoing`); for any other one the dialect's server role reads the request and
writes the answer.

Rules
- Call ids are our own where the upstream speaks another dialect, and the provider's where it speaks the client's.
- Of a body that goes out the model's name is changed, the cap of a limited key is put in (`keys/cap`), and members are
  taken out that a target is known not to take, each with an entry; what the caller wrote as text stays that text. Of
  the headers only those that belong to the body's dialect go along, and never a credential of the client's.
- Each try, and each continuation of a paused answer, is reserved and settled by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.client.call.relay import Relay
from interlingua.dialects._contract import Encoded, Undo
from interlingua.dialects._members import is_object
from interlingua.errors import UnsupportedError
from interlingua.gateway.calls.passing_stream import CountedStream, PassedStream
from interlingua.gateway.calls.plan import is_same
from interlingua.gateway.keys.cap import cap_edits
from interlingua.routing.estimate import estimate_body
from interlingua.types.change import Changes
from interlingua.wire.body import edited_body
from interlingua.wire.json import encode, encode_text

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.live import Live
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.dialects._service import Service
    from interlingua.errors import Error
    from interlingua.gateway.calls.exchange import ClientExchange
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["Sending", "outgoing"]


class Sending(Relay):
    """The call of one request, whose reservation is told of each try."""

    def __init__(self, exchange: ClientExchange) -> None:
        """A call that has not begun."""
        super().__init__(exchange.dialect.name)
        self._exchange = exchange

    def request(self) -> Request:
        """The request as the client's dialect reads it."""
        return self._exchange.decoded.request

    def input_tokens(self) -> int:
        """About how many tokens the body has."""
        return estimate_body(self._exchange.http.body)

    def prepared(self, call: Call, target: CallTarget) -> Steps[Call]:
        """The call of one try, which is reserved; a target of the client's own dialect keeps its ids."""
        exchange = self._exchange
        if call.make_id is not None:
            request, is_own = exchange.request_for(call.request, target), is_same(target, self.dialect)
            call = replace(call, request=request, make_id=None) if is_own else replace(call, request=request)
        if exchange.reservation is not None:
            yield from exchange.reservation.again(target)
        return call if target in exchange.relayed else _with_thoughts(exchange, call, target)

    def own_request(self, call: Call, target: CallTarget) -> Encoded | None:
        """The body as it came for a target that can take it so."""
        exchange = self._exchange
        return outgoing(exchange, target, strict=call.settings.strict) if target in exchange.relayed else None

    def stream_class(self, target: CallTarget) -> type[Live]:
        """The class of a stream that is passed on."""
        return CountedStream if _asks_usage(self._exchange, target) else PassedStream

    def failed(self, error: Error, target: CallTarget) -> None:
        """A try has failed, which may have to be paid for."""
        if self._exchange.reservation is not None:
            self._exchange.reservation.failed(error, target)

    def paused(self, response: Response[Any], target: CallTarget) -> None:
        """A target has paused, and what it gave is to be paid for."""
        if self._exchange.reservation is not None:
            self._exchange.reservation.paused(response, target)


def _with_thoughts(exchange: ClientExchange, call: Call, target: CallTarget) -> Call:
    """The call with thoughts shown, where thinking is asked for and the client has no word for showing it."""
    if target.dialect.service.thoughts != "if_asked" or exchange.dialect.service.thoughts != "unasked":
        return call
    request = call.request
    is_thinking = request.thinking or request.thinking_budget or request.effort not in (None, "none")
    if request.thinking_summary is not None or not is_thinking:
        return call
    return replace(call, request=replace(request, thinking_summary="auto"))


# The request that goes out to a target of the client's own dialect


_MADE = b'"call_'
"""How ids begin that are made for calls without one; in a history each stands twice, and counting goes on behind it."""


def outgoing(exchange: ClientExchange, target: CallTarget, *, strict: bool) -> Encoded:
    """The request for one target, in the client's own words.

    Raises: UnsupportedError under `strict` for a member that the target does not take.
    """
    name, service, endpoint, body = exchange.dialect.name, exchange.dialect.service, target.endpoint, exchange.head.body
    changes = Changes(name, "encode_request")
    betas = service.beta_members
    left_out = () if not betas or "*" in endpoint.target.quirks.betas else betas.intersection(body.members)
    for member in left_out:
        changes.add("parameter_unsupported", f"/extra/{name}/{member}", f"{endpoint.spec} does not take it")
    if strict and left_out:
        listing = "; ".join([str(change) for change in changes.entries])
        raise UnsupportedError(
            f"{endpoint.spec} cannot take the request as it is (strict): {listing}", changes=changes.done()
        )
    changes.repaired(body.repairs)
    edits: dict[str, bytes | None] = dict.fromkeys(left_out)
    if service.read_path is None and "model" in body:
        edits["model"] = encode_text(endpoint.model)
    if (reservation := exchange.reservation) is not None and reservation.cap is not None:
        edits |= cap_edits(exchange, target, reservation.cap, is_own=not reservation.changes)
    if _asks_usage(exchange, target):
        options = body.get("stream_options")
        edits["stream_options"] = encode({**(options if is_object(options) else {}), "include_usage": True})
    http = exchange.http
    carried = http.facts.carried
    if carried is None:
        own = [pair for pair in http.headers if pair[0] in service.headers]
        carried = http.facts.carried = (*service.default_headers, *own)
    if left_out:  # a feature and its member travel together or not at all
        carried = tuple([pair for pair in carried if pair[0] != service.beta_header])
    return Encoded(
        path=service.path if service.path and not http.query else _path(exchange, service, endpoint.model),
        body=edited_body(body, edits),
        headers=carried,
        changes=changes.done(),
        undo=Undo(first_index=body.text.count(_MADE)),
    )


def _asks_usage(exchange: ClientExchange, target: CallTarget) -> bool:
    """Whether a stream is asked for its counts of tokens, which its client does not want and its key is charged by."""
    is_counted = exchange.reservation is not None and exchange.reservation.cap is not None
    return (
        is_counted and exchange.head.stream and not exchange.wants_usage and target.endpoint.target.quirks.stream_usage
    )


def _path(exchange: ClientExchange, service: Service, model: str) -> str:
    http = exchange.http
    if service.path_of is not None:
        return service.path_of(http.path, model, exchange.head.stream)
    return f"{service.path}?beta=true" if http.query and "beta=true" in http.query.split("&") else service.path
