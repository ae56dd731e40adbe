"""Which targets a client's model name stands for, with the dialect that is spoken to each.

Rules
- A name is whatever the registry takes: an exact alias, the longest `prefix*`, `provider/model`, a chain with commas.
- A name has neither control characters nor steps (`..`): it goes into paths, headers and logs.
- The client's own dialect is spoken to a provider that speaks it and takes the request in it, else its first one.
- Where something answers in the place of every model (tests), a name that nothing defines is taken as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from interlingua.client.core import Lane
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, UsageError
from interlingua.registry.resolve import placeholder
from interlingua.transport.override import answers_alone

if TYPE_CHECKING:
    from interlingua.registry.endpoint import Endpoint
    from interlingua.registry.resolve import Registry

__all__ = ["Targets"]

MAX_REMEMBERED = 1_024
_STEP = re.compile(r"(?:^|[/\\,])\s*\.{1,2}\s*(?:[/\\,]|$)")
"""A step in a path: some providers have the model in theirs, and a key is not for all that is beside it."""
_Known: TypeAlias = "tuple[tuple[Endpoint, ...], tuple[Lane, ...]]"


class Targets:
    """The names of one registry, with a memory."""

    def __init__(self, registry: Registry) -> None:
        """A memory that is empty."""
        self._registry = registry
        self._lanes: dict[tuple[str, str, bool], _Known] = {}

    def lanes(self, model: str, client: str, *, tools: bool) -> tuple[Lane, ...]:
        """The targets of a name, in order, for a client of the dialect `client`.

        Raises: UnknownModelError for a name that nothing defines; DecodeError for what can be no name; ConfigError for
        a bad entry.
        """
        try:
            endpoints = self._registry.resolve(model, client=client, tools=tools)
        except UsageError:
            if not answers_alone():
                raise
            endpoints = tuple([placeholder(element.strip()) for element in model.split(",")])
        asked = (model, client, tools)
        known = self._lanes.get(asked)
        if known is not None and known[0] is endpoints:
            return known[1]
        if not model.isprintable() or _STEP.search(model):
            raise DecodeError(f"/model: {model[:100]!r} is no name of a model", path="/model", status=400)
        lanes = tuple([Lane(endpoint, get_dialect(endpoint.dialect)) for endpoint in endpoints])
        if len(self._lanes) >= MAX_REMEMBERED:
            self._lanes = {}
        self._lanes[asked] = (endpoints, lanes)
        return lanes
