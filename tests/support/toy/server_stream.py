"""The server's role, streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.stream.fold import error_of
from interlingua.types.event import StreamEnd, StreamError, TextDelta
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.types.event import Event

__all__ = ["ToyEncoder"]


class ToyEncoder(ResumingEncoder):
    """Server-sent events for the events of one answer."""

    def __init__(self, context: ServerContext) -> None:
        """An encoder for one answer."""
        self.context = context

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds."""
        match event:
            case TextDelta(text=text):
                frame: dict[str, object] = {"words": text}
            case StreamEnd():
                frame = {"why": "done"}
            case StreamError():
                frame = {"wrong": {"message": error_of(event).message}}
            case _:
                return b""
        return b"data: %b\n\n" % encode(frame)
