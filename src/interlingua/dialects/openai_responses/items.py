"""Parts of the assistant into items.

Rules
- In a history, text without our seal is a message with a string; in a reply, neighbouring texts are one message.
- What has no seal of ours gets no `id` in a history, since made up ones are refused; in a reply it gets one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec import Raw

from interlingua.dialects._citations import own_values
from interlingua.dialects._contract import Target
from interlingua.dialects._foreign import note_others
from interlingua.dialects._members import is_object, merge_members, object_in
from interlingua.dialects._openai.calls import freeform_input
from interlingua.dialects._seals import note_seal, seal_fits
from interlingua.dialects._steps import answer_thinking, at_home, history_text
from interlingua.dialects._transcripts import transcript_text
from interlingua.dialects.openai_responses.assistant import COMPLETED, FREEFORM_END
from interlingua.dialects.openai_responses.parts import ITEM_MEMBERS, NAME, SPOKEN, annotations_of
from interlingua.dialects.openai_responses.wire import ItemWire, PartWire
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.wire.json import encode_text, raw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import Part, Sealed

__all__ = ["ItemEncoder", "ItemIds", "bare_items", "bare_reply", "opaque_item", "tail_of"]

NOBODY = Target()
_NOTHING: dict[str, Any] = {}
_KNOWN_BY = ("id", "encrypted_content", "content")
"""Members by which its provider knows a piece of reasoning again; a summary alone is refused."""


def tail_of(response_id: str) -> str:
    """The part of an answer's id that the ids of its items have, too."""
    tail = response_id.removeprefix("resp_").replace("-", "")
    return tail if tail.isalnum() else "".join(filter(str.isalnum, tail))


class ItemIds:
    """Makes ids for the items of one answer: the answer's own id and a number."""

    __slots__ = ("_number", "_tail")

    def __init__(self, response_id: str) -> None:
        """Ids that go with the answer `response_id`."""
        self._tail = tail_of(response_id)
        self._number = 0

    def __call__(self, prefix: str) -> str:
        """The id of the next item."""
        self._number += 1
        return f"{prefix}_{self._tail}{self._number:02}"


