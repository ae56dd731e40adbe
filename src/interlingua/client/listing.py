"""The models that a provider lists, asked of its server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from interlingua.client.call.attempt import refusal
from interlingua.client.call.effect import Fetch
from interlingua.client.call.pump import carried_out
from interlingua.client.call.secrets import attribute
from interlingua.client.call.values import CallTarget
from interlingua.dialects._contract import DecodeContext, Encoded
from interlingua.dialects.table import get_dialect
from interlingua.errors import UsageError
from interlingua.providers.listing import list_url, read_list
from interlingua.registry.resolve import default_registry
from interlingua.transport.base import Timeouts

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps
    from interlingua.registry.endpoint import Endpoint

__all__ = ["listed_models"]

TIMEOUT_S = 20.0
"""How long a server may take to answer."""


def listed_models(provider: str) -> list[str]:
    """The names of the models that a provider lists, sorted.

    Raises: UnknownModelError and ConfigError for a provider that is not known or has no address; UsageError for one
        that answers in this process; TransportError; UpstreamError; DecodeError.
    """
    endpoint = default_registry().resolve(f"{provider}/models")[0]
    if not endpoint.base_url.startswith(("http://", "https://")):
        raise UsageError(f"{endpoint.provider} runs in this process, and has no list of models")
    return carried_out(_listed(endpoint))


def _listed(endpoint: Endpoint) -> Steps[list[str]]:
    dialect = get_dialect(endpoint.dialect)
    http = replace(
        endpoint.http_request(Encoded(path="", body=b"")),
        method="GET",
        url=list_url(endpoint.dialect, endpoint.base_url),
    )
    reply = yield Fetch(http, Timeouts(total_s=TIMEOUT_S), endpoint.carrier)
    if not 200 <= reply.status < 300:
        error = refusal(CallTarget(endpoint, dialect), reply, DecodeContext(target=endpoint.target))
        attribute(error, endpoint, ())
        raise error
    return read_list(endpoint.dialect, reply.body)
