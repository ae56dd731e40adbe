"""The assistant's turn, both ways: one mapping for a history, a whole reply, and what a stream adds up to.

Rules
- The wire has one place for each kind, so the order is: thinking, content, refusal, audio, images, calls.
- Reasoning is read under every known name and written back under the name that was read.
- A call of a type that only its server knows is opaque, and goes back among the calls.
- What the wire says twice under two names is kept once as a part, and once as a member.
Loss: text after a call is told before it (`order_changed`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET, Raw

from interlingua.dialects._citations import own_values, written
from interlingua.dialects._foreign import note_foreign, note_others
from interlingua.dialects._members import is_list, is_object, merge_members, plain
from interlingua.dialects._openai.calls import (
    arguments_text,
    clean_name,
    freeform_arguments,
    freeform_input,
    repaired_arguments,
)
from interlingua.dialects._openai.citations import read_annotation, url_members
from interlingua.dialects._parallel import WRAPPERS, inner_calls
from interlingua.dialects._seals import note_seal, seal_fits
from interlingua.dialects._steps import answer_thinking, at_home, history_text
from interlingua.dialects.openai_chat.parts import (
    NAME,
    decode_content,
    decode_images,
    encode_content,
    encode_part,
    thinking_chunk,
)
from interlingua.dialects.openai_chat.wire import (
    AudioWire,
    CustomWire,
    FunctionCallWire,
    MessageWire,
    PartWire,
    PlainCallWire,
    PlainFunctionWire,
    PlainTurnWire,
    ToolCallWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.calls import make_call
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    Sealed,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
    stored_data,
)
from interlingua.wire.json import encode, encode_text
from interlingua.wire.media import audio_type, text_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Target, Undo
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = [
    "REASONING_FIELDS",
    "AssistantDecoder",
    "AssistantEncoder",
    "annotations_of",
    "audio_id",
    "audio_members",
    "call_extra",
    "encode_call",
    "hosted_call",
    "is_plain",
    "nest",
    "note_audio",
    "reasoning_text",
]

ISSUER = "issuer"
"""The member of a part's extra that says which provider gave the id of its audio; it is never on the wire."""
REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where servers put readable reasoning."""


# Reading


class AssistantDecoder:
    """Reads assistant messages; `prefix` points to where their parts will stand in the canonical value."""

    __slots__ = ("changes", "cut_off", "ids", "parts", "prefix", "target", "undo")

    def __init__(self, ids: CallIdSource, target: Target, undo: Undo, changes: Changes, prefix: str = "") -> None:
        """`ids` gives the calls their ids, `target` is who said it, `undo` what the request had mapped."""
        self.ids: CallIdSource = ids
        self.target: Target = target
        self.undo: Undo = undo
        self.changes: Changes = changes
        self.prefix: str = prefix
        self.parts: list[Part] = []
        self.cut_off: bool = False

    def decode(self, message: MessageWire, *, cut_off: bool = False) -> list[Part]:
        """The parts of a message; `cut_off` says that the length limit ended it.

        Raises: DecodeError, with a path inside the message.
        """
        self.cut_off = cut_off
        parts: list[Part] = []
        self.parts = parts
        if message.reasoning_content or message.reasoning or message.reasoning_details:
            parts.append(self._thinking(message))
        content = message.content
        if type(content) is str:
            if content:
                parts.append(TextPart(content))
        elif content:
            parts.extend(decode_content(content))
        if message.annotations:
            _annotate(parts, message)
        if message.refusal:
            parts.append(RefusalPart(message.refusal))
        if message.audio is not None:
            parts.extend(_spoken(message.audio, self.target.provider))
        if message.images:
            parts.extend(decode_images(message.images))
        if message.tool_calls or message.function_call is not None:
            self._calls(message)
        return parts

    def _thinking(self, message: MessageWire) -> Part:
        texts = {name: text for name in REASONING_FIELDS if (text := getattr(message, name))}
        details = message.reasoning_details
        field = next(iter(texts), "reasoning_details")
        extra: dict[str, Any] = {"field": field} if field != REASONING_FIELDS[0] else {}
        extra.update({name: text for name, text in texts.items() if name != field})
        sealed = self._sealed({"reasoning_details": details}) if details else None
        return ThinkingPart(texts.get(field) or reasoning_text(details or []), sealed, {NAME: extra} if extra else {})

    def _sealed(self, data: dict[str, Any]) -> Sealed:
        return Sealed(NAME, data, self.target.provider or None, self.target.model or None)

    def _calls(self, message: MessageWire) -> None:
        calls = message.tool_calls or []
        if message.function_call is not None and message.function_call.name:
            self.changes.add("functions_deprecated", self._here())
            calls = [*calls, ToolCallWire(type="function", function=message.function_call)]
        for place, call in enumerate(calls, 1):
            cut_off = self.cut_off and place == len(calls)
            function = call.function
            try:
                if function is None or function.name not in WRAPPERS:
                    self.parts.append(self._call(call, cut_off=cut_off))
                    continue
                for one in self._apart(call, function):
                    self.parts.append(self._call(one, cut_off=cut_off))
            except DecodeError as error:
                raise error.under(f"/tool_calls/{place - 1}") from None

    def _apart(self, call: ToolCallWire, function: FunctionCallWire) -> list[ToolCallWire]:
        """The calls that a call wraps, the first with its id; the call itself where it wraps none."""
        inner = inner_calls(function.name or "", arguments_text(function.arguments)[0], self.undo)
        if not inner:
            return [call]
        self.changes.add("calls_expanded", self._here(), f"{function.name} with {len(inner)} calls")
        functions = [FunctionCallWire(name=one.name, arguments=Raw(encode_text(one.arguments_json))) for one in inner]
        first = ToolCallWire(id=call.id, function=functions[0], extra_content=call.extra_content, extra=call.extra)
        return [first, *[ToolCallWire(function=function) for function in functions[1:]]]

    def _here(self, member: str = "") -> str:
        return f"{self.prefix}/parts/{len(self.parts)}{member}"

    def _call(self, call: ToolCallWire, *, cut_off: bool) -> Part:
        if call.function is None:
            if nest(call):
                self.changes.add("foreign_shape", self._here(), "a call without a function around its name")
            elif (hosted := hosted_call(call)) is not None:
                return hosted
        function, custom = call.function or _NO_FUNCTION, call.custom
        call_id, code = self.ids.assign(call.id or function.id)
        if code is not None:
            self.changes.add(code, self._here("/id"))
        freeform = custom is not None and bool(custom.name)
        if custom is not None and freeform:
            name, text = custom.name, freeform_arguments(custom.input or "")
        else:
            name, (text, was_object) = function.name, arguments_text(function.arguments)
            if was_object:
                self.changes.add("arguments_object", self._here("/arguments_json"))
        if not name:
            raise DecodeError("a tool call must have a name", path="/function/name")
        if text[:1] != "{":
            text = repaired_arguments(text, self.changes, self._here("/arguments_json"), cut_off=cut_off)
        if name not in self.undo.tool_names and (self.undo.names or "<|" in name):
            name = clean_name(name, self.undo, self.changes, self._here("/name"))
        sealed = self._sealed({"extra_content": call.extra_content}) if call.extra_content else None
        extra = call_extra(call) if call.extra or function.extra else None
        freeform = freeform or name in self.undo.freeform
        return make_call(call_id, name, text, cut_off=cut_off, freeform=freeform, sealed=sealed, extra=extra)


CALLS = "tool_calls"
"""The one member of an opaque part that is a call."""
_OWN_TYPES = frozenset({None, "", "function", "custom"})
_NO_FUNCTION = FunctionCallWire()


def nest(call: ToolCallWire) -> bool:
    """Whether name and arguments stood beside the id, as older servers send them; now they stand in a function."""
    extra = call.extra
    name = extra.get("name") if extra and call.function is None and call.custom is None else None
    if not extra or not isinstance(name, str):
        return False
    del extra["name"]
    call.function = FunctionCallWire(name=name)
    if "arguments" in extra:
        call.function.arguments = Raw(encode(extra.pop("arguments")))
    return True


def hosted_call(call: ToolCallWire, provider: str | None = None) -> ServerToolPart | None:
    """A call of a type that only its server knows, which has run it itself: it goes back as it came.

    None for the call of a function or of a freeform tool.
    """
    if call.function is not None or call.custom is not None or call.type in _OWN_TYPES:
        return None
    raw = plain(call)
    raw.pop("index", None)  # its place among the parts says it
    kind = str(call.type)
    details = raw.get(kind)
    if not is_object(details):
        details = {name: value for name, value in raw.items() if name not in ("id", "type")}
    return ServerToolPart(NAME, kind, {CALLS: [raw]}, kind, call.id or None, details, provider=provider)


def reasoning_text(details: Sequence[Any]) -> str:
    """The readable text in `reasoning_details`."""
    texts = [detail.get("text") or detail.get("summary") for detail in details if is_object(detail)]
    return "".join([text for text in texts if isinstance(text, str)])


def _annotate(parts: list[Part], message: MessageWire) -> None:
    """Hang the annotations on the last text; without one they stay members of the message."""
    for place in reversed(range(len(parts))):
        part = parts[place]
        if isinstance(part, TextPart):
            citations = tuple([read_annotation(NAME, annotation) for annotation in message.annotations or ()])
            parts[place] = TextPart(part.text, citations, part.cache, part.sealed, part.extra)
            message.annotations = None
            return


def annotations_of(part: TextPart, changes: Changes, path: str, offset: int) -> list[dict[str, Any]]:
    """The annotations of a text that begins `offset` characters into an answer; those of others are written anew."""

    def write(citation: Citation) -> dict[str, Any] | None:
        members = url_members(citation, part.text, offset)
        return None if members is None else {"type": "url_citation", "url_citation": members}

    return written(part.annotations, NAME, changes, path, write)


def _spoken(audio: AudioWire, issuer: str) -> list[Part]:
    if not (audio.id or audio.data):
        return []
    if audio.data is None:
        return [OpaquePart(NAME, "media_ref", {"audio": {"id": audio.id, **(audio.extra or {})}})]
    data = text_data(audio.data, "/audio/data")
    members = {"expires_at": audio.expires_at, **(audio.extra or {})}
    extra = {name: value for name, value in members.items() if value is not None} | audio_id(audio.id, issuer)
    return [AudioPart(data, audio_type(data), audio.transcript, extra={NAME: extra} if extra else {})]


def audio_id(name: str | None, issuer: str) -> dict[str, Any]:
    """The id under which the provider `issuer` keeps what was spoken, as far as either is known."""
    return {} if name is None else {"id": name, ISSUER: issuer} if name and issuer else {"id": name}


def audio_members(part: AudioPart) -> dict[str, Any]:
    """The wire's members of spoken audio without a field."""
    return {name: value for name, value in part.extra.get(NAME, {}).items() if name != ISSUER}


