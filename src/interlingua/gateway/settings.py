"""How a gateway is set up: the bounds it keeps, the keys it takes, what it may do for its clients."""

from __future__ import annotations

import msgspec

from interlingua.gateway.hooks import NO_HOOKS, HookSettings
from interlingua.gateway.keys.terms import NO_TERMS, Terms
from interlingua.gateway.records.observing import Observing
from interlingua.transport.base import Timeouts
from interlingua.types.capability import Capability
from interlingua.wire.json import MAX_BODY_BYTES

__all__ = ["MAX_PORT", "GatewayKey", "GatewaySettings"]

MAX_PORT = 65_535
"""The last port that there is."""


class GatewayKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that clients may bring."""

    name: str
    """Its name in answers and logs."""
    hash: str
    """`sha256:` and the hexadecimal digest of the key; the key itself is kept nowhere."""
    models: tuple[str, ...] = ()
    """The model names that it may ask for, `*` at the end for all that begin alike; empty: any."""
    terms: Terms = NO_TERMS
    """Its terms."""
    team: str = ""
    """The team that it belongs to; the team's own terms hold for all of its keys together."""
    expires_s: float | None = None
    """When it stops working, in Unix seconds; None for never."""
    revoked_s: float | None = None
    """When it was made to stop working; None while it works."""


class GatewaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a gateway that can be set."""

    keys: tuple[GatewayKey, ...] = ()
    """The keys it takes; with none, only clients on the same machine are served."""
    teams: dict[str, Terms] = {}
    """The terms of all keys of a team together, by its name."""
    key_file: str = ""
    """The database of further keys, which also keeps what keys have used; empty: none."""
    hosts: tuple[str, ...] = ()
    """Names under which it may be asked, beside addresses and `localhost`."""
    origins: tuple[str, ...] = ()
    """Web origins whose pages may ask it, beside its own."""
    is_open: bool = False
    """Whether whoever reaches it is served: for a gateway behind an application that checks its users itself."""
    timeouts: Timeouts = Timeouts()
    """Deadlines of one request to an upstream."""
    keep_alive_s: float = 15.0
    """After so many silent seconds a stream shows that it is alive."""
    max_body_bytes: int = MAX_BODY_BYTES
    """The largest body of a request, also once it is inflated."""
    max_receiving_bytes: int = 4 * MAX_BODY_BYTES
    """How much may be there of all bodies that are still coming, together; a body beyond it gets a 503."""
    max_connections: int = 4_096
    """How many connections are held at once; a further one gets a 503."""
    receive_s: float = 30.0
    """How long a client may be silent while it sends a request, and take beyond one second for each KiB of it."""
    send_s: float = 60.0
    """How long a client may take nothing of a reply."""
    notice_s: float = 1.0
    """How long new requests are still taken once SIGTERM came and readiness says no."""
    drain_s: float = 30.0
    """How long what is under way has when the gateway ends; then it is cut off."""
    allow: frozenset[Capability] = frozenset()
    """Kinds of content that may be let go where a target cannot take them, instead of refusing the request."""
    strict: bool = False
    """Whether whatever would be dropped or approximated is refused, for every request."""
    providers: tuple[str, ...] = ()
    """The providers that get what names no model (files, batches, caches): of each dialect the first that speaks it."""
    allow_fetch: bool = False
    """Whether images and documents that a body names by address are fetched, by the guarded fetcher."""
    console: bool | None = None
    """Whether a browser that opens `/` gets the console; None: unless the gateway is open to whoever reaches it."""
    console_content: bool = False
    """Whether the console may show what is asked and answered, of the last requests, while somebody looks."""
    id_secret_env: str = ""
    """The variable with the secret by which ids are signed; empty: one is made, and kept beside the keys."""
    id_secret_file: str = ""
    """The file with that secret."""
    shared_ids: frozenset[str] = frozenset()
    """Ids of what providers keep that every key may use, as those of prompts and vector stores of everybody."""
    operators: tuple[str, ...] = ()
    """Names of the keys that see what every key does and take targets out; empty: the only key, where there is one."""
    hooks: HookSettings = NO_HOOKS
    """The hooks around conversations: the policy, hooks by import path, the cache of answers."""
    observing: Observing = Observing()
    """The observers of requests: log, metrics, logbook, cassettes, spans."""
