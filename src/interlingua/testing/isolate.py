"""Context managers that keep the code under test away from real models: `use` a fake, forbid the network."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from interlingua.errors import UsageError
from interlingua.testing.fake import FakeAnswer, FakeModel
from interlingua.transport.inprocess import AsyncAdapter
from interlingua.transport.override import Override, overriding

__all__ = ["NetworkForbiddenError", "no_network", "use", "use_transport"]

T = TypeVar("T")

LOOPBACK = re.compile(r"(127\.\d+\.\d+\.\d+|::1|localhost|)", re.IGNORECASE)
"""Hosts that are this machine; the empty host is a listener on every address."""


@contextmanager
def use(model: FakeModel | FakeAnswer | Sequence[FakeAnswer]) -> Generator[FakeModel]:
    """The fake that answers in the place of every model until the block ends.

    `model` is a `FakeModel`, or what one takes: a list of answers, or one answer for every call. No key and no
    configured provider is needed meanwhile, and any `provider/model` or alias will do.
    """
    fake = model if isinstance(model, FakeModel) else FakeModel(model)
    with overriding(fake.override()):
        yield fake


@contextmanager
def use_transport(transport: T) -> Generator[T]:
    """`transport`, a blocking one that never blocks, under every model until the block ends."""
    blocking = cast("Any", transport)
    awaited = AsyncAdapter(blocking)
    with overriding(Override(lambda _: blocking, lambda _: awaited, answers=True)):
        yield transport


class NetworkForbiddenError(UsageError):
    """Something tried to leave this machine under `no_network`."""


class _Guard:
    """Refuses names and connections while it is wanted; an audit hook cannot be taken out again, only be idle."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scopes: list[bool] = []
        self._hooked = False

    def start(self, *, loopback: bool) -> None:
        with self._lock:
            self._scopes.append(loopback)
            if not self._hooked:
                sys.addaudithook(self._hook)
                self._hooked = True

    def stop(self, *, loopback: bool) -> None:
        with self._lock:
            self._scopes.remove(loopback)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._scopes or not event.startswith("socket."):
            return
        host = _host(event, arguments)
        if host is None or (all(self._scopes) and LOOPBACK.fullmatch(host)):
            return
        raise NetworkForbiddenError(f"no_network() is on and something tried to reach {host or 'an address'}")


_guard = _Guard()


def _host(event: str, arguments: tuple[Any, ...]) -> str | None:
    """The host that a socket event is about; None for an event or an address family that leaves no machine."""
    match event, arguments:
        case ("socket.getaddrinfo", (str() | bytes() as host, *_)) | (
            "socket.gethostbyname",
            (str() | bytes() as host,),
        ):
            return host.decode() if isinstance(host, bytes) else host
        case (("socket.connect" | "socket.sendto" | "socket.sendmsg"), (_, (str(host), *_))):
            return host
        case _:
            return None


@contextmanager
def no_network(*, loopback: bool = True) -> Generator[None]:
    """Nothing leaves this machine until the block ends: every library's connection is refused, in every thread.

    `loopback=False` refuses connections within the machine, too.
    Raises: NetworkForbiddenError, at whoever tries.
    """
    _guard.start(loopback=loopback)
    try:
        yield
    finally:
        _guard.stop(loopback=loopback)