def call_extra(call: ToolCallWire) -> dict[str, dict[str, Any]] | None:
    """The members of a call without a field."""
    within = call.function.extra if call.function is not None else None
    if not call.extra and not within:
        return None
    return {NAME: {**(call.extra or {}), **({"function": dict(within)} if within else {})}}


# Writing


def is_plain(part: TextPart) -> bool:
    """Whether there is nothing to a text but the text: it can stand anywhere."""
    return not (part.cache or part.extra or part.annotations or part.sealed)


class AssistantEncoder:
    """Writes assistant turns, each into one message."""

    __slots__ = (
        "_text_length", "changes", "chunks", "content", "ids", "message", "names", "reasoning_field", "reply", "target",
        "thinking",
    )  # fmt: skip

    def __init__(
        self, target: Target, changes: Changes, names: dict[str, str] | None = None, ids: dict[str, str] | None = None
    ) -> None:
        """`names` and `ids` map the caller's own names and ids to those of the wire."""
        self.target: Target = target
        self.names: dict[str, str] = names or {}
        self.ids: dict[str, str] = ids or {}
        self.changes: Changes = changes

    def plain(self, parts: Sequence[Part], path: str, *, reply: bool = False) -> PlainTurnWire | None:
        """The message of a turn that has a text, then calls, and nothing else to write; None for any other.

        A `reply` may have thinking before them, and several texts. Members and seals of other dialects are noted.
        """
        thinking: str | None = None
        texts: list[str] = []
        calls: list[PlainCallWire] = []
        beside: list[tuple[TextPart | ThinkingPart | ToolCall, int]] = []
        for place, part in enumerate(parts):
            if type(part) is ToolCall and not part.freeform:
                name, call_id = self.names.get(part.name, part.name), self.ids.get(part.id, part.id)
                function = PlainFunctionWire(name, part.arguments_json)
                calls.append(PlainCallWire(id=call_id, type="function", function=function))
            elif type(part) is TextPart and not calls and (reply or not (texts or part.cache)) and not part.annotations:
                texts.append(part.text)
            elif type(part) is ThinkingPart and reply and place == 0:
                thinking = part.text or None
            else:
                return None
            if part.sealed is not None or part.extra:
                beside.append((part, place))
        quirks = self.target.quirks
        if not (parts or reply) or quirks.reasoning_echo == "always" or (calls and quirks.reasoning_echo == "calls"):
            return None
        if beside and not note_others(beside, self.changes, path, members=True):
            return None
        if reply:
            return PlainTurnWire("".join(texts) if texts else None, calls or None, None, thinking, ())
        return PlainTurnWire(texts[0] if texts else _EMPTY[quirks.tool_only_content], calls or None)

    def encode(self, parts: Sequence[Part], path: str, *, reply: bool, first: int = 0) -> MessageWire:
        """The message of one turn, which stands at `path`, from its part number `first` on.

        A `reply` has plain text content, a history may have a list of parts.
        """
        self.message: MessageWire = MessageWire(role="assistant")
        self.content: list[Part] = []
        self._text_length = 0
        self.chunks: list[PartWire] = []
        self.thinking: list[str] = []
        self.reply: bool = reply
        self.reasoning_field: str = REASONING_FIELDS[0]
        for place, part in enumerate(parts, first):
            self._part(part, f"{path}/parts/{place}")
        thoughts = "\n\n".join([text for text in self.thinking if text]) if self.thinking else ""
        if thoughts:
            setattr(self.message, self.reasoning_field, thoughts)
        elif not self.message.reasoning_details and self.target.quirks.reasoning_field in REASONING_FIELDS:
            echo, calls = self.target.quirks.reasoning_echo, self.message.tool_calls
            if echo == "always" or (echo == "calls" and calls):
                setattr(self.message, self.target.quirks.reasoning_field, "" if echo == "always" else " ")
        message = self.message
        if self.chunks:
            texts = encode_content(self.content, self.target.quirks)
            listed = [PartWire(type="text", text=texts)] if isinstance(texts, str) and texts else texts or []
            message.content = [*self.chunks, *listed]
        elif self.content:
            texts = [part.text for part in self.content if type(part) is TextPart]
            plain = reply and len(texts) == len(self.content)
            message.content = "".join(texts) if plain else encode_content(self.content, self.target.quirks)
        elif message.tool_calls and not reply:
            message.content = _EMPTY[self.target.quirks.tool_only_content]
        else:
            message.content = None if reply or isinstance(message.refusal, str) or message.audio else ""
        return message

    def _part(self, part: Part, path: str) -> None:
        if not isinstance(part, OpaquePart | ServerToolPart):
            note_foreign(self.changes, part.extra, path)
        match part:
            case TextPart():
                self._text(part, path)
            case ToolCall() | BrokenToolCall():
                freeform = part.freeform and self.target.quirks.freeform_tools
                self._call(part, encode_call(part, self.names, self.ids, freeform=freeform), path)
            case ThinkingPart():
                self._thinking(part, path)
            case RefusalPart(text=text):
                refusal = self.message.refusal
                self.message.refusal = f"{refusal}{text}" if isinstance(refusal, str) else text
            case AudioPart():
                self._audio(part, path)
            case ImagePart():
                self._image(part, path)
            case ServerToolPart() | OpaquePart():
                self._unread(part, path)
            case DocumentPart() | ToolResult():
                self._left_out(part, path)

    def _left_out(self, part: Part, path: str) -> None:
        self.changes.add("opaque_part", path, f"an assistant message holds no {type(part).__name__}", action="dropped")

    def _audio(self, part: AudioPart, path: str) -> None:
        """Write a sound: in a history its id, where this provider gave it one, or else its words."""
        if self.reply:
            note_audio(part, self.changes, path)
            self.message.audio = AudioWire(data=part.base64, transcript=part.transcript)
            merge_members(self.message.audio, audio_members(part))
            return
        members = part.extra.get(NAME, {})
        issuer, provider = members.get(ISSUER), self.target.provider
        if isinstance(members.get("id"), str) and members["id"] and (not (issuer and provider) or issuer == provider):
            self.message.audio = AudioWire(id=members["id"])
        elif part.transcript:
            self.changes.add("media_as_text", path, "its transcript stands for what was spoken")
            self._text(TextPart(part.transcript), path)
        else:
            self._left_out(part, path)

    def _image(self, part: ImagePart, path: str) -> None:
        if not (self.reply or self.target.quirks.assistant_images):
            self._left_out(part, path)
            return
        if part.sealed is not None:
            note_seal(self.changes, part.sealed, path)
        self.message.images = [*(self.message.images or []), encode_part(part, self.target.quirks)]

    def _text(self, part: TextPart, path: str) -> None:
        if self.message.tool_calls:
            self.changes.add("order_changed", path, "text after a call is told before it")
        if part.sealed is not None:
            note_seal(self.changes, part.sealed, path)
        self.content.append(part)
        if part.annotations:
            listed, place = self.message.annotations or [], f"{path}/annotations"
            if self.reply:
                listed += annotations_of(part, self.changes, place, self._text_length)
            else:
                listed += own_values(part.annotations, NAME, self.changes, place)
            self.message.annotations = listed
        self._text_length += len(part.text)

    def _thinking(self, part: ThinkingPart, path: str) -> None:
        members = part.extra.get(NAME, {})
        quirks = self.target.quirks
        if quirks.reasoning_field == "none":
            if part.text:
                self.changes.add("thinking_unsupported", path)
            if part.sealed is not None:
                note_seal(self.changes, part.sealed, path)
            return
        sealed = self._seal(part.sealed, path)
        field = (
            members.get("field", REASONING_FIELDS[0]) if quirks.reasoning_field == "as_read" else quirks.reasoning_field
        )
        if sealed and members.get("field") == "reasoning_details":
            return
        if quirks.reasoning_echo == "never":
            if part.text and not sealed:
                self.changes.add("thinking_unsupported", path)
        elif field == "thinking_chunks":
            self.chunks.append(thinking_chunk(part))
        elif field in REASONING_FIELDS:
            self.thinking.append(part.text)
            merge_members(self.message, {name: text for name, text in members.items() if name in REASONING_FIELDS})
            self.reasoning_field = field

    def _seal(self, sealed: Sealed | None, path: str) -> bool:
        """Send sealed state back to its issuer; whether it was."""
        if sealed is None:
            return False
        if not seal_fits(sealed, NAME, self.target):
            note_seal(self.changes, sealed, path, self.target)
            return False
        data = sealed.data
        details = data.get("reasoning_details")
        if is_list(details):
            data = {**data, "reasoning_details": [*(self.message.reasoning_details or []), *details]}
        merge_members(self.message, data)
        return True

    def _call(self, part: ToolCall | BrokenToolCall, wire: ToolCallWire, path: str) -> None:
        sealed = part.sealed if isinstance(part, ToolCall) else None
        if sealed is not None:
            if seal_fits(sealed, NAME, self.target):
                merge_members(wire, sealed.data)
            else:
                note_seal(self.changes, sealed, path, self.target)
        calls = self.message.tool_calls
        if calls is None:
            self.message.tool_calls = [wire]
        else:
            calls.append(wire)

    def _unread(self, part: ServerToolPart | OpaquePart, path: str) -> None:
        if isinstance(part, ServerToolPart):
            if part.cache is not None:
                self.changes.add("cache_unsupported", f"{path}/cache")
            if at_home(part, NAME, self.target):
                calls = part.raw.get(CALLS)
                for call in calls if is_list(calls) else ():  # among the others
                    wire = ToolCallWire()
                    merge_members(wire, call)
                    self.message.tool_calls = [*(self.message.tool_calls or []), wire]
            elif self.reply:
                self._thinking(answer_thinking(part, self.changes, path), path)
            else:
                self._text(history_text(part, self.changes, path), path)
        elif part.dialect == NAME and is_object(part.raw) and part.raw.keys() == {"audio"}:
            merge_members(self.message, part.raw)
        elif part.dialect == NAME:
            self.content.append(part)
        else:
            action = "dropped" if self.reply else None
            self.changes.add("opaque_part", path, f"{part.kind} of {part.dialect}", action=action)