class ItemEncoder:
    """Writes the parts of the assistant as items."""

    def __init__(
        self,
        changes: Changes,
        *,
        target: Target = NOBODY,
        names: Mapping[str, str] | None = None,
        ids: Mapping[str, str] | None = None,
        reply: bool = False,
        make_id: Callable[[str], str] | None = None,
    ) -> None:
        """`names` and `ids` map the caller's own to those of the wire; `make_id` makes the ids of a reply's items."""
        self.changes = changes
        self.target = target
        self.names: Mapping[str, str] | dict[str, str] = names or {}
        self.ids: Mapping[str, str] | dict[str, str] = ids or {}
        self.reply = reply
        self.make_id = make_id
        self.items: list[ItemWire] = []
        self._open: tuple[ItemWire, object] | None = None
        self._thoughts: dict[int, str] = {}
        """Places of reasoning with an id among the items, and where in the request it stands."""

    def encode(self, parts: Sequence[Part], path: str) -> list[ItemWire]:
        """The items of `parts`; `path` points to the value that holds them."""
        for place, part in enumerate(parts):
            self.part(part, f"{path}/parts/{place}")
        if self._thoughts and self.target.quirks.reasoning_followed:
            self._put_before_followers()
        return self.items

    def _put_before_followers(self) -> None:
        """Put each piece of reasoning directly before what it led to; where there is nothing, leave it out."""
        items: list[ItemWire] = []
        waiting: list[tuple[ItemWire, str]] = []
        moved: set[str] = set()
        for place, wire in enumerate(self.items):
            if place in self._thoughts:
                waiting.append((wire, self._thoughts[place]))
                continue
            kind = wire.type or ""  # a text can follow only under its own id
            if kind.endswith("_call") or kind == "compaction" or (kind == "message" and wire.id is not None):
                items += [thought for thought, _ in waiting]
                waiting = []
            else:
                moved.update(path for _, path in waiting)
            items.append(wire)
        alone = [path for _, path in waiting]
        for path in sorted(moved.difference(alone)):
            self.changes.add("order_changed", path, "the reasoning is told directly before the item that it led to")
        for path in alone:
            self.changes.add("thinking_unsupported", path, "the item that the reasoning led to does not follow it")
        self.items = items

    def part(self, part: Part, path: str) -> None:
        """Write one part into `items`, or into the message that is open."""
        match part:
            case TextPart() | RefusalPart():
                self._prose(part, path)
            case ThinkingPart():
                self._thinking(part, path)
            case ToolCall() | BrokenToolCall():
                self._call(part, path)
            case ImagePart():
                self._image(part, path)
            case ServerToolPart():
                self._step(part, path)
            case OpaquePart():
                self._opaque(part, path)
            case AudioPart():
                self._audio(part, path)
            case DocumentPart():
                self._no_place("documents", part, path)
            case ToolResult():
                self.changes.add("opaque_part", path, "an assistant message holds no ToolResult", action="dropped")

    def _audio(self, part: AudioPart, path: str) -> None:
        own = part.extra.get(NAME, {})
        if SPOKEN in own:
            wire = PartWire(type=SPOKEN)
            merge_members(wire, {"data": part.base64, "transcript": part.transcript, **own[SPOKEN]})
            self._add_content(wire, object_in(own, "item"), new="new_item" in own)
            return
        text = transcript_text(part, self.changes, path)
        if text is None:
            self._no_place("audio", part, path)
        else:
            self._prose(text, path)

    def _no_place(self, code: str, part: Part, path: str) -> None:
        """Leave out a part that a reply cannot say; in a history it is refused, unless that is allowed."""
        why = f"no item of the assistant holds {type(part).__name__}"
        self.changes.add(code, path, why, action="dropped" if self.reply else None)

    def _add(self, wire: ItemWire, prefix: str) -> None:
        if self.reply and wire.id is None and self.make_id is not None:
            wire.id = self.make_id(prefix)
        self.items.append(wire)
        self._open = None

    def _members(self, sealed: Sealed | None, path: str) -> dict[str, Any] | None:
        """The members of a seal of ours; None without one."""
        if sealed is None:
            return None
        if seal_fits(sealed, NAME, self.target):
            return sealed.data
        note_seal(self.changes, sealed, path, self.target)
        return None

    # Messages

    def _prose(self, part: TextPart | RefusalPart, path: str) -> None:
        extra = part.extra.get(NAME, {})
        members = self._members(part.sealed, path) if isinstance(part, TextPart) else object_in(extra, "item")
        if isinstance(part, TextPart) and part.cache is not None and not self.reply:
            self.changes.add("cache_unsupported", f"{path}/cache")
        if isinstance(part, TextPart) and members is None and not self.reply:
            self._plain(part, path)
            return
        self._add_content(self.content(part, path), members or {}, new="new_item" in extra)

    def _plain(self, part: TextPart, path: str) -> None:
        """Text of a history that has no seal: the easy form of a message."""
        if part.annotations:
            own_values(part.annotations, "", self.changes, f"{path}/annotations")
        self.items.append(ItemWire(role="assistant", content=part.text))
        self._open = None

    def content(self, part: TextPart | RefusalPart, path: str) -> PartWire:
        """The content part that a text or a refusal is."""
        if isinstance(part, TextPart):
            own: list[dict[str, Any]] = []
            if part.annotations and self.reply:
                own = annotations_of(part, self.changes, f"{path}/annotations")
            elif part.annotations:
                own = own_values(part.annotations, NAME, self.changes, f"{path}/annotations")
            wire = PartWire(type="output_text", text=part.text, annotations=own)
        else:
            wire = PartWire(type="refusal", refusal=part.text)
        extra = part.extra.get(NAME)
        if extra:
            merge_members(wire, {name: value for name, value in extra.items() if name not in ITEM_MEMBERS})
        return wire

    def _add_content(self, content: PartWire, members: dict[str, Any], *, new: bool) -> None:
        key = members.get("id")
        if self._open is not None and self._open[1] == key and not new:
            wire = self._open[0]
            cast("list[PartWire]", wire.content).append(content)
        else:
            wire = ItemWire(type="message", role="assistant", content=[content])
            wire.status = COMPLETED if self.reply or key is not None else None
        if members:
            merge_members(wire, members)
        if self._open is None or self._open[0] is not wire:
            self._add(wire, "msg")
            self._open = (wire, key)

    # Everything else

    def _thinking(self, part: ThinkingPart, path: str) -> None:
        item = self._members(part.sealed, path)
        if not self.reply and self.target.quirks.reasoning_echo == "never":
            self.changes.add("thinking_unsupported", path)
        elif item is not None and (self.reply or any(item.get(name) for name in _KNOWN_BY)):
            if not self.reply and item.get("id"):
                self._thoughts[len(self.items)] = path
            self._add(opaque_item(item if self.reply else {"summary": [], **item}), "rs")
        elif self.reply:
            summary = [{"type": "summary_text", "text": part.text}] if part.text else []
            self._add(ItemWire(type="reasoning", summary=raw(summary)), "rs")
        elif part.text or item is not None:
            self.changes.add("thinking_unsupported", path)

    def _call(self, part: ToolCall | BrokenToolCall, path: str) -> None:
        wire = self._bare_call(part)
        extra = part.extra.get(NAME) or _NOTHING
        members = self._members(part.sealed, path) if isinstance(part, ToolCall) else object_in(extra, "item")
        if members:
            merge_members(wire, members)
        if extra:
            merge_members(wire, {name: value for name, value in extra.items() if name not in ITEM_MEMBERS})
        prefix, other = ("ctc", "fc") if wire.type == "custom_tool_call" else ("fc", "ctc")
        if isinstance(wire.id, str) and wire.id.startswith(f"{other}_"):  # OpenAI holds the id of an item to its type
            wire.id = prefix + wire.id.removeprefix(other)
        self._add(wire, prefix)

    def _bare_call(self, part: ToolCall | BrokenToolCall) -> ItemWire:
        text = part.arguments_json if isinstance(part, ToolCall) else part.raw_arguments
        name, call_id = self.names.get(part.name, part.name), self.ids.get(part.id, part.id)
        if part.freeform and self.target.quirks.freeform_tools:
            whole = text if isinstance(part, ToolCall) else f"{text}{FREEFORM_END}"
            written = Raw(encode_text(freeform_input(whole)))
            return ItemWire(type="custom_tool_call", call_id=call_id, name=name, input=written)
        status = COMPLETED if self.reply else None
        if self.make_id is not None and isinstance(part, BrokenToolCall) and part.reason == "cut_off":
            status = "incomplete"
        arguments = cast("Raw", text)  # a string is what JSON text of it is
        return ItemWire(type="function_call", call_id=call_id, name=name, arguments=arguments, status=status)

    def _image(self, part: ImagePart, path: str) -> None:
        item = self._members(part.sealed, path)
        if item is None and not self.reply:
            self._no_place("images", part, path)
            return
        wire = opaque_item(item or {"type": "image_generation_call", "status": COMPLETED})
        merge_members(wire, {"result": part.base64})
        self._add(wire, "ig")

    def _step(self, part: ServerToolPart, path: str) -> None:
        if part.cache is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        if at_home(part, NAME, self.target):
            self.items.append(opaque_item(part.raw))
            self._open = None
        elif self.reply:
            self._thinking(answer_thinking(part, self.changes, path), path)
        else:
            self._plain(history_text(part, self.changes, path), path)

    def _opaque(self, part: OpaquePart, path: str) -> None:
        if part.dialect != NAME or not is_object(part.raw):
            code = "media_refs" if part.kind == "media_ref" else "opaque_part"
            let_go = self.reply or "server_tools" in self.changes.allow  # what a hosted tool left behind goes with it
            self.changes.add(code, path, f"{part.kind} of {part.dialect}", action="dropped" if let_go else None)
        elif part.kind == "content_part":
            content = PartWire()
            merge_members(content, object_in(part.raw, "part"))
            self._add_content(content, object_in(part.raw, "item"), new="new_item" in part.raw)
        else:
            self.items.append(opaque_item(part.raw))
            self._open = None


