"""Faults on purpose for a while: a failover drill over whatever the calls would reach.

Strategy: an override around every call, as fakes and cassettes are; what it injects is a value (`transport.fault`), and
an injected status has the body that the target's own dialect would send, so that it is classified like a real one.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from interlingua.dialects._contract import ServerContext
from interlingua.dialects._errors.classes import class_of_status, make_error
from interlingua.dialects.table import get_dialect
from interlingua.registry.resolve import default_registry
from interlingua.transport.fault import AsyncFaultTransport, FaultPlan, FaultTransport, Plan, neutral_error_body
from interlingua.transport.override import Override, overriding
from interlingua.wire.http import HttpRequest

__all__ = ["error_body", "faults"]


@contextmanager
def faults(plan: Plan, *, retry_after_s: float | None = None, pace_s: float = 0.0) -> Generator[FaultPlan]:
    """The faults that calls meet until the block ends, chosen by target: `{"anthropic/*": "429"}`.

    A fault is a status (`429`, or `429:2.5` with its Retry-After) or one of `refuse`, `reset`, `stall`, `cut:N`,
    `truncate:N`, `drip:N`, `garbage:N`, `ok`; a list, or a fault with `*T` behind it, is used up call by call. What is
    not hit goes through to whatever is underneath: a fake, a cassette, a provider. The plan's `injected` lists what
    went wrong.

    Raises: ConfigError for a text that names no fault, and for what is no plan.
    """
    targets_of = default_registry().targets_of
    chosen = FaultPlan(
        plan, targets_of=targets_of, error_body=error_body, retry_after_s=retry_after_s, pace_s=pace_s
    )  # fmt: skip
    override = Override(lambda inner: FaultTransport(inner, chosen), lambda inner: AsyncFaultTransport(inner, chosen))
    with overriding(override):
        yield chosen


def error_body(request: HttpRequest, status: int) -> bytes:
    """The body of an injected status, in the shape of the request's own dialect."""
    if request.dialect is None:
        return neutral_error_body(request, status)
    message = f"injected fault: status {status}"
    error = make_error(class_of_status(status), message, status=status, code=None, headers=())
    return get_dialect(request.dialect).encode_error(error, ServerContext()).body
