"""A request's body on its way in: gathered, inflated, and bounded at every step.

Rules
- The bound holds for what was sent and for what it inflates to, whichever is reached first, piece by piece.
- A step inflates at most 4 MiB: whoever serves others meanwhile takes the next one in another turn of its loop.
- gzip and deflate are undone by the standard library; zstd where a module for it is installed (Python 3.14 has one).
- What is no such body is the client's fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from interlingua.errors import APIConnectionError, BadRequestError, LimitExceededError
from interlingua.gateway.serving.receiving import FREE_BYTES
from interlingua.transport.body import Body

if TYPE_CHECKING:
    from interlingua.gateway.serving.receiving import Share

__all__ = ["Inflating", "Intake", "too_large"]

_CLIENT = "the client"
_STEP_BYTES = 262_144
_TURN_BYTES = 4_194_304
"""How much one step inflates, about: a few milliseconds."""
_SMALL_BYTES = 4_096


class Intake:
    """One body, being received."""

    __slots__ = ("_body", "_count", "_limit", "_limit_bytes", "_pieces", "_sent", "_share", "_small", "is_behind")

    def __init__(
        self, coding: str, limit_bytes: int, announced_bytes: int = 0, *, limit: str = "", share: Share | None = None
    ) -> None:
        """An empty body of at most `limit_bytes`, of a content coding, of which so many bytes were announced.

        `limit` names the bound in errors, where it is not that of the whole gateway; `share` is its part of what may
        come of all bodies together.

        Raises: LimitExceededError for an announced length beyond the bound; BadRequestError for an unknown coding.
        """
        if announced_bytes > limit_bytes:
            raise too_large(limit_bytes, limit)
        coding = coding.strip().lower()
        self._limit_bytes = limit_bytes
        self._limit = limit
        self._share = share
        self.is_behind: bool = False
        """Whether something is there to be inflated, by `go_on`, before more is fed or the body is whole."""
        self._pieces: list[bytes] = []
        self._small = bytearray()
        self._count = 0
        self._sent = 0
        self._body = None if coding in ("", "identity") else _inflating(coding, limit_bytes)

    def feed(self, data: bytes) -> None:
        """Take one piece as it came.

        Raises: LimitExceededError beyond the bound; OverloadedError where too much of others is coming;
        BadRequestError for what is not what its coding says.
        """
        self._sent += len(data)
        if self._sent > self._limit_bytes:
            raise too_large(self._limit_bytes, self._limit)
        if self._body is None:
            self._keep(data)
            return
        self._body.feed(data)
        if not self.is_behind:
            self.go_on()

    def go_on(self) -> None:
        """Inflate some of what was fed.

        Raises: as `feed`.
        """
        if self._body is not None:
            self.is_behind = self._drain(self._body, _TURN_BYTES)

    def whole(self) -> bytes:
        """The whole body.

        Raises: as `feed`, and BadRequestError for a compressed body that was cut short.
        """
        if self._body is not None:
            self._body.end()
            self._drain(self._body, self._limit_bytes + 1)
        if self._small:
            self._pieces.append(bytes(self._small))
            self._small.clear()
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def _drain(self, body: Inflating, most_bytes: int) -> bool:
        """Inflate about so many bytes; whether there is more."""
        end = self._count + most_bytes
        try:
            while data := body.take():
                self._keep(data)
                if self._count >= end:
                    return True
        except APIConnectionError as error:
            reason = f"the body is not what its content-encoding says: {error.message}"
            raise BadRequestError(reason, status=400) from None
        except LimitExceededError:
            raise too_large(self._limit_bytes, self._limit) from None
        return False

    def _keep(self, data: bytes) -> None:
        self._count += len(data)
        if self._count > self._limit_bytes:
            raise too_large(self._limit_bytes, self._limit)
        if self._share is not None and self._count > FREE_BYTES:
            self._share.grow(self._count)
        if len(data) < _SMALL_BYTES:  # kept one by one, pieces of a few bytes would take thirty times their size
            self._small += data
            if len(self._small) < _STEP_BYTES:
                return
            data = b""
        if self._small:
            self._pieces.append(bytes(self._small))
            self._small.clear()
        if data:
            self._pieces.append(data)


class Inflating(Protocol):
    """A body that is fed compressed and taken inflated, a bounded piece at a time."""

    def feed(self, data: bytes) -> None:
        """Take one compressed piece."""

    def take(self) -> bytes:
        """The next inflated piece; `b""` when more input is needed."""
        ...

    def end(self) -> None:
        """Nothing more will be fed."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Zstd:
    """A body of one zstd frame."""

    def __init__(self, decompressor: _Decompressor) -> None:
        self._decompressor = decompressor
        self._waiting = b""
        self._ended = False

    def feed(self, data: bytes) -> None:
        self._waiting += data

    def take(self) -> bytes:
        source, waiting = self._decompressor, self._waiting
        self._waiting = b""
        if source.eof:
            if waiting:
                raise APIConnectionError("bytes follow the end of the zstd frame")
            return b""
        if not waiting and source.needs_input:
            if self._ended:
                raise APIConnectionError("the zstd body was cut short")
            return b""
        try:
            return source.decompress(waiting, _STEP_BYTES)
        except Exception as error:  # noqa: BLE001 - the class of its errors belongs to a module that may not be there
            raise APIConnectionError(f"not zstd: {error}") from None

    def end(self) -> None:
        self._ended = True


def _inflating(coding: str, limit_bytes: int) -> Inflating:
    if coding == "zstd":
        from importlib import import_module

        for name in ("compression.zstd", "backports.zstd"):
            try:
                module = import_module(name)
            except ImportError:
                continue
            return _Zstd(module.ZstdDecompressor())
    try:
        return Body(_CLIENT, limit_bytes=limit_bytes, coding=coding)
    except APIConnectionError:
        raise BadRequestError(
            f"content-encoding {coding[:40]!r} is not undone here; send the body as it is, or gzip", status=400
        ) from None


def too_large(limit_bytes: int, limit: str = "") -> LimitExceededError:
    """The error of a body beyond a bound, which `limit` names."""
    return LimitExceededError(f"the body is larger than {limit_bytes} bytes{limit and f', {limit}'}", status=413)
