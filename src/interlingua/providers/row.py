"""Providers: one row of data each.

Rules
- A provider differs from another one by values alone; no code compares a provider's name.
- A row names its own variables for the key; a key goes to the row's own address and to no other.
- `base_url` holds everything before the operation: `…/v1` for `/chat/completions`, the host alone for `/api/chat`.

This module is not responsible for addresses that a user configures: that is `registry.dsn`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from interlingua.dialects._contract import Quirks
from interlingua.providers.price import Price
from interlingua.types.capabilities import Capabilities
from interlingua.wire.http import Headers

__all__ = ["LOGINS", "Auth", "CardForm", "Operation", "Provider", "Variable"]

Auth: TypeAlias = Literal["bearer", "api-key", "x-api-key", "x-goog-api-key", "none"]
"""Where the key goes: `Authorization: Bearer …`, a header of that name, or nowhere."""

CardForm: TypeAlias = Literal["none", "ollama", "llamacpp", "google", "openrouter"]
"""How a server tells what a model takes; `none`: it does not."""

LOGINS = ("aws", "azure", "google")
"""The logins that there are."""


class Variable(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of an address that only its user knows: `{region}`, `{project}`."""

    name: str
    """The name between the braces, and of the option of a DSN."""
    env: tuple[str, ...] = ()
    """Environment variables that may hold it; the first one that is set counts."""
    default: str = ""
    """The value where nobody says it; empty: it has to be said."""
    addresses: tuple[tuple[str, str], ...] = ()
    """Values whose base URL is not made like that of others, each with its own."""


class Operation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An operation of a dialect that a provider has at another path, or with other members at the top of its body."""

    path: str
    """The path that the dialect puts behind the base URL, without a query."""
    to: str
    """The path in its place; `{model}` is the name of the model."""
    streamed_to: str = ""
    """The path for an answer in pieces; empty: `to`."""
    left_out: tuple[str, ...] = ()
    """Members that the body must not have."""
    added: tuple[tuple[str, str], ...] = ()
    """Members that the body has to have, each with the text that it holds where the body has none."""


class Provider(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One provider: its address, its key, the dialects it speaks, and how its server differs."""

    name: str
    """The name before the slash of a model spec: lower-case letters, digits and hyphens."""
    title: str = ""
    """Its name for people."""
    base_url: str
    """The URL before the operation, with no slash at its end; `{host}` is a host that only the user knows.

    Other words between braces are those of `variables`.
    """
    variables: tuple[Variable, ...] = ()
    """The parts of `base_url` and `login_scope` that only the user knows, aside from the host."""
    login: str = ""
    """The login that stands in for a key where none is set: `aws`, `azure` or `google`; empty: none, unless asked."""
    login_scope: str = ""
    """The scope of a login: one of OAuth, or `service/{region}` to sign for; empty: the login's own."""
    dialects: tuple[str, ...]
    """The dialects it speaks, best first; the first one that this version has is used."""
    key_env: tuple[str, ...] = ()
    """Environment variables that may hold the key; the first one that is set counts."""
    token_env: tuple[str, ...] = ()
    """Variables that may hold a bearer token, which goes along where no key is set; for a row that is built in."""
    address_env: tuple[tuple[str, str], ...] = ()
    """Variables in which its vendor's SDK looks for an address, each with the path that the SDK adds to it.

    The first one that is set counts, for a row that is built in.
    """
    header_env: tuple[tuple[str, str], ...] = ()
    """Variables that its vendor's SDK sends in a header, each with the header's name; for a row that is built in."""
    version_env: str = ""
    """The variable in which its vendor's SDK looks for `api_version`; for a row that is built in."""
    auth: Auth = "bearer"
    """Where the key goes."""
    key_required: bool = True
    """Whether a request without a key is refused before it is sent."""
    quirks: Quirks = Quirks()
    """How its server differs from the dialect's reference server."""
    headers: Headers = ()
    """Further headers of every request, lower case."""
    query: tuple[tuple[str, str], ...] = ()
    """Further query parameters of every request."""
    operations: tuple[Operation, ...] = ()
    """The operations that it has at other paths than the dialect, or with other members."""
    headers_left_out: tuple[str, ...] = ()
    """Headers of the dialect that it does not take, lower case."""
    plain_loopback: bool = False
    """Whether a DSN to a loopback host means http: the Ollama family, which speaks no TLS by itself."""
    dated: str = ""
    """Name of the row that a DSN stands for whose `api_version` is a date, and which has no path; empty: this one."""
    elsewhere: str = ""
    """Name of the row that a DSN of this scheme to another host stands for; empty: this one."""
    family: str = ""
    """Name of the row that it was derived from, whose model facts hold for it; empty: its own."""
    model_prefix: str = ""
    """A regular expression of what may stand before the vendor's own name of a model, such as `anthropic\\.`."""
    models: tuple[str, ...] = ()
    """How the names of its own models begin, for who leaves the provider out."""
    capabilities: Capabilities = Capabilities()
    """The features that all its models take and do not take, as far as they are declared; the rest is found out."""
    card: CardForm = "none"
    """How its server tells what a model takes, when it is asked."""
    price: Price | None = None
    """The price of all its models; None: the list of the [prices] extra has it."""
    note: str = ""
    """A note for its users, in one sentence."""

    @property
    def needs_host(self) -> bool:
        """Whether only a DSN can say where it is."""
        return "{host}" in self.base_url

    @property
    def remote(self) -> bool:
        """Whether it is reached over HTTP, not inside this process."""
        return self.base_url.startswith(("http://", "https://"))
