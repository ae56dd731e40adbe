"""The service that a dialect, a provider or both name, and a request on its wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from interlingua.dialects._contract import EncodeOptions, Target
from interlingua.dialects.table import SPELLINGS, get_dialect
from interlingua.errors import ConfigError, UsageError, check_text
from interlingua.providers.limits import facts_for
from interlingua.providers.negotiate import negotiate, target_of
from interlingua.providers.row import Provider
from interlingua.providers.rows import ROWS
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from interlingua.dialects._contract import Dialect, Encoded
    from interlingua.types._base import JsonObject
    from interlingua.types.request import Request

__all__ = ["Service", "body_of", "history_of", "service_of", "tools_in", "with_tools"]


class Service(NamedTuple):
    """The dialect that is written or read, and the target that it is written for."""

    dialect: Dialect
    """The codec of the dialect."""
    target: Target
    """The target's row, model and facts, as the dialect needs them."""
    row: Provider | None = None
    """The provider; None for a dialect alone."""

    def encode(self, request: Request, options: EncodeOptions | None = None) -> Encoded:
        """The request on the wire, its media fitted to the provider.

        Raises: UnsupportedError, HistoryError; UsageError for a broken file.
        """
        options = options or EncodeOptions(target=self.target)
        if self.row is None:
            return self.dialect.encode_request(request, options)
        from interlingua.registry.endpoint import Endpoint  # only who names a provider pays for it
        from interlingua.registry.secret import Secret

        endpoint = Endpoint(
            spec=f"{self.row.name}/{self.target.model}",
            provider=self.row.name,
            model=self.target.model,
            family=self.row.family or self.row.name,
            dialect=self.dialect.name,
            base_url=self.row.base_url,
            target=self.target,
            credential=Secret.of_key("", "nowhere"),
        )
        from interlingua.media.fit import plan_media

        plan = plan_media(request, endpoint, options.allow)
        request, changes = (request, ()) if plan is None else plan.run()
        encoded = self.dialect.encode_request(request, options)
        if changes:
            encoded = msgspec.structs.replace(encoded, changes=changes + encoded.changes)
        if self.row.operations:
            from interlingua.registry.operation import as_served

            encoded = as_served(self.row, encoded, self.target.model, stream=options.stream)
        return encoded


def service_of(dialect: str | None, provider: str | Provider | None, model: str = "") -> Service:
    """The service that a dialect, a provider or both name.

    Raises: ConfigError for a name that is none, and for a dialect that the provider does not speak; UsageError without
    any name, and for names that are no texts.
    """
    check_text("" if dialect is None else dialect, "a dialect is named by a text, such as 'anthropic'")
    check_text("" if provider is None or isinstance(provider, Provider) else provider, "a provider is named by a text")
    check_text(model, "a model is named by a text")
    if dialect == "openai":
        dialect, provider = "openai-chat", provider or "openai-chat"
    if provider is not None:
        row = _row(provider)
        if dialect is not None:
            name = get_dialect(dialect).name
            if name not in row.dialects:
                raise ConfigError(f"{row.name} speaks {' or '.join(row.dialects)}, not {name}")
        else:
            name = negotiate(row, model)  # the one that a model of the library speaks
            if name is None:
                raise ConfigError(
                    f"{row.name} speaks {' or '.join(row.dialects)}, which this version does not have yet"
                )
        return Service(get_dialect(name), target_of(row, name, model), row)
    if dialect is None:
        raise UsageError("name a dialect, such as 'anthropic', or a provider, such as provider='groq'")
    alone = get_dialect(dialect)
    vendor = alone.service.vendor or alone.name
    return Service(alone, Target(model=model, facts=facts_for(vendor, alone.name, model)))


def _row(provider: str | Provider) -> Provider:
    """The provider's row.

    Raises: ConfigError for a name that no row has.
    """
    if isinstance(provider, Provider):
        return provider
    row = ROWS.get(SPELLINGS.get(provider, provider))
    if row is None:
        from difflib import get_close_matches  # only a misspelt name needs it

        near = get_close_matches(str(provider), ROWS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; an il.Provider of your own can stand in its place"
        raise ConfigError(f"no provider {provider!r}{hint}")
    return row


def history_of(dialect: Dialect) -> str:
    """The name of the member that holds the conversation."""
    return dialect.service.message_members[0]


def tools_in(dialect: Dialect, body: JsonObject) -> list[JsonObject]:
    """The tools of a body."""
    inside = dialect.service.tools_inside
    return (body.get(inside, {}) if inside else body).get("tools", [])


def with_tools(dialect: Dialect, tools: list[JsonObject]) -> JsonObject:
    """The members of a body that hold tools."""
    inside = dialect.service.tools_inside
    return {inside: {"tools": tools}} if inside else {"tools": tools}


def body_of(encoded: Encoded) -> JsonObject:
    """The body of an encoded request, parsed."""
    return cast("JsonObject", decode_any(encoded.body))
