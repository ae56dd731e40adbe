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
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.options import Settings
    from interlingua.dialects._contract import Encoded, Target
    from interlingua.types.change import Change

__all__ = ["encode", "encode_options", "encoding", "settled"]


def encode(call: Call, target: CallTarget, *, stream: bool, fitted: tuple[Change, ...] = ()) -> Encoded:
    """The request on the wire of one target; `fitted` is what was changed of its media before.

    Raises: UnsupportedError, also under `strict` for whatever would be dropped or approximated; HistoryError.
    """
    settings, endpoint, request = call.settings, target.endpoint, call.request
    options = encode_options(endpoint.target, settings, stream=stream)
    if call.typed and not settings.strict:
        from interlingua.client.typed.fallbacks import encode_typed  # only typed answers need it

        encoded = encode_typed(target.dialect, request, options)
    else:
        encoded = target.dialect.encode_request(request, options)
    return settled(encoded, call, target, fitted)


def encoding(call: Call, target: CallTarget, *, stream: bool, fitted: tuple[Change, ...] = ()) -> Steps[Encoded]:
    """The steps of `encode` for a call with a writer.

    Raises: as `encode`, and what the writer raises.
    """
    options = encode_options(target.endpoint.target, call.settings, stream=stream)
    here = partial(target.dialect.encode_request, call.request, options)
    elsewhere = None if call.writer is None else partial(call.writer, target.dialect, call.request, options)
    encoded = yield Work(here, elsewhere)
    return settled(encoded, call, target, fitted)


def settled(encoded: Encoded, call: Call, target: CallTarget, fitted: tuple[Change, ...]) -> Encoded:
    """A request that was encoded, with what was changed of its media, held to `strict`."""
    settings, endpoint = call.settings, target.endpoint
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
