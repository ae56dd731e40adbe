"""The batches that a provider has of one account: listed, shown, cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.client.batch.batch import batch_target, batches_at
from interlingua.client.batch.service import BatchService, skipped_line
from interlingua.client.call.pump import carried_out
from interlingua.client.face import Face, call_of
from interlingua.dialects._batches import is_id
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from interlingua.dialects._batches import BatchInfo

__all__ = ["cancel_batch", "listed_batches", "shown_batch"]

POLL_S = 5.0
"""The longest pause between two tries of a call that fails."""


def listed_batches(provider: str, most: int) -> tuple[list[BatchInfo], str]:
    """The newest batches of a provider, at most so many, and a sentence of the entries of its list that show none.

    Raises: UnknownModelError and ConfigError for a provider that is not known, has no batches or no key;
        TransportError; UpstreamError; DecodeError.
    """
    batches, strange = carried_out(_service(provider).list(most))
    return batches, skipped_line(strange) if strange else ""


def shown_batch(provider: str, name: str) -> BatchInfo:
    """The batch of that id. Raises: as `listed_batches`; UsageError for what is no id."""
    return carried_out(_service(provider).show(_checked(name)))


def cancel_batch(provider: str, name: str) -> None:
    """Cancel the batch of that id; what was answered before stays. Raises: as `shown_batch`."""
    carried_out(_service(provider).cancel(_checked(name)))


def _checked(name: str) -> str:
    if not is_id(name):
        raise UsageError("a batch is named by the id that `il batches` lists: printable ASCII without `..`")
    return name


def _service(provider: str) -> BatchService:
    call = call_of(Face(f"{provider}/batches"), "x", None, {})
    target = batch_target(call)
    batches = batches_at(target.endpoint)
    assert batches is not None  # noqa: S101 - that is the target's sense
    return BatchService(call, target, batches, POLL_S, POLL_S)
