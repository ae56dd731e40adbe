"""The client's role, streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._answer import id_source
from interlingua.dialects._streams.runs import BuildingDecoder
from interlingua.errors import Error, IncompleteStreamError
from interlingua.stream.build import StreamBuilder
from interlingua.types.change import Changes
from interlingua.wire.json import decode_wire
from interlingua.wire.sse import SseDecoder
from tests.support.toy.wire import FrameWire

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext

__all__ = ["ToyDecoder"]


class ToyDecoder(BuildingDecoder):
    """Events from the bytes of one streamed answer."""

    def __init__(self, context: DecodeContext) -> None:
        """A decoder for the answer to the request that `context` tells of."""
        super().__init__()
        self.builder: StreamBuilder = StreamBuilder(Changes("toy", "decode_response"), id_source(context))
        self._framing = SseDecoder()
        self._model = context.target.model

    def _feed(self, data: bytes) -> None:
        for event in self._framing.feed(data):
            wire = decode_wire(event.data, FrameWire)
            if self.builder.start_event is None:
                self.builder.start(model=self._model, wire_model=None, id=wire.id)
            if wire.words:
                self.builder.text(wire.words)
            if wire.why is not None:
                self.builder.finish("stop", wire.why)
                self.builder.end()

    def _close(self) -> None:
        if not self.builder.ended:
            raise IncompleteStreamError("the stream ended without why")

    def _abort(self, error: Error) -> None:
        self.builder.fail(error)
