"""Failures on the way, as one readable sentence: who was not reached, why, and the way out.

Rules
- A sentence names host and port, never a URL, a header or a credential.
- What the caller has to change (a certificate, a proxy) is not retryable; what may pass by itself is.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from msgspec import Struct

from interlingua.errors import APIConnectionError, APITimeoutError

if TYPE_CHECKING:
    from interlingua.errors import Phase
    from interlingua.transport.base import Timeouts

__all__ = ["CROSSING_S", "Deadlines", "connecting_failed", "exchange_failed", "is_torn"]

CROSSING_S = 1.0
"""How soon after sending a close counts as having crossed the request on the wire: a generous round trip."""

_NEVER = float("inf")

_LIMITS: dict[Phase, str] = {
    "connect": "connect_s",
    "first_byte": "first_byte_s",
    "idle": "idle_s",
    "total": "total_s",
    "pool": "pool_s",
}
_WHAT: dict[Phase, str] = {
    "connect": "{peer} was not connected within {seconds:g} s (Timeouts.connect_s)",
    "first_byte": "{peer} did not begin to answer within {seconds:g} s (Timeouts.first_byte_s)",
    "idle": "{peer} fell silent for {seconds:g} s in the middle of an exchange (Timeouts.idle_s)",
    "total": "{peer} was not done within {seconds:g} s (Timeouts.total_s)",
    "pool": "no connection to {peer} became free within {seconds:g} s: close replies, or raise max_connections",
}


class Deadlines(Struct, frozen=True, gc=False):
    """When each phase of one exchange has to be over; the whole comes first where it is shorter."""

    timeouts: Timeouts
    """How long each phase may take."""
    peer: str
    """The peer of the exchange."""
    began_at_s: float
    """When it began."""
    ends_at_s: float = _NEVER
    """When all of it is over at the latest, whatever the timeouts allow."""

    def within(self, seconds: float, now: float) -> Deadlines:
        """These deadlines, all of them over in `seconds` at the latest."""
        return Deadlines(self.timeouts, self.peer, self.began_at_s, min(self.ends_at_s, now + seconds))

    def by(self, phase: Phase, now: float) -> tuple[float, Phase]:
        """When `phase`, beginning at `now`, is over, and which deadline says so."""
        total_s, ends = self.timeouts.total_s, self.ends_at_s
        if total_s is not None and self.began_at_s + total_s < ends:
            ends = self.began_at_s + total_s
        if phase == "total":
            return ends, phase
        seconds: float | None = getattr(self.timeouts, _LIMITS[phase])
        at = _NEVER if seconds is None else now + seconds
        return (at, phase) if at <= ends else (ends, "total")

    def passed(self, phase: Phase) -> APITimeoutError:
        """The error for a deadline that passed."""
        return APITimeoutError(
            _WHAT[phase].format(peer=self.peer, seconds=getattr(self.timeouts, _LIMITS[phase]) or 0), phase=phase
        )


def connecting_failed(error: OSError, peer: str, *, via: str | None = None) -> APIConnectionError:
    """The error for a connection that was not made; `via` is the proxy in between."""
    host = f"{peer} (through the proxy {via})" if via else peer
    match error:
        case ConnectionRefusedError():
            problem = APIConnectionError(f"cannot connect to {host}: connection refused; is the server running?")
        case socket.gaierror():
            problem = APIConnectionError(f"cannot resolve the host of {host}: check its spelling and the network")
        case TimeoutError():
            problem = APIConnectionError(f"cannot connect to {host}: no answer; check address, network and proxy")
        case ConnectionResetError() | BrokenPipeError():
            problem = APIConnectionError(f"cannot connect to {host}: it closed the connection at once")
        case _:
            problem = _tls_failed(error, host) or APIConnectionError(f"cannot connect to {host}: {_reason(error)}")
    problem.reached = False
    return problem


def exchange_failed(error: OSError, peer: str) -> APIConnectionError:
    """The error for a connection that broke in the middle of an exchange."""
    if isinstance(error, (ConnectionResetError, BrokenPipeError, ConnectionAbortedError)):
        return APIConnectionError(f"{peer} closed the connection before the reply was whole")
    return _tls_failed(error, peer) or APIConnectionError(f"the connection to {peer} broke: {_reason(error)}")


def is_torn(error: OSError) -> bool:
    """Whether a connection ended without the end of TLS that has to come before."""
    import ssl  # here, because a failure is rare and ssl takes 10 ms to import

    return isinstance(error, ssl.SSLEOFError)


def _tls_failed(error: OSError, host: str) -> APIConnectionError | None:
    import ssl  # here, because a failure is rare and ssl takes 10 ms to import

    match error:
        case ssl.SSLCertVerificationError(verify_message=why):
            way_out = "set SSL_CERT_FILE to the PEM file of its authority"
            return APIConnectionError(f"the certificate of {host} is not trusted ({why}): {way_out}", retryable=False)
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return APIConnectionError(f"{host} closed the connection during TLS")
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER" | "RECORD_LAYER_FAILURE" | "HTTP_REQUEST"):
            return APIConnectionError(
                f"{host} does not speak TLS: is it http:// instead of https://? (in a DSN: tls=0)", retryable=False
            )
        case ssl.SSLError():
            return APIConnectionError(f"TLS with {host} failed: {error.reason or 'no reason given'}")
        case _:
            return None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()
