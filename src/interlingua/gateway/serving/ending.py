"""What a request is told that the end of the gateway cuts off."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from interlingua.errors import OverloadedError

if TYPE_CHECKING:
    from interlingua.gateway.core import Gateway

__all__ = ["cut_off"]


def cut_off(gateway: Gateway, cancelled: asyncio.CancelledError) -> OverloadedError:
    """The error to tell in the place of a cancellation that is the gateway's own end.

    Raises: the cancellation itself where it is anybody else's.
    """
    task = asyncio.current_task()
    if not gateway.is_ending or task is None:
        raise cancelled
    task.uncancel()
    return OverloadedError("this gateway is being stopped, and the time to finish is over; ask again", status=503)
