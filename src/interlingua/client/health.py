"""The health of targets in the hands of a person: look at it, take a target out, put it back.

Rules
- A spec may be a target, an alias or a chain; each of its targets is meant. A target that only another process knows is
  meant by its name, where something is known about it in the place that both share.
- What a person says holds wherever the state is shared; where it could not be told, that is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.client.state import health_store
from interlingua.errors import APIConnectionError, UsageError, check_text
from interlingua.registry.resolve import default_registry
from interlingua.routing.health import Resume, Suspend
from interlingua.transport.override import answers_alone

if TYPE_CHECKING:
    from collections.abc import Container

    from interlingua.routing.health import HealthStore, Operation, TargetHealth

__all__ = ["AsyncHealth", "Health", "async_health", "health"]


class Health:
    """The health of targets, as calls of this process find it."""

    def snapshot(self) -> dict[str, TargetHealth]:
        """Every target about which something is known, by name; one that is not in it is well."""
        return health_store().snapshot()

    def suspend(self, spec: str, *, for_s: float | None = None) -> tuple[str, ...]:
        """The targets that no call will be sent to, for so many seconds, or until they are resumed.

        Raises: UnknownModelError, ConfigError for a spec that leads nowhere; APIConnectionError when the place where
            state is shared could not be told.
        """
        return self._all(spec, _suspend(for_s))

    def resume(self, spec: str) -> tuple[str, ...]:
        """The targets that may be asked again; everything that was held against them is forgotten.

        Raises: UnknownModelError, ConfigError for a spec that leads nowhere; APIConnectionError when the place where
            state is shared could not be told.
        """
        return self._all(spec, Resume())

    def _all(self, spec: str, operation: Operation) -> tuple[str, ...]:
        store = health_store()
        try:
            targets = _targets(spec)
        except UsageError:
            targets = _targets(spec, store.snapshot())
        store.apply([(target, operation) for target in targets])
        return _shared(store, targets)


class AsyncHealth:
    """The health of targets, awaited: how each stands, and their suspension."""

    async def snapshot(self) -> dict[str, TargetHealth]:
        """Every target about which something is known, by name; one that is not in it is well."""
        return await health_store().snapshot_async()

    async def suspend(self, spec: str, *, for_s: float | None = None) -> tuple[str, ...]:
        """The targets that no call will be sent to, for so many seconds, or until they are resumed.

        Raises: UnknownModelError, ConfigError for a spec that leads nowhere; APIConnectionError when the place where
            state is shared could not be told.
        """
        return await self._all(spec, _suspend(for_s))

    async def resume(self, spec: str) -> tuple[str, ...]:
        """The targets that may be asked again; everything that was held against them is forgotten.

        Raises: UnknownModelError, ConfigError for a spec that leads nowhere; APIConnectionError when the place where
            state is shared could not be told.
        """
        return await self._all(spec, Resume())

    async def _all(self, spec: str, operation: Operation) -> tuple[str, ...]:
        store = health_store()
        try:
            targets = _targets(spec)
        except UsageError:
            targets = _targets(spec, await store.snapshot_async())
        await store.apply_async([(target, operation) for target in targets])
        return _shared(store, targets)


health: Health = Health()
"""The health of targets: `snapshot()`, `suspend(spec)`, `resume(spec)`."""
async_health: AsyncHealth = AsyncHealth()
"""The health of targets, awaited: `snapshot()`, `suspend(spec)`, `resume(spec)`."""


def _suspend(for_s: float | None) -> Suspend:
    is_number = isinstance(for_s, int | float) and not isinstance(for_s, bool)
    if for_s is not None and not (is_number and 0 < for_s < float("inf")):
        raise UsageError(
            f"a target is suspended for some seconds, or with None until it is resumed, not for {for_s!r:.60}"
        )
    return Suspend(for_s)


def _targets(spec: str, names: Container[str] = ()) -> tuple[str, ...]:
    check_text(spec, "a target is named by a text")
    if "*" in spec:
        raise UsageError(f"{spec:.80} is a pattern; health is of single targets, so name them, or an alias of them")
    targets: list[str] = []
    for element in [element.strip() for element in spec.split(",")]:
        try:
            targets += [endpoint.spec for endpoint in default_registry().resolve(element)]
        except UsageError:
            if element not in names and not answers_alone():  # where a fake answers, any name will do
                raise
            targets.append(element)
    return tuple(dict.fromkeys(targets))


def _shared(store: HealthStore, targets: tuple[str, ...]) -> tuple[str, ...]:
    if store.problem:
        raise APIConnectionError(f"only this process was changed: {store.problem}")
    return targets
