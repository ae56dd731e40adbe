"""A request on its way in: screened by its head, then gathered, whoever serves it.

Rules
- Who may not ask has no body read.
- A body is bounded by the gateway's `max_body_bytes` and by that of the key, whichever is less.
- What has come of all bodies together is bounded, too (`receiving`), until each is whole.
- What may be asked counts twice: when the head is there, and again where it has changed while the body came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.errors import Error
from interlingua.gateway.serving.bodies import Intake
from interlingua.gateway.serving.receiving import Share

if TYPE_CHECKING:
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayReply, GatewayRequest

__all__ = ["RequestIntake"]


class RequestIntake:
    """One request while it comes; `refusal` is looked at after every step."""

    __slots__ = ("_gateway", "_intake", "_ring", "_share", "refusal", "request")

    def __init__(self, gateway: Gateway, request: GatewayRequest, announced_bytes: int = 0) -> None:
        """A request of which the head is there; its body, too, where that came along and is not compressed."""
        self._gateway = gateway
        self._ring = gateway.guard.keys
        self._intake: Intake | None = None
        self._share: Share | None = None
        self.request: GatewayRequest = request
        """The request."""
        self.refusal: GatewayReply | None = gateway.begin(request)
        """The reply that ends it instead of going on; None while nothing is wrong."""
        if self.refusal is None and not request.body:
            coding, settings = request.header("content-encoding") or "", gateway.settings
            most_bytes = max(settings.max_receiving_bytes, settings.max_body_bytes)
            try:
                limit_bytes, limit = gateway.body_limit(request)
                share = Share(
                    gateway.receiving, most_bytes, gateway.guard.name_of(request), min(announced_bytes, limit_bytes)
                )
                self._intake, self._share = (
                    Intake(coding, limit_bytes, announced_bytes, limit=limit, share=share),
                    share,
                )
            except Error as error:
                self._refuse(error)
            request.welcome = None  # until its body is there, a key may have been taken away

    @property
    def is_behind(self) -> bool:
        """Whether `go_on` has something to do before the body can end; others are to have a turn in between."""
        return self._intake is not None and self._intake.is_behind and self.refusal is None

    def _refuse(self, error: Error) -> None:
        self.refusal = self._gateway.refuse(self.request, error)
        self.release()

    def release(self) -> None:
        """Let go of what has come of the body, unless it is whole; a second time does nothing."""
        if self._share is not None:
            self._share.release()
            self._intake = self._share = None

    def feed(self, data: bytes) -> None:
        """Take a piece of the body as it came; after a refusal it is left out."""
        if self.refusal is None and self._intake is not None:
            try:
                self._intake.feed(data)
            except Error as error:
                self._refuse(error)

    def go_on(self) -> None:
        """Inflate some more of what was fed."""
        if self.refusal is None and self._intake is not None:
            try:
                self._intake.go_on()
            except Error as error:
                self._refuse(error)

    def end(self) -> None:
        """The body is whole: `request` has it now, unless there is a refusal."""
        gateway = self._gateway
        if self._intake is not None and self.refusal is None:
            try:
                body = self._intake.whole()
            except Error as error:
                self._refuse(error)
                return
            self.release()
            if body:
                self.request.body = body
        if gateway.guard.keys is not self._ring and self.refusal is None:
            self.request.welcome = None
            self.refusal = gateway.screen(self.request)

    def sent(self) -> None:
        """The last byte of the answer went out."""
        if self.request.entry is not None:
            self.request.entry.sent()

    def done(self) -> None:
        """It is over: whoever wants to know is told."""
        self.release()
        if self.request.entry is not None:
            self.request.entry.done()
