"""Which targets a client's model name stands for, with the dialect that is spoken to each.

Rules
- A name is whatever the registry takes: an exact alias, the longest `prefix*`, `provider/model`, a chain with commas.
- A name has neither control characters nor steps (`..`): it goes into paths, headers and logs. It is no longer than
  `MAX_MODEL_CHARACTERS`, and what is refused is not remembered.
- The client's own dialect is spoken to a provider that speaks it and takes the request in it, else its first one.
- Where something answers in the place of every model (tests), a name that nothing defines is taken as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from interlingua.client.call.job import Lane
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, UsageError
from interlingua.gateway.calls.reading import checked_model
from interlingua.gateway.policy import renamed
from interlingua.registry.resolve import placeholder
from interlingua.transport.override import answers_alone
from interlingua.wire.cache import ByteCache, weight_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.registry.endpoint import Endpoint
    from interlingua.registry.resolve import Registry, Resolved

__all__ = ["Found", "Targets"]

MAX_REMEMBERED_BYTES = 2_000_000
"""How much is remembered of what names stand for; a client chooses them."""
FOUND_BYTES, TARGET_BYTES = 1_000, 600
"""About what an entry takes in memory, and each of its targets."""
_STEP = re.compile(r"(?:^|[/\\,])\s*\.{1,2}\s*(?:[/\\,]|$)")
"""A step in a path: some providers have the model in theirs, and a key is not for all that is beside it."""


class Found(NamedTuple):
    """What a name stands for."""

    endpoints: tuple[Endpoint, ...]
    """The targets."""
    lanes: tuple[Lane, ...]
    """The same, with the dialect that is spoken to each."""
    holds: Callable[[], bool]
    """Says whether the name stands for them now."""


class Targets:
    """The names of one registry, with a memory."""

    def __init__(self, registry: Registry, rewrite: dict[str, str] | None = None) -> None:
        """A memory that is empty; `rewrite` are the names that the policy puts others under."""
        self._registry = registry
        self._rewrite = rewrite or {}
        self._found: ByteCache[tuple[str, str, bool], Found] = ByteCache(MAX_REMEMBERED_BYTES, weigh=_weight)

    def lanes(self, model: str, client: str, *, tools: bool) -> tuple[Lane, ...]:
        """The targets of a name, in order, for a client of the dialect `client`.

        Raises: UnknownModelError for a name that nothing defines; DecodeError for what can be no name; ConfigError for
        a bad entry.
        """
        return self.found(model, client, tools=tools).lanes

    def found(self, model: str, client: str, *, tools: bool) -> Found:
        """The same, for who wants to know later whether it still holds.

        Raises: as `lanes`.
        """
        name = (model, client, tools)
        found = self._found.get(name)
        if found is not None and found.holds():
            return found
        if not checked_model(model).isprintable() or _STEP.search(model):
            raise DecodeError(f"/model: {model[:100]!r} is no name of a model", path="/model", status=400)
        model = renamed(self._rewrite, model)
        resolved: Resolved | None = None
        try:
            resolved = self._registry.resolved(model, client, tools=tools)
            endpoints = resolved.endpoints
        except UsageError:
            if not answers_alone():
                raise
            endpoints = tuple([placeholder(element.strip()) for element in model.split(",")])
        if found is not None and found.endpoints is endpoints:
            lanes = found.lanes
        else:
            lanes = tuple([Lane(endpoint, get_dialect(endpoint.dialect)) for endpoint in endpoints])
        found = Found(endpoints, lanes, _never if resolved is None else resolved.holds)
        self._found.put(name, found)
        return found


def _weight(name: tuple[str, str, bool], found: Found) -> int:
    """The bytes that an entry takes; its targets are those of the registry."""
    return FOUND_BYTES + weight_of(name[0]) + TARGET_BYTES * len(found.lanes)


def _never() -> bool:
    """Nothing that is made up for a test holds longer than its request."""
    return False
