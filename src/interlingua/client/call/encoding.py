"""One request on the wire of one target, held to `strict`.

Not responsible for: media that a target does not take as they are (`core.prepared`), sending (`core`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from interlingua.client.call.effect import Work
from interlingua.dialects._contract import EncodeOptions
from interlingua.errors import UnsupportedError

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.job import Job, Lane
    from interlingua.client.options import Settings
    from interlingua.dialects._contract import Encoded, Target
    from interlingua.types.change import Change

__all__ = ["encode", "encode_options", "encoding", "settled"]


def encode(job: Job, lane: Lane, *, stream: bool, fitted: tuple[Change, ...] = ()) -> Encoded:
    """The request on the wire of one target; `fitted` is what was changed of its media before.

    Raises: UnsupportedError, also under `strict` for whatever would be dropped or approximated; HistoryError.
    """
    settings, endpoint, request = job.settings, lane.endpoint, job.request
    options = encode_options(endpoint.target, settings, stream=stream)
    if job.typed and not settings.strict:
        from interlingua.client.typed.ladder import encode_typed  # only typed answers need it

        encoded = encode_typed(lane.dialect, request, options)
    else:
        encoded = lane.dialect.encode_request(request, options)
    return settled(encoded, job, lane, fitted)


def encoding(job: Job, lane: Lane, *, stream: bool, fitted: tuple[Change, ...] = ()) -> Steps[Encoded]:
    """The steps of `encode` for a job with a writer.

    Raises: as `encode`, and what the writer raises.
    """
    options = encode_options(lane.endpoint.target, job.settings, stream=stream)
    here = partial(lane.dialect.encode_request, job.request, options)
    elsewhere = None if job.writer is None else partial(job.writer, lane.dialect, job.request, options)
    encoded = yield Work(here, elsewhere)
    return settled(encoded, job, lane, fitted)


def settled(encoded: Encoded, job: Job, lane: Lane, fitted: tuple[Change, ...]) -> Encoded:
    """A request that was encoded, with what was changed of its media, held to `strict`."""
    settings, endpoint = job.settings, lane.endpoint
    if fitted:
        encoded = msgspec.structs.replace(encoded, changes=fitted + encoded.changes)
    if settings.strict and encoded.changes:
        lost = tuple([change for change in encoded.changes if _loses(change)])
        if lost:
            listing = "; ".join(str(change) for change in lost)
            raise UnsupportedError(
                f"{endpoint.spec} cannot take the request as it is (strict): {listing}", changes=lost
            )
    return encoded


def _loses(change: Change) -> bool:
    """Whether a change takes something from what was said; the most tokens that an answer may have takes nothing."""
    is_insisted_on = change.code == "parameter_added" and change.path == "/max_tokens"
    return change.action in ("dropped", "approximated") and not is_insisted_on


def encode_options(target: Target, settings: Settings, *, stream: bool) -> EncodeOptions:
    """How a request for a target is encoded."""
    return EncodeOptions(
        target=target, stream=stream, stream_usage=stream, allow=settings.allow, history=settings.history_policy
    )
