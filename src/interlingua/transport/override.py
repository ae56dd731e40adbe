"""Overrides that stand between a model and its transport for a while: fakes, cassettes, injected faults, WebSockets.

Strategy: the code under test makes its models as always; whoever tests it enters an override, and every call made
until that ends goes through it. An override is a function from a transport to a transport, one for each face.

Rules
- The override entered last is nearest to the caller: it wraps what the ones before it made of the transport.
- An override holds in the context that entered it (tasks and `to_thread` inherit that), and in threads that have no
  context of their own; one that has ended holds nowhere, not even in tasks that outlive it.
- An override that answers by itself needs no credential and no configured provider.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from interlingua.transport.base import AsyncTransport, Transport

__all__ = [
    "Override",
    "answers_alone",
    "innermost",
    "is_bare",
    "overridden",
    "overridden_async",
    "overriding",
    "tapped",
]

Wrap: TypeAlias = Callable[[Transport], Transport]
WrapAsync: TypeAlias = Callable[[AsyncTransport], AsyncTransport]


class Override:
    """One override, from its beginning to its end."""

    def __init__(self, wrap: Wrap, wrap_async: WrapAsync, *, answers: bool = False, only_carries: bool = False) -> None:
        """An override by two functions.

        `answers` says that it needs nothing of the transport it is given, `only_carries` that who answers is the same
        with it as without.
        """
        self.wrap = wrap
        """Makes the blocking transport."""
        self.wrap_async = wrap_async
        """Makes the awaited transport."""
        self.answers = answers
        """Whether it answers by itself."""
        self.only_carries = only_carries
        """Whether calls remember of each other what they do without it."""
        self.active = False
        """Whether it holds now."""
        self.state: object = None
        """The memory that calls share while it holds; whoever keeps that writes it."""


_everywhere: list[Override] = []
_here: ContextVar[tuple[Override, ...] | None] = ContextVar("interlingua_overrides", default=None)
_tap: ContextVar[WrapAsync | None] = ContextVar("interlingua_tap", default=None)


@contextmanager
def overriding(override: Override) -> Generator[Override]:
    """`override` for as long as the block runs."""
    token = _here.set((*_active(), override))
    _everywhere.append(override)
    override.active = True
    try:
        yield override
    finally:
        override.active = False
        _everywhere.remove(override)
        _here.reset(token)


@contextmanager
def tapped(tap: WrapAsync) -> Generator[None]:
    """The awaited transports of this context with somebody who listens to them, for as long as the block runs.

    A tap changes nothing, so it is no override: what calls remember of each other is not its own.
    """
    token = _tap.set(tap)
    try:
        yield
    finally:
        _tap.reset(token)


def is_bare() -> bool:
    """Whether awaited transports are what they are: nothing stands before them here, and nobody listens."""
    return not _everywhere and _tap.get() is None


def answers_alone() -> bool:
    """Whether an override answers by itself, so that credentials and providers need not be there."""
    return bool(_everywhere) and any(override.answers for override in _active())


def innermost() -> Override | None:
    """The override that was entered last, of those that hold here and change who answers; None when there is none."""
    if not _everywhere:
        return None
    active = [override for override in _active() if not override.only_carries]
    return active[-1] if active else None


def overridden(transport: Transport) -> Transport:
    """`transport` behind every override that holds here."""
    for override in _active() if _everywhere else ():
        transport = override.wrap(transport)
    return transport


def overridden_async(transport: AsyncTransport) -> AsyncTransport:
    """`transport` behind every override that holds here, and behind who listens."""
    for override in _active() if _everywhere else ():
        transport = override.wrap_async(transport)
    tap = _tap.get()
    return transport if tap is None else tap(transport)


def _active() -> tuple[Override, ...]:
    """The overrides that hold here, the first one entered first."""
    overrides = _here.get()
    return tuple(override for override in (_everywhere if overrides is None else overrides) if override.active)
