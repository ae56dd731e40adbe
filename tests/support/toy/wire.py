"""The shapes of the toy dialect."""

from __future__ import annotations

from interlingua.wire.json import WireStruct

__all__ = ["FrameWire", "LineWire", "RequestWire"]


class LineWire(WireStruct):
    """One turn of a conversation."""

    by: str
    words: str


class RequestWire(WireStruct):
    """A request."""

    model: str = ""
    lines: list[LineWire] = []
    stream: bool = False
    most: int | None = None


class FrameWire(WireStruct):
    """A whole answer, or a piece of one; the last piece has `why`."""

    words: str = ""
    why: str | None = None
    id: str | None = None
