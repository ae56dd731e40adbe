"""The client's role, streamed: frames of ConverseStream to canonical events.

Rules
- A block begins with its first delta, unless it is a call, a result or a picture, whose start has an event.
- A call's arguments are the joined `input`; reasoning and its signature come in deltas of one block.
- `messageStop` is the terminal signal; `metadata` with the counts follows it, and ends the stream. Where the bytes end
  behind `messageStop` the answer is whole, too; a block behind it is refused.
- A signature may come in pieces, which are joined; so may redacted reasoning, byte by byte.
- An exception is a frame of its own. An event of an unknown name goes on as it is; padding says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from interlingua.dialects._answer import id_source
from interlingua.dialects._members import is_list, is_object, plain
from interlingua.dialects._streams.runs import BuildingDecoder
from interlingua.dialects.bedrock.assistant import OWN_CALLS, REDACTED, SIGNATURE, call_extra, read_step, sealed_by
from interlingua.dialects.bedrock.client import answer_members
from interlingua.dialects.bedrock.parts import NAME, read_citation
from interlingua.dialects.bedrock.reasons import decode_finish, error_of_body
from interlingua.dialects.bedrock.usage import decode_usage
from interlingua.dialects.bedrock.wire import DeltaWire, EventWire, check_union
from interlingua.errors import DecodeError, Error, IncompleteStreamError, LimitExceededError
from interlingua.stream.build import StreamBuilder
from interlingua.types.change import Changes
from interlingua.types.content import ImagePart, OpaquePart
from interlingua.wire.eventstream import EventStreamDecoder
from interlingua.wire.json import decode_any, decode_wire
from interlingua.wire.media import from_base64, to_base64

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodeContext
    from interlingua.dialects.bedrock.wire import ReasoningDeltaWire, StartWire
    from interlingua.stream.build import Block
    from interlingua.wire.eventstream import EventFrame

__all__ = ["ConverseStreamDecoder"]

_SILENT = frozenset({"ping", "initial-response"})
"""Events that say nothing."""


class _Open:
    """A block of the wire that has not stopped."""

    __slots__ = ("block", "image", "pieces", "raw", "seal")

    def __init__(self) -> None:
        self.block: Block | None = None
        self.raw: dict[str, Any] | None = None
        self.pieces: list[str] = []
        self.image: list[bytes] = []
        self.seal: tuple[str, str] | None = None


class ConverseStreamDecoder(BuildingDecoder):
    """Events from the bytes of one streamed answer."""

    def __init__(self, context: DecodeContext) -> None:
        """A decoder for the answer to the request that `context` tells of."""
        super().__init__()
        self.context = context
        self.builder: StreamBuilder = StreamBuilder(Changes(NAME, "decode_response"), id_source(context))
        self._framing = EventStreamDecoder()
        self._open: dict[int, _Open] = {}
        self._members: dict[str, Any] = {}
        self._stopped = False

    @property
    def terminal(self) -> bool:
        """Whether the end of the message came, behind which its counts may follow."""
        return self._stopped or self.builder.ended

    def _feed(self, data: bytes) -> None:
        for frame in self._framing.feed(data):
            if not self.builder.ended:
                self._frame(frame)

    def _close(self) -> None:
        self._framing.close()
        if self.builder.ended:
            return
        if not self._stopped:
            raise IncompleteStreamError("the stream ended without messageStop")
        self._end()

    def _abort(self, error: Error) -> None:
        if self.builder.ended:
            return
        self._finish_members()
        self.builder.fail(error)

    def _frame(self, frame: EventFrame) -> None:
        kind, payload = frame.headers.get(":message-type", "event"), frame.payload
        if kind != "event":
            name = frame.headers.get(":exception-type") or frame.headers.get(":error-code") or ""
            body = payload or frame.headers.get(":error-message", "").encode()
            raise error_of_body(body, None, exception=name)
        name = frame.headers.get(":event-type", "")
        reader = self._readers.get(name)
        if reader is None:
            if name not in _SILENT:
                self._begin()
                self.builder.extra_event(NAME, {name: decode_any(payload, repairs=[])})
            return
        repairs: list[str] = []
        event = decode_wire(payload, EventWire, repairs=repairs, lenient=True)
        self.changes.repaired(repairs)
        reader(self, event)

    # The answer as a whole

    def _begin(self) -> None:
        if self.builder.start_event is None:
            self.builder.start()

    def _message_start(self, event: EventWire) -> None:
        del event  # nothing but the role, which is known
        self._begin()

    def _message_stop(self, event: EventWire) -> None:
        self._begin()
        for index in list(self._open):
            self._flush(self._open.pop(index))
        self._members.update(answer_members(event))
        self.builder.finish(decode_finish(event.stopReason), event.stopReason)
        self._stopped = True

    def _metadata(self, event: EventWire) -> None:
        self._begin()
        if event.usage is not None:
            self.builder.update_usage(decode_usage(event.usage, self.changes))
        self._members.update(answer_members(event))
        if self._stopped:
            self._end()

    def _end(self) -> None:
        self._finish_members()
        self.builder.end()

    def _finish_members(self) -> None:
        if self._members:
            self.builder.extra[NAME] = self._members

    # Blocks

    def _state(self, event: EventWire) -> _Open:
        if self._stopped:
            raise DecodeError("a block behind messageStop", path="/contentBlockIndex")
        index = event.contentBlockIndex or 0
        state = self._open.get(index)
        if state is None:
            self._begin()
            self.builder.close_prose()
            state = self._open[index] = _Open()
        return state

    def _block_start(self, event: EventWire) -> None:
        self._open.pop(event.contentBlockIndex or 0, None)
        state, start = self._state(event), event.start
        if start is not None:
            _check(start, "/start")
        call = start.toolUse if start is not None else None
        if call is not None and call.type in OWN_CALLS:
            if not call.name:
                raise DecodeError("a tool call must have a name", path="/start/toolUse/name")
            undo = self.context.undo
            name = undo.names.get(call.name, call.name)
            state.block = self.builder.open_call(
                call.toolUseId, name, freeform=name in undo.freeform, extra=call_extra(call)
            )
        elif start is not None and (raw := plain(start)):
            state.raw = raw

    def _block_delta(self, event: EventWire) -> None:
        state, delta = self._state(event), event.delta or DeltaWire()
        _check(delta, "/delta")
        if delta.text is not None:
            if state.block is None and delta.text:
                state.block = self.builder.text(delta.text)
            elif delta.text:
                self._grow(state.block, delta.text)
        elif delta.reasoningContent is not None:
            self._reason(state, delta.reasoningContent)
        elif delta.toolUse is not None:
            self._input(state, delta.toolUse)
        elif delta.citation is not None:
            if state.block is None:
                state.block = self.builder.text("")
            block = _still_open(state.block)
            if block.kind != "text":
                raise DecodeError("a citation for a block that is no text", path="/delta/citation")
            self.builder.annotate(block, read_citation(delta.citation))
        elif state.raw is not None:
            self._grow_raw(state, state.raw, delta)
        else:
            self.builder.extra_event(NAME, {"contentBlockDelta": plain(event)})

    def _grow(self, block: Block | None, text: str) -> None:
        if block is not None and _still_open(block).kind == "text":
            self.builder.text(text)
        elif block is not None:
            raise DecodeError("text for a block that is none", path="/contentBlockIndex")

    def _reason(self, state: _Open, delta: ReasoningDeltaWire) -> None:
        if state.block is None:
            state.block = self.builder.thinking("")
        block = _still_open(state.block)
        if block.kind != "thinking":
            raise DecodeError("reasoning for a block that is none", path="/contentBlockIndex")
        if delta.text:
            self.builder.thinking(delta.text)
        name, value = (REDACTED, delta.redactedContent) if delta.redactedContent else (SIGNATURE, delta.signature)
        if not value:
            return
        if state.seal is not None:
            # one more piece of the seal, which is of the same kind
            before, text = state.seal
            path = f"/delta/reasoningContent/{name}"
            if name != before:
                raise DecodeError("reasoning is signed or redacted, not both", path=path)
            signed = name == SIGNATURE
            value = text + value if signed else to_base64(from_base64(text, path) + from_base64(value, path))
        state.seal = (name, value)
        self.builder.seal(block, sealed_by(name, value, self.context.target))

    def _input(self, state: _Open, delta: dict[str, Any]) -> None:
        piece = delta.get("input")
        if not isinstance(piece, str | None):
            raise DecodeError("the input of a call comes as text", path="/delta/toolUse/input")
        if not piece:
            return
        if state.raw is not None:
            state.pieces.append(piece)
        elif state.block is not None and state.block.kind == "tool_call":
            self.builder.call_arguments(_still_open(state.block), piece)
        else:
            raise DecodeError("arguments for a block that is no call", path="/contentBlockIndex")

    def _grow_raw(self, state: _Open, raw: dict[str, Any], delta: DeltaWire) -> None:
        """More of a block that comes whole when it stops: a result of the service's own tool, or a picture."""
        result = raw.get("toolResult")
        if is_object(result) and is_list(delta.toolResult):
            if not is_list(result.setdefault("content", [])):
                raise DecodeError("the content of a result is a list", path="/start/toolResult/content")
            result["content"].extend(delta.toolResult)
        elif is_object(raw.get("image")) and delta.image is not None:
            source = delta.image.get("source")
            data = source.get("bytes") if is_object(source) else None
            if isinstance(data, str):
                state.image.append(from_base64(data, "/delta/image/source/bytes"))
            else:
                raw["image"] |= delta.image
        else:
            self.builder.extra_event(NAME, {"contentBlockDelta": {"delta": plain(delta)}})

    def _block_stop(self, event: EventWire) -> None:
        state = self._open.pop(event.contentBlockIndex or 0, None)
        if state is not None:
            self._flush(state)

    def _flush(self, state: _Open) -> None:
        """Close a block, as far as it came."""
        block, raw = state.block, state.raw
        if raw is not None:
            self._whole(state, raw)
        elif block is None:
            return
        elif block.kind == "tool_call":
            self.builder.close_call(block)
        elif self.builder.open_prose() is block:
            self.builder.close_prose()

    def _whole(self, state: _Open, raw: dict[str, Any]) -> None:
        image = raw.get("image")
        if is_object(image) and state.image:
            form = image.pop("format", None)
            self.builder.whole(
                ImagePart(b"".join(state.image), f"image/{form}", extra={NAME: image} if image else {}), "image"
            )
            return
        if "toolUse" not in raw and "toolResult" not in raw:  # a picture that is elsewhere, or what nobody knows
            self.builder.whole(OpaquePart(NAME, "media_ref" if image is not None else next(iter(raw)), raw), "opaque")
            return
        if state.pieces and is_object(raw.get("toolUse")):
            text = "".join(state.pieces)
            try:
                raw["toolUse"]["input"] = decode_any(text)
            except (DecodeError, LimitExceededError):
                raw["toolUse"]["input"] = text
        self.builder.whole(read_step(raw, self.context.target.provider or None), "server_tool")

    _readers: ClassVar[dict[str, Callable[[ConverseStreamDecoder, EventWire], None]]] = {
        "messageStart": _message_start,
        "contentBlockStart": _block_start,
        "contentBlockDelta": _block_delta,
        "contentBlockStop": _block_stop,
        "messageStop": _message_stop,
        "metadata": _metadata,
    }


def _check(wire: DeltaWire | StartWire, path: str) -> None:
    """Raises: DecodeError with the place, for more than one thing that a block is to be."""
    try:
        check_union(wire)
    except DecodeError as error:
        raise error.under(path) from None


def _still_open(block: Block) -> Block:
    """The block; a DecodeError where another one began behind it, and what it is has been told."""
    if block.part is not None:
        raise DecodeError(f"a delta for block {block.index}, which is not open", path="/contentBlockIndex")
    return block