_EMPTY: dict[str, Any] = {"null": None, "empty": "", "omit": UNSET}


def encode_call(
    part: ToolCall | BrokenToolCall, names: dict[str, str], ids: dict[str, str], *, freeform: bool
) -> ToolCallWire:
    """A call on the wire, its arguments a JSON string; `freeform`: as the text of a freeform tool."""
    text = part.arguments_json if isinstance(part, ToolCall) else part.raw_arguments
    name = names.get(part.name, part.name)
    call_id = ids.get(part.id, part.id)
    if freeform and isinstance(part, ToolCall):
        return ToolCallWire(id=call_id, type="custom", custom=CustomWire(name=name, input=freeform_input(text)))
    function = FunctionCallWire(name=name, arguments=cast("Raw", text))  # a string is what JSON text of it is
    wire = ToolCallWire(id=call_id, type="function", function=function)
    if part.extra:
        merge_members(wire, part.extra.get(NAME, {}))
    return wire


def note_audio(part: AudioPart, changes: Changes, path: str) -> None:
    """An entry for a type that the first bytes do not show, since an answer does not say what its audio is."""
    if audio_type(stored_data(part)) != part.media_type:
        changes.add("media_type_unsaid", f"{path}/media_type", f"the bytes are not known as {part.media_type}")
