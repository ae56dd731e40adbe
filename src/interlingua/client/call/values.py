"""One call as a value: what is asked, of whom, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.client.call.watch import Watch
    from interlingua.client.hooks.run import Hooking
    from interlingua.client.options import Settings
    from interlingua.dialects._contract import Dialect, Encoded, EncodeOptions
    from interlingua.errors import Error
    from interlingua.registry.endpoint import Endpoint
    from interlingua.registry.ranking import Ranking
    from interlingua.routing.health import HealthStore
    from interlingua.routing.limits import Limiter
    from interlingua.routing.order import Traffic
    from interlingua.types.capability import Operation
    from interlingua.types.request import Request

__all__ = ["Call", "CallRefused", "CallTarget", "Writer", "later"]

Writer: TypeAlias = "Callable[[Dialect, Request, EncodeOptions], Awaitable[Encoded]]"
"""Encodes a request as its dialect does."""


class CallTarget(Struct, frozen=True):
    """One target, with the dialect that is spoken to it."""

    endpoint: Endpoint
    """The address, the key and the model."""
    dialect: Dialect
    """The codec of the dialect."""
    refused_features: frozenset[str] = frozenset()
    """Features that the target has refused, where nobody has read the request yet that may need them."""


class Call(Struct, frozen=True, eq=False):
    """One call: its request, its settings and its targets."""

    request: Request
    """The request."""
    settings: Settings
    """The settings."""
    targets: tuple[CallTarget, ...]
    """The targets, in the order in which they are named."""
    clock: Callable[[], float]
    """Seconds that only grow."""
    with_credential: bool = True
    """Whether keys are needed; an in-memory stand-in needs none, and no pause before it is asked again."""
    make_id: Callable[[], str] | None = None
    """Makes our own call ids; None keeps the provider's."""
    tool_deltas: bool = False
    """Whether pieces of arguments are shown, too."""
    typed: bool = False
    """Whether the answer is to be a value of a type, so that its schema may have a fallback."""
    provider_ids: dict[str, str] | None = None
    """Is told the provider's id of each call that was given another; None when nobody wants to know."""
    watch: Watch | None = None
    """Tells what happens to whoever listens; None when nobody does."""
    hooking: Hooking | None = None
    """The hooks that run around it; None where there are none, and before they do."""
    health: HealthStore | None = None
    """Where the health of targets is kept; None for the store of the process."""
    limits: Limiter | None = None
    """The limits of the calls; None for the limits of the process."""
    chance: Callable[[], float] | None = None
    """Gives random numbers from 0 to 1; None for those of the process."""
    ranking: Ranking | None = None
    """The rules by which the targets are put in order; None where they are asked as they are named."""
    traffic: Traffic | None = None
    """The measurements behind such rules; None for those of this process."""
    input_tokens: int | None = None
    """About how many tokens the request has, where that is known without reading it; None to count them."""
    writer: Writer | None = None
    """Encodes the request outside of this process, since it would take long; None: here."""
    operation: Operation = "chat"
    """The operation; of anything but an answer, the texts are the parts of the request's only message."""
    is_batched: bool = False
    """Whether the answer comes from a batch, at the price of batches."""
    answer_by_s: float | None = None
    """When, on the clock, the answer of this try must have begun; None leaves it to the deadlines."""


class CallRefused(Exception):  # noqa: N818 - no failure of a target, so no `Error` that a chain would go on after
    """A try that may not be made, nor any after it."""

    def __init__(self, error: Error) -> None:
        """The reason, for the client."""
        super().__init__(error.message)
        self.error: Error = error
        """The error for the client."""


def later(call: Call, passed_s: float) -> Call:
    """The call with what is left of its time: the deadline of the whole runs through the chain."""
    timeouts = call.settings.timeouts
    if timeouts.total_s is None:
        return call
    left = replace(timeouts, total_s=max(0.001, timeouts.total_s - passed_s))
    return replace(call, settings=replace(call.settings, timeouts=left))
