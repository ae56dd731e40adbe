"""The cost of an answer, and the most that a call may cost, by the prices of its target (`registry/prices`).

Rules
- None is "not known": no price, no counts. It is never 0.
- An answer from a batch costs what the list says of batches, else `BATCH_SHARE` of the usual price.
- What is billed beside tokens and requests, such as searches that the provider runs, is not in the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.providers.price import cost_usd
from interlingua.registry.prices import batch_price_of, price_of
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["BATCH_SHARE", "OUTPUT_TOKENS", "cost_of", "most_of", "most_written"]

OUTPUT_TOKENS = 4_096
"""The output tokens reckoned for a call that does not say how long it may get."""
BATCH_SHARE = 0.5
"""The share of the usual price of an answer from a batch, where no list says it: so the vendors' pages on batches."""


def cost_of(call: Call, target: CallTarget, response: Response[Any]) -> float | None:
    """The cost of an answer, in US dollars; None when that is not known."""
    endpoint, usage = target.endpoint, response.usage
    if usage is None:
        return None
    names = (response.wire_model, endpoint.model)
    writes = call.operation == "chat"
    price = price_of(endpoint, names, call.request.service_tier, is_asked=call.with_credential, writes=writes)
    if call.is_batched:
        listed = batch_price_of(endpoint, names)
        if listed is not None:
            return cost_usd(listed, usage)
    usual = None if price is None else cost_usd(price, usage)
    return usual * BATCH_SHARE if usual is not None and call.is_batched else usual


def most_of(call: Call, target: CallTarget) -> float | None:
    """About the most that a call may cost at a target, in US dollars; None when its price is not known.

    The input is estimated; the output is `max_tokens`, or `OUTPUT_TOKENS`, for each choice.
    """
    from interlingua.routing.estimate import estimate_tokens  # before a call, few ask for that

    request, endpoint = call.request, target.endpoint
    price = price_of(endpoint, (endpoint.model,), request.service_tier, is_asked=call.with_credential)
    if price is None:
        return None
    read = estimate_tokens(request, endpoint.model)
    return cost_usd(price, Usage(input_tokens=read, output_tokens=most_written(request)))


def most_written(request: Request) -> int:
    """The most tokens of the answers to a request: `max_tokens`, or `OUTPUT_TOKENS`, for each choice."""
    return _positive(request.max_tokens, OUTPUT_TOKENS) * _positive(request.n, 1)


def _positive(count: int | None, otherwise: int) -> int:
    """A count that stands for something: one below it means no bound to some servers, and gives nothing back."""
    return count if count is not None and count > 0 else otherwise
