"""How a map goes by batches, and whether it can.

Rules
- A batch needs a journal: it takes hours, and what is not written down is paid for and lost.
- The first target of a chain that has batches takes them all; a live call goes through the whole chain.
- Where something in this process stands in for every model, as in tests, there are no batches: it is asked live.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interlingua.dialects._batches import batches_of
from interlingua.dialects.table import get_service, is_dialect
from interlingua.errors import ConfigError, UsageError, kind_of

if TYPE_CHECKING:
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.map import Terms
    from interlingua.dialects._batches import Batches
    from interlingua.registry.endpoint import Endpoint

__all__ = ["Batch", "batch_target", "batches_at", "check_batch", "providers_with_batches"]


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """How batches are waited for, and what becomes of requests that they left unanswered."""

    poll_s: float = 60.0
    """The longest pause between two looks at a batch; the first ones are shorter."""
    wait_s: float = 180_000.0
    """How long to wait for the batches at most: 50 hours, when every service has given up; then the map ends, and its
    rerun waits again."""
    live: bool = True
    """Whether requests that expired or were cancelled in their batch are asked live, at the full price; else that is
    their items' error."""
    keep: bool = False
    """Whether what was handed over stays at the provider when its results are in the journal; else it is deleted."""
    max_requests: int | None = None
    """The most requests of one batch; None for the service's own limit."""


def check_batch(terms: Terms, call: Call) -> None:
    """Nothing; the map can go by batches.

    Raises: UsageError for terms that do not fit batches; ConfigError where no target has batches, with the providers
        that have them.
    """
    batch = terms.batch
    if batch is not True and not isinstance(batch, Batch):
        raise UsageError(f"batch takes True or an il.Batch, not {kind_of(batch)}")
    if isinstance(batch, Batch):
        for name in ("poll_s", "wait_s"):
            value = getattr(batch, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise UsageError(f"{name} takes seconds above 0, not {value!r:.60}")
        if type(batch.keep) is not bool or type(batch.live) is not bool:
            raise UsageError("live and keep take True or False")
        most = batch.max_requests
        if most is not None and (type(most) is not int or most < 1):
            raise UsageError(f"max_requests takes a number from 1 on, not {most!r:.60}")
    if terms.journal is None:
        raise UsageError("batch=True needs journal=…: a batch takes hours, and only the journal finds it again")
    if call.with_credential:
        batch_target(call)


def batches_at(endpoint: Endpoint) -> Batches | None:
    """The batches of a target; None where it has none."""
    return batches_of(get_service(endpoint.dialect), endpoint.target.quirks)


def batch_target(call: Call) -> CallTarget:
    """The target that takes the batches of a call.

    Raises: ConfigError where none has any.
    """
    for target in call.targets:
        if batches_at(target.endpoint) is not None:
            return target
    names = ", ".join([target.endpoint.provider for target in call.targets])
    *others, last = providers_with_batches()
    raise ConfigError(f"{names} has no batches; {', '.join(others)} and {last} have them")


def providers_with_batches() -> list[str]:
    """The names of the rows whose servers have batches."""
    from interlingua.providers.rows import ROWS  # only who is refused or lists them needs all rows

    names: list[str] = []
    for row in ROWS.values():
        dialects = [name for name in row.dialects if is_dialect(name)]
        if dialects and batches_of(get_service(dialects[0]), row.quirks) is not None:
            names.append(row.name)
    return names
