"""Transcripts of sounds, where a dialect has no sound in a turn of the model: its transcript is sent as text.

Rules
- The words of the model are the answer. They are told with an entry (`media_as_text`) instead of being let go with the
  sound; a sound without a transcript goes as it did.
- In a stream the text stands in the place of the sound, when that has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.types.content import AudioPart, TextPart
from interlingua.types.event import BlockEnd, BlockStart, TextDelta

if TYPE_CHECKING:
    from interlingua.types.change import Changes
    from interlingua.types.content import Part
    from interlingua.types.event import Event

__all__ = ["transcript_events", "transcript_text"]


def transcript_text(part: Part, changes: Changes, path: str) -> TextPart | None:
    """The transcript of a sound as text, with an entry; None for a part that is no sound or has none."""
    if not isinstance(part, AudioPart) or not part.transcript:
        return None
    changes.add("media_as_text", path, "the dialect has no sound in a turn of the model; its transcript is told")
    return TextPart(part.transcript)


def transcript_events(end: BlockEnd, changes: Changes) -> tuple[Event, ...]:
    """The transcript of a sound that has ended as a block of text in its place; nothing where there is none."""
    text = transcript_text(end.part, changes, f"/parts/{end.index}")
    if text is None:
        return ()
    return (
        BlockStart(end.index, "text", choice=end.choice),
        TextDelta(end.index, text.text, end.choice),
        BlockEnd(end.index, text, end.choice),
    )
