"""What stands around the messages of a known conversation: written once, since every turn of an agent says it again.

Strategy: a request that says, its messages aside, what an earlier one of the same conversation said to the same target
differs from it in the text of the messages alone. The bytes before and behind that text, what writing them changed and
what is to be undone in the answer are kept with the conversation, and a request that goes on with it is these bytes
around its own messages.

Rules
- "The same" is compared by value: all of a request but messages, tools and system text as canonical JSON (known of the
  very request that was read), system text and options as they are. Tools are the very list that was read before, and
  none of them was given members of its own.
- A frame belongs to a conversation and to what goes on with it. What a dialect asks of the beginning of the history is
  the same for all of it (who speaks first, whether JSON is spoken of). What it asks of the rest is looked at each time:
  the tools that are called, the ids of the calls, marks for the prompt cache.
- What is refused is never kept; an entry that writing the messages made stands where it always stands.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from interlingua.dialects._contract import Encoded, Undo
from interlingua.dialects._known.histories import KnownMessages, says_something
from interlingua.dialects._known.tools import KnownTools
from interlingua.schema.names import fit_as_they_are
from interlingua.types.change import Changes

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from interlingua.dialects._contract import CallIdRule, EncodeOptions, Target
    from interlingua.dialects._known.histories import KnownHistory, WrittenHistory
    from interlingua.dialects._usual.histories import WriteUsual
    from interlingua.types.change import Change
    from interlingua.types.content import TextPart
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.wire.http import Headers

    WriteRest = Callable[[Target, Changes, tuple[Message, ...], int], list[Any]]

__all__ = ["MAX_FRAMES", "MAX_FRAME_BYTES", "Frame", "asked_beside", "framed", "keep_frame"]

MAX_FRAMES = 6
"""How many frames a conversation has: one for each way in which it is written."""
MAX_FRAME_BYTES = 65_536
"""A frame with more bytes of its own, known tools aside, is not kept."""
_ENCODE = msgspec.json.Encoder().encode


class Frame(msgspec.Struct, frozen=True, eq=False):
    """A written request without its messages."""

    dialect: str
    """The dialect in which it is written."""
    asked: bytes
    """What was asked, messages, tools and system text aside."""
    system: tuple[TextPart, ...]
    """The system text."""
    tools: object
    """What the known tools have in common with every other request that has them; None where there are none."""
    options: EncodeOptions
    """How it was to be written."""
    ways: tuple[object, ...]
    """What decides how the messages are written."""
    write: WriteRest
    """Writes the messages from a place on."""
    write_usual: WriteUsual
    """Writes usual messages in one go."""
    ids: CallIdRule
    """Which call ids are taken."""
    names: frozenset[str]
    """The names of tools that are known to be taken."""
    before: tuple[bytes, ...]
    """What stands before the messages."""
    after: tuple[bytes, ...]
    """What stands behind them."""
    told_before: tuple[Change, ...]
    """What was changed before the messages were written."""
    told_after: tuple[Change, ...]
    """What was changed after that."""
    path: str
    """Where it is sent."""
    headers: Headers
    """The headers that it needs."""
    undo: Undo
    """What has to be undone, ids of calls aside."""
    fits: Callable[[bytes], bool] | None = None
    """Says of the last messages on the wire, from a turn of the model on, whether they are framed so; None: always."""


def asked_beside(request: Request) -> bytes | None:
    """What a request asks beside messages, tools and system text; None where that cannot be told from anything else."""
    try:
        asked = _ENCODE(msgspec.structs.replace(request, messages=(), tools=(), system=()))
    except (TypeError, ValueError, RecursionError):
        return None
    return None if b"null" in asked else asked  # it may stand for a number that is not finite


def _asked(request: Request, known: KnownHistory) -> bytes | None:
    """The same; it is known of the very request that was read, unless members were put into it since."""
    handed, known.handed = known.handed, None
    if handed is not None and handed[0] is request and not request.extra:
        return handed[1]
    return asked_beside(request)


def shared_of(request: Request) -> tuple[bool, object]:
    """Whether the tools of a request are known ones or none, and what those have in common that are the same."""
    tools = request.tools
    if type(tools) is KnownTools:
        return tools.is_sealed or tools.untouched, tools.written
    return not tools, None


def framed(dialect: str, request: Request, options: EncodeOptions) -> Encoded | None:
    """The request on the wire, if a turn of the same conversation was written for the same target before."""
    messages = request.messages
    if type(messages) is not KnownMessages or not messages.known.frames:
        return None
    known = messages.known
    is_shared, tools = shared_of(request)
    asked = _asked(request, known) if is_shared else None
    if asked is None:
        return None
    for frame in known.frames:
        if (
            frame.tools is tools
            and frame.asked == asked
            and frame.dialect == dialect
            and frame.options == options
            and frame.names.issuperset(known.called)
            and frame.system == request.system
        ):
            found = _filled(frame, known)
            if found is not None or frame.fits is None:
                return found
    return None


def _filled(frame: Frame, known: KnownHistory) -> Encoded | None:
    """The frame around the messages of a conversation; None where these must be written as a whole."""
    written = _written(frame, known)
    if written is None or (frame.fits is not None and not frame.fits(_end_of(frame, known, written.text))):
        return None
    undo = frame.undo
    return Encoded(
        path=frame.path,
        body=b"".join((*frame.before, written.text, *frame.after)),
        headers=frame.headers,
        changes=frame.told_before + written.entries + frame.told_after,
        undo=Undo(
            tool_names=undo.tool_names,
            freeform=undo.freeform,
            first_index=len(known.calls),
            taken_ids=known.taken_ids,
            output=undo.output,
        ),
    )


def _end_of(frame: Frame, known: KnownHistory, text: bytes) -> bytes:
    """The last messages of a text, from a turn of the model on, if that can be told; else all."""
    before = None if known.parent is None else known.parent.written(frame.ways)
    if before is None or not says_something(known.rest):
        return text
    return b"[%b" % text[len(before.text) :]


def _written(frame: Frame, known: KnownHistory) -> WrittenHistory | None:
    """The messages, if they were written so before, or those before the rest were."""
    found = known.written(frame.ways)
    if found is not None:
        return found
    parent = known.parent
    if parent is None or known.rest[0].role != "assistant":
        return None
    before = _written(frame, parent)
    if before is None or not fit_as_they_are(known.calls[len(parent.calls) :], frame.ids):
        return None
    options = frame.options
    text = frame.write_usual(known.rest, options.target)
    if text:
        return known.write_on(before, text)
    if not says_something(known.rest):
        return None
    changes = Changes(frame.dialect, "encode_request", options.allow)
    if known.is_marked:
        return known.write_marked(frame.ways, changes, partial(frame.write, options.target, changes))
    known.write(frame.ways, changes, partial(frame.write, options.target, changes))
    return known.written(frame.ways)  # nothing where something was refused


def keep_frame(known: KnownHistory, frame: Frame) -> None:
    """Remember what stands around a conversation, if it is not too much."""
    if len(frame.asked) + sum(map(len, (*frame.before, *frame.after))) <= MAX_FRAME_BYTES:
        known.frames[:] = [*known.frames[1 - MAX_FRAMES :], frame]