def bare_items(parts: Sequence[Part], names: Mapping[str, str], ids: Mapping[str, str]) -> list[ItemWire] | None:
    """Texts and calls of a history with nothing beside them as items; None where there is anything to note."""
    items: list[ItemWire] = []
    for part in parts:
        if type(part) is ToolCall and not (part.sealed or part.extra or part.freeform):
            arguments = cast("Raw", part.arguments_json)  # a string is what JSON text of it is
            name, call_id = names.get(part.name, part.name), ids.get(part.id, part.id)
            items.append(ItemWire(type="function_call", call_id=call_id, name=name, arguments=arguments))
        elif type(part) is TextPart and not (part.cache or part.annotations or part.sealed or part.extra):
            items.append(ItemWire(role="assistant", content=part.text))
        else:
            return None
    return items


def bare_reply(parts: Sequence[Part], make_id: Callable[[str], str], changes: Changes) -> list[ItemWire] | None:
    """Thinking, texts, then calls of a reply as items, the seals of others noted; None where there is anything else."""
    items: list[ItemWire] = []
    texts: list[PartWire] = []
    calls: list[ItemWire] = []
    beside: list[tuple[TextPart | ThinkingPart | ToolCall, int]] = []
    for place, part in enumerate(parts):
        if type(part) is ToolCall and not part.freeform:
            arguments = cast("Raw", part.arguments_json)  # a string is what JSON text of it is
            calls.append(ItemWire(type="function_call", call_id=part.id, name=part.name, arguments=arguments))
        elif type(part) is TextPart and not (calls or part.annotations):
            texts.append(PartWire(type="output_text", text=part.text, annotations=[]))
        elif type(part) is ThinkingPart and not (items or texts or calls):
            summary = [{"type": "summary_text", "text": part.text}] if part.text else []
            items.append(ItemWire(type="reasoning", id=make_id("rs"), summary=raw(summary)))
        else:
            return None
        if part.sealed is not None or part.extra:
            beside.append((part, place))
    if beside and not note_others(beside, changes, "", members=False):
        return None
    if texts:
        message = ItemWire(type="message", id=make_id("msg"), role="assistant", status=COMPLETED, content=texts)
        items.append(message)
    for call in calls:
        call.id, call.status = make_id("fc"), COMPLETED
    return items + calls


def opaque_item(item: dict[str, Any]) -> ItemWire:
    """An item as it was."""
    wire = ItemWire()
    merge_members(wire, item)
    return wire
