"""Which dialect to speak with a provider, for a client that speaks one itself.

Rules
- The client's own dialect is spoken when the provider speaks it and nothing is known that forbids it: then a request
  can go out as it came.
- Else the first dialect of the row that this version has.
- What is not known forbids nothing.

This module is not responsible for addresses: one row has one, whatever is spoken there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlingua.dialects._contract import Target
from interlingua.dialects.table import SPELLINGS, is_dialect
from interlingua.providers.declared import told_target
from interlingua.providers.limits import facts_for

if TYPE_CHECKING:
    from interlingua.dialects._contract import Facts
    from interlingua.providers.row import Provider

__all__ = ["negotiate", "target_of"]


def negotiate(provider: Provider, model: str, *, client: str | None = None, tools: bool = False) -> str | None:
    """The dialect to speak with `provider` about `model`; None where this version has none of its dialects.

    `client` is the dialect that the client speaks; `tools` says that its request has tools, beside which the model may
    refuse a dialect that it takes without them.
    """
    dialects = [dialect for dialect in provider.dialects if is_dialect(dialect)]
    own = SPELLINGS.get(client or "", client)
    if own in dialects and _takes(provider, own, model, tools=tools):
        return own
    able = [dialect for dialect in dialects if _takes(provider, dialect, model, tools=tools)]
    return next(iter([*able, *dialects]), None)


def _takes(provider: Provider, dialect: str, model: str, *, tools: bool) -> bool:
    """Whether nothing is known of the model that forbids this dialect."""
    return not tools or _facts(provider, dialect, model).tools is not False


def _facts(provider: Provider, dialect: str, model: str) -> Facts:
    """The facts of a model, by the vendor's own name of it."""
    if provider.model_prefix:
        model = re.sub(rf"\A(?:{provider.model_prefix})", "", model)
    return facts_for(provider.family or provider.name, dialect, model)


def target_of(provider: Provider, dialect: str, model: str) -> Target:
    """The facts of one provider's model that a dialect needs."""
    facts = _facts(provider, dialect, model)
    target = Target(model=model, provider=provider.name, quirks=provider.quirks, facts=facts)
    return told_target(target, provider.capabilities)
