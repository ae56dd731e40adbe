"""Which transport carries a request: the caller's own, or that of its URL's scheme, behind whatever override holds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from interlingua.errors import ConfigError
from interlingua.transport.base import async_fetch_of
from interlingua.transport.default import default_async_transport, default_transport
from interlingua.transport.override import is_bare, overridden, overridden_async

if TYPE_CHECKING:
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.transport.base import AsyncFetch, AsyncTransport, Carrier, Transport
    from interlingua.transport.inprocess import InProcessTransport

__all__ = ["async_fetch_for", "async_transport_for", "carrier_of", "transport_for"]

_REMOTE = ("https:", "http:")


def carrier_of(call: Call, target: CallTarget) -> Carrier | None:
    """The carrier of a call's requests to a target; None for the transport that its address names.

    A transport that the caller hands in carries what leaves the process, and nothing else.
    """
    endpoint, carrier = target.endpoint, call.settings.carrier
    if endpoint.login is not None and endpoint.base_url.startswith(_REMOTE):
        from interlingua.transport.login import LoginCarrier  # only who logs in pays for it

        return LoginCarrier(endpoint.login, carrier)
    if endpoint.carrier is not None or carrier is None:
        return endpoint.carrier
    return carrier if endpoint.base_url.startswith(_REMOTE) else None


def transport_for(url: str, carrier: Carrier | None = None) -> Transport:
    """The blocking transport for `url`.

    Raises: UsageError where the carrier can only be awaited.
    """
    if carrier is not None:
        return overridden(carrier.blocking())
    is_remote = url.startswith(_REMOTE)
    return overridden(default_transport() if is_remote else _inside(url.partition(":")[0]))


def async_transport_for(url: str, carrier: Carrier | None = None) -> AsyncTransport:
    """The awaited transport for `url`."""
    if carrier is not None:
        return overridden_async(carrier.awaited())
    is_remote = url.startswith(_REMOTE)
    return overridden_async(default_async_transport() if is_remote else _inside_async(url.partition(":")[0]))


def async_fetch_for(url: str, carrier: Carrier | None = None) -> AsyncFetch:
    """The function that fetches whole replies to requests for `url`, awaited."""
    if carrier is None and is_bare() and url.startswith(_REMOTE):  # the usual case, and quicker to see
        return default_async_transport().fetch
    return async_fetch_of(async_transport_for(url, carrier))


# What answers inside the process is imported when somebody asks for it: the local engine is an extra.


@cache
def _inside(scheme: str) -> Transport:
    if scheme == "local":
        from interlingua.local.transport import LocalTransport

        return LocalTransport()
    return _fake(scheme)


@cache
def _inside_async(scheme: str) -> AsyncTransport:
    if scheme == "local":
        from interlingua.local.transport import AsyncLocalTransport

        return AsyncLocalTransport()
    from interlingua.transport.inprocess import AsyncAdapter

    return AsyncAdapter(_fake(scheme))


def _fake(scheme: str) -> InProcessTransport:
    if scheme != "fake":
        raise ConfigError(f"no transport carries {scheme}:// addresses; https, http, local and fake are known")
    from interlingua.providers.fake import fake_answer
    from interlingua.transport.inprocess import InProcessTransport

    # clients of OpenAI need a time, and the same answer has the same one
    return InProcessTransport(lambda decoded, _: fake_answer(decoded), created=1)
