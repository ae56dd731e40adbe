"""The consequence of an error: ask again, go on to the next target or stop; and what it says against the target.

Rules
- What may pass by itself is asked again at the same target, and then at the next one.
- A fault of the target (its key, its account, an unknown model) goes on to the next one; so does what only this target
  cannot take: unsupported, too long, too large.
- A refusal that says what the target does not take goes on to the next one, whatever its status, and says nothing
  against the target's health.
- A fault of the request stops, unless `persist`: another target would say the same.
- `retryable` decides between "again" and "next"; where the server itself says what it is worth (`x-should-retry`), that
  has already been put there.
- A committed request, one that lets the provider act or keep state, is not sent again unless it certainly did not run:
  it was never sent, or it was refused at the door.

Source: the classes of the errors, which each dialect's table makes of status and structured code.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from interlingua.errors import (
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
    ConfigError,
    ContextWindowExceededError,
    Error,
    IncompleteStreamError,
    InternalServerError,
    LimitExceededError,
    MalformedArgumentsError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
    TransportError,
    UnsupportedError,
    UpstreamError,
    UsageError,
    WireError,
)
from interlingua.routing.health import Fault

__all__ = ["Action", "Verdict", "verdict"]

Action: TypeAlias = Literal["retry", "advance", "stop"]
"""Retry the target, go on to the next one, or stop."""


class Verdict(NamedTuple):
    """The consequence of an error."""

    action: Action
    """The next action."""
    fault: Fault | None = None
    """The fault of the target; None for none."""


_TABLE: tuple[tuple[type[Error], Verdict], ...] = (
    (UnsupportedError, Verdict("advance")),
    (ConfigError, Verdict("advance")),
    (UsageError, Verdict("stop")),
    (RequestTooLargeError, Verdict("advance")),
    (ContextWindowExceededError, Verdict("advance")),
    (BadRequestError, Verdict("stop")),
    (NotFoundError, Verdict("advance")),
    (AuthenticationError, Verdict("advance", "auth")),
    (PermissionDeniedError, Verdict("advance", "auth")),
    (BillingError, Verdict("advance", "billing")),
    (RateLimitError, Verdict("retry", "transient")),
    (OverloadedError, Verdict("retry", "transient")),
    (InternalServerError, Verdict("retry", "transient")),
    (UpstreamError, Verdict("retry", "transient")),
    (TransportError, Verdict("retry", "transient")),
    (IncompleteStreamError, Verdict("retry", "transient")),
    (MalformedArgumentsError, Verdict("advance")),
    (LimitExceededError, Verdict("advance")),
    (WireError, Verdict("advance", "transient")),
    (Error, Verdict("stop")),
)
"""The first row that fits decides."""
_AT_THE_DOOR = (UsageError, BadRequestError, NotFoundError, AuthenticationError, PermissionDeniedError, BillingError)
"""Refusals that are told before anything runs."""
_BEFORE_IT_IS_SENT = frozenset({"connect", "pool"})


def verdict(error: Error, *, committed: bool = False, persist: bool = False) -> Verdict:
    """The consequence of an error that a target gave before its first content."""
    if error.lacking is not None:
        return Verdict("advance")
    action, fault = next(entry for kind, entry in _TABLE if isinstance(error, kind))
    if action == "retry" and not error.retryable:
        action = "advance"
    elif action == "stop" and isinstance(error, UpstreamError):
        action = "retry" if error.retryable else "advance" if persist else "stop"
    if committed and action != "stop" and not _did_not_run(error):
        action = "stop"
    return Verdict(action, fault)


def _did_not_run(error: Error) -> bool:
    """Whether the request certainly did nothing."""
    match error:
        case APITimeoutError(phase=phase):
            return phase in _BEFORE_IT_IS_SENT
        case TransportError():
            return not error.reached
        case _:
            return isinstance(error, _AT_THE_DOOR)
