"""Writing a request, as far as all dialects do it alike: names and ids, tools, knobs, state, refusals.

Each dialect has a writer of its own that adds what only its wire says; it decides the order of the steps.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from msgspec.structs import replace

from interlingua.dialects._bounds import ANY
from interlingua.dialects._contract import Encoded, Undo
from interlingua.dialects._history import call_names, paired_calls, prepare_history
from interlingua.dialects._members import foreign_extras, is_object, merge_members, reader_of, told_names
from interlingua.dialects._schemas import fit_request
from interlingua.dialects._tool_cache import CachedTools, can_be_told_again, equal_tools, write_tools
from interlingua.errors import UnsupportedError, UsageError
from interlingua.schema.names import are_legal_names, fit_as_they_are, map_call_ids, map_names
from interlingua.types.change import Changes
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, ToolResult
from interlingua.types.request import Request
from interlingua.types.tool import AllowedTools, NamedTool, OpaqueTool, Tool
from interlingua.wire.json import TextSlots, encode, encode_exact, encode_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from msgspec import Raw

    from interlingua.dialects._bounds import Bounds
    from interlingua.dialects._contract import CallIdRule, EncodeOptions, NameRule
    from interlingua.schema.convert import Conversion
    from interlingua.schema.subset import Subset
    from interlingua.types.capability import Effort
    from interlingua.types.content import Json, Part
    from interlingua.types.message import Message
    from interlingua.wire.http import Headers
    from interlingua.wire.json import WireStruct

__all__ = [
    "CORE",
    "MEDIA_CODES",
    "Knobs",
    "RequestWriter",
    "check_choice",
    "chosen_names",
    "must_call",
    "nearest_effort",
    "schema_prompt",
]

EFFORTS: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Every effort, least first."""
BUDGETS: tuple[tuple[float, Effort], ...] = ((4_096, "low"), (16_384, "medium"), (float("inf"), "high"))
"""Up to how many tokens a budget for thinking is which effort: near the middle of what Claude's clients ask for."""

CORE = frozenset({
    "messages", "system", "tools", "tool_choice", "output_schema", "schema_name", "json_mode", "max_tokens",
    "temperature", "top_p", "stop", "n", "effort", "thinking", "parallel_tool_calls", "cache", "continues", "extra",
})  # fmt: skip
"""The fields of a request that every dialect says, or has an entry of its own for. Nobody misses the name of a schema
where the wire has no place for it: it says nothing to the model either."""
W = TypeVar("W", bound="WireStruct")
MEDIA_CODES: dict[type, str] = {ImagePart: "images", AudioPart: "audio", DocumentPart: "documents"}
"""Kind of media -> the fact about a model that says whether it is taken, which is also the code of its refusal."""
FILMS = ("video/", "audio/")
"""How media types begin of what is played, not read."""


_NO_NAMES: frozenset[str] = frozenset()


class Knobs(dict[str, str]):
    """Knobs of a request, and the members for them."""

    def __init__(self, members: Mapping[str, str]) -> None:
        """The knobs of this table."""
        super().__init__(members)
        self.read: Callable[[Request], dict[str, Any]] = reader_of(*members)
        """Reads the knobs that are turned."""


class RequestWriter:
    """Writes one request; every method writes, notes or refuses what its name says."""

    dialect: ClassVar[str]
    """The dialect that is written."""
    name_rule: ClassVar[NameRule] = "free"
    """Which tool names the wire takes where the server's row says nothing."""
    call_id_rule: ClassVar[CallIdRule] = "any"
    """Which call ids the wire takes where the server's row says nothing."""
    written_fields: ClassVar[frozenset[str]] = CORE
    """The fields of a request that the dialect writes, or has an entry of its own for; `note_others` notes the rest."""
    other_fields: ClassVar[Knobs] = Knobs({})
    """The other fields; where they are not set, each is None."""
    sampling: ClassVar[frozenset[str]] = frozenset()
    """The knobs that models without sampling refuse."""
    bounds: Bounds = ANY
    """The bounds of knobs and tools."""

    def __init__(self, request: Request, options: EncodeOptions) -> None:
        """The writer of one request."""
        if type(request.tools) is tuple and request.tools:
            request = replace(request, tools=equal_tools(request.tools))
        self.request = request
        self.options = options
        self.target = options.target
        self.facts = options.target.facts
        self.quirks = options.target.quirks
        self.changes = Changes(self.dialect, "encode_request", options.allow)
        self.calls: dict[str, str] = {}
        """Id and tool of all calls in the history, in order."""
        self.names: dict[str, str] = {}
        """The caller's own tool names -> the wire's, where the rule changes them."""
        self.nulls = 0
        """How many members of the messages are null."""
        self.slots = TextSlots()
        """The messages and tools that were written before."""
        self.arguments: dict[str, Conversion] = {}
        """Conversions of arguments of calls into the form of a rewritten schema, by the caller's own tool name."""
        self.output: Conversion | None = None
        """The conversion of the output into the form of a rewritten schema."""
        self._is_plain = False
        """Whether all tools are plain and new, and JSON can say their schemas."""
        tools = request.tools
        self.cached = tools if type(tools) is CachedTools else None
        """The tools as they were before their schemas were fitted, if they are cached."""
        if (request.tools or request.output_schema is not None) and self.quirks.schema_form != "as_read":
            fitted = fit_request(self.request, self.tool_subset, self.output_subset, self.changes, ways=self._ways())
            self.request, self.arguments = fitted.request, fitted.arguments
            self.output, self._is_plain = fitted.output, fitted.is_plain
            if self.cached is not None and len(self.request.tools) != len(self.cached):  # one was refused, and let go
                self.cached = None

    def _ways(self) -> tuple[object, ...]:
        """All that the forms of the tools' schemas depend on besides the tools."""
        return self.dialect, self.quirks.strict_schemas, self.quirks.schema_form

    def tool_subset(self, tool: Tool) -> Subset | None:
        """The subset of JSON Schema for a tool; None for everything."""
        del tool

    def output_subset(self, request: Request) -> Subset | None:
        """The subset of JSON Schema for an output; None for everything."""
        del request

    def done(self, path: str, wire: WireStruct, *, headers: Headers = (), nulls: int = 0) -> Encoded:
        """The request as it is sent; `nulls` says how many members of it are null on purpose.

        Raises: UnsupportedError with every refusal found; UsageError for two tools of one name, where that is refused.
        """
        undo = self._undo() if self.request.tools or self.calls or self.output else Undo(fenced=self._is_fenced())
        if len(undo.tool_names) != len(self.request.tools) and self.bounds.unique_names:
            # Each tool has a name of its own, those that the provider runs among them.
            places: dict[str, int] = {}
            for place, tool in enumerate(self.request.tools):
                name = tool.name if isinstance(tool, Tool) else is_object(tool.raw) and tool.raw.get("name")
                if isinstance(name, str) and places.setdefault(name, place) != place:
                    sentence = f"tools[{places[name]}] and tools[{place}] are both called {name!r}"
                    raise UsageError(f"{sentence}, and the service takes a name once")
        entries = self.changes.entries
        refused = self.changes.refused() if entries else ()
        if refused:
            listing = "; ".join(f"{change.path} ({change.detail or change.code})" for change in refused)
            who = "/".join(name for name in (self.target.provider, self.target.model) if name) or self.dialect
            raise UnsupportedError(f"{who} cannot take {listing}", changes=refused)
        body = encode_wire(wire, nulls=nulls + self.nulls, slots=self.slots)
        return Encoded(path=path, body=body, headers=headers, changes=tuple(entries), undo=undo)

    def _is_fenced(self) -> bool:
        """Whether JSON is asked for in words alone."""
        entries = self.changes.entries
        return bool(entries) and any([entry.code == "output_schema_prompted" for entry in entries])

    def _undo(self) -> Undo:
        names, freeform = _NO_NAMES, _NO_NAMES
        if self.cached is not None:
            names, freeform = self.cached.names, self.cached.freeform
        elif self.request.tools:
            own = [tool for tool in self.request.tools if isinstance(tool, Tool)]
            names = frozenset([tool.name for tool in own])
            freeform = frozenset([tool.name for tool in own if tool.freeform])
        return Undo(
            names={wire: own for own, wire in self.names.items()} if self.names else {},
            tool_names=names,
            freeform=freeform,
            first_index=len(self.calls),
            history_ids=frozenset(self.calls) if self.calls else _NO_NAMES,
            arguments=self.arguments,
            output=self.output,
            fenced=self._is_fenced(),
        )

    # The history

    def paired(self, *, continues: bool, keep_broken: bool = False) -> tuple[Message, ...]:
        """The history with every call and its result; `continues` lets it answer calls that it does not contain.

        Broken calls are sent as text, unless the dialect has room for them and says `keep_broken`.
        """
        messages = self.request.messages
        calls = paired_calls(messages)
        if calls is None:
            policy = self.options.history
            messages = prepare_history(messages, policy, self.changes, continues=continues, keep_broken=keep_broken)
            calls = call_names(messages)
        self.calls = calls
        return messages

    def placed(self, wires: list[W], *, is_bare: bool) -> list[W] | Raw:
        """The messages on the wire; as text in which no number has to be looked for where all of them are bare."""
        text = encode_exact(wires) if wires and is_bare else None
        return wires if text is None else self.slots.place(text)

    def map_names(self) -> None:
        """Fit the names of the tools and calls to the rule of server and wire."""
        rule = self.name_rule if self.quirks.name_rule == "free" else self.quirks.name_rule
        if rule == "free" or not (self.request.tools or self.calls):
            return
        declared = [tool.name for tool in self.request.tools if isinstance(tool, Tool)]
        names = dict.fromkeys((*declared, *self.calls.values()))
        if are_legal_names(names, rule):
            return
        self.names = {own: wire for own, wire in map_names(names, rule).items() if own != wire}
        for place, name in enumerate(declared if self.names else ()):
            if name in self.names:
                self.changes.add("name_mapped", f"/tools/{place}/name", f"{name!r} is {self.names[name]!r} on the wire")
        for name in sorted(self.names.keys() - declared):
            self.changes.add("name_mapped", "/messages", f"{name!r} is {self.names[name]!r} on the wire")

    def map_ids(self) -> dict[str, str]:
        """Call ids fitted to the rule of server and wire; empty where any id is taken."""
        if not self.calls:
            return {}
        rule = self.call_id_rule if self.quirks.call_id_rule == "any" else self.quirks.call_id_rule
        return {} if fit_as_they_are(self.calls, rule) else map_call_ids(self.calls, rule)

    def refuse_empty(self) -> None:
        """Refuse a conversation of which nothing is left to send, unless it goes on from what the provider keeps."""
        is_refused = any([entry.action == "refused" for entry in self.changes.entries])
        if self.request.messages and self.request.continues is None and not is_refused:
            self.changes.add("messages_empty", "/messages", "none of them says anything, and the service expects one")

    def note_ids(self, ids: Mapping[str, str]) -> None:
        """Note the call ids that are others on the wire."""
        for own, wire_id in ids.items():
            if own != wire_id:
                self.changes.add("id_mapped", "/messages", f"{own!r} is {wire_id!r} on the wire")

    def taken_media(self, history: tuple[Message, ...], media: Mapping[type, str] = MEDIA_CODES) -> tuple[Message, ...]:
        """The history without the media that are known not to be taken: refused, or let go where that is allowed."""
        facts = self.facts
        if not (facts.images is False or facts.audio is False or facts.documents is False) and self.quirks.video_files:
            return history
        untaken = {kind: code for kind, code in media.items() if getattr(facts, code) is False}
        messages = [self._with_taken(message, f"/messages/{place}", untaken) for place, message in enumerate(history)]
        return history if all(map(is_, messages, history)) else tuple(messages)

    def _with_taken(self, message: Message, path: str, untaken: Mapping[type, str]) -> Message:
        parts: list[Part] = []
        for place, part in enumerate(message.parts):
            where = f"{path}/parts/{place}"
            if type(part) is ToolResult:
                parts.append(self._with_taken_content(part, where, untaken))
            elif not self._is_untaken(part, where, untaken):
                parts.append(part)
        same = len(parts) == len(message.parts) and all(map(is_, parts, message.parts))
        return message if same else replace(message, parts=tuple(parts))

    def _with_taken_content(self, result: ToolResult, path: str, untaken: Mapping[type, str]) -> ToolResult:
        content = result.content
        if type(content) is not tuple:
            return result
        left = [
            part for place, part in enumerate(content) if not self._is_untaken(part, f"{path}/content/{place}", untaken)
        ]
        return result if len(left) == len(content) else replace(result, content=tuple(left) or "")

    def _is_untaken(self, part: Part | Json, path: str, untaken: Mapping[type, str]) -> bool:
        """Whether a part is not taken, with its entry; what is no document is none, whatever part it stands in."""
        code = untaken.get(type(part))
        if code is not None:
            self.changes.add(code, path)
        elif type(part) is DocumentPart and not self.quirks.video_files and part.media_type.startswith(FILMS):
            code = "documents"
            self.changes.add(code, path, f"no file part holds {part.media_type}")
        return code is not None

    # Tools

    def written_tools(self, ways: tuple[object, ...], write: Callable[[], list[W]]) -> list[W] | Raw:
        """The tools on the wire; one text where they came before and were written in these ways."""
        if not self.request.tools:
            return []
        tools, usual = self.cached, not self.names and self.request.cache is None and self.takes_tools()
        if tools is None:
            wires = write()
            text = encode_exact(wires) if usual and self._is_plain else None
            return wires if text is None else self.slots.place(text)
        if not usual or tools.is_marked:
            return write()
        ways = (*self._ways(), *ways)
        written = tools.written.get(ways)
        if written is None:
            count = len(self.changes.entries)
            wires = write()
            entries = self.changes.entries[count:]
            if not can_be_told_again(entries):
                return wires
            written = tools.written[ways] = write_tools(wires, entries)
        else:
            self.changes.entries.extend(written.entries)
        return self.slots.place(written.text)

    def offered(self, only: frozenset[str] | None = None) -> list[tuple[str, Tool | OpaqueTool]]:
        """The tools that are sent, each with its path; of the caller's own `only` those, if it is given."""
        takes_tools = self.takes_tools()
        sent: list[tuple[str, Tool | OpaqueTool]] = []
        for place, tool in enumerate(self.request.tools):
            path = f"/tools/{place}"
            if isinstance(tool, Tool) and takes_tools and (only is None or tool.name in only):
                sent.append((path, tool))
            elif isinstance(tool, OpaqueTool):
                if tool.dialect == self.dialect:
                    sent.append((path, tool))
                else:
                    self.changes.add("server_tools", path, f"{tool.kind} of {tool.dialect}")
            elif only is not None and tool.name not in only:
                self.leave_out(path)
            else:
                self.changes.add("tools", path, f"{self.target.model} takes no tools on this dialect")
        return sent

    def takes_tools(self) -> bool:
        """Whether the model takes tools in a request like this."""
        return self.facts.tools is not False

    def leave_out(self, path: str) -> None:
        """Note one tool that the choice leaves out; nothing where the choice itself is noted."""

    # Knobs

    def set_knobs(self, wire: WireStruct, knobs: Knobs) -> None:
        """Set the members for the knobs that are turned, where server and model take them."""
        for name, value in knobs.read(self.request).items():
            if self.takes(name):
                setattr(wire, knobs[name], self.bounded(name, value))

    def bounded(self, name: str, value: Any) -> Any:
        """The value of a knob, or the nearest one that is taken; None for a limit below nothing, which is none."""
        return value if self.bounds is ANY else self.bounds.within(name, value, self.changes)

    def told_stops(self) -> list[str] | None:
        """The sequences that end the answer, as far as they are taken; an entry for those that are not."""
        if not self.request.stop or not self.takes("stop"):
            return None
        stops = list(self.request.stop)
        if not self.bounds.blank_stops and not all(map(str.strip, stops)):
            self.changes.add("parameter_unsupported", "/stop", "a stop sequence is more than white space")
            stops = [stop for stop in stops if stop.strip()]
        most = self.bounds.stops
        if most is not None and len(stops) > most:
            self.changes.add("parameter_adjusted", "/stop", f"the first {most} of {len(stops)}")
            stops = stops[:most]
        return stops or None

    def takes(self, name: str) -> bool:
        """Whether server and model take a knob; an entry where they do not."""
        refused = self.facts.sampling is False and name in self.sampling
        if refused and self.request.effort in self.facts.sampling_efforts:
            refused = False
        refused = refused or (name == "stop" and self.facts.stop is False)
        if not refused and name not in self.quirks.unsupported:
            return True
        who = self.target.model if refused else self.target.provider or "the server"
        self.changes.add("parameter_unsupported", f"/{name}", f"{who} does not take {name}")
        return False

    def told_effort(self) -> Effort | None:
        """The effort that is sent: the one that was asked for, or the nearest that server and model take."""
        effort = self.request.effort
        if effort is None or not self.takes("effort"):
            return None
        efforts = self.facts.efforts if self.facts.efforts is not None else self.quirks.efforts or frozenset(EFFORTS)
        nearest = nearest_effort(effort, efforts) if self.quirks.effort_field != "none" else None
        if nearest is None:
            who = self.target.provider or self.target.model or "the server"
            self.changes.add("parameter_unsupported", "/effort", f"{who} takes no effort")
        elif nearest != effort:
            self.changes.add("parameter_adjusted", "/effort", f"{effort} is sent as {nearest}")
        return nearest

    def effort_of_budget(self) -> Effort | None:
        """The effort that stands for a budget of thinking, where the wire has efforts alone and the model reasons."""
        request, facts = self.request, self.facts
        reasons = bool(facts.efforts) or (facts.efforts is None and facts.sampling is False)
        if request.thinking_budget is None or request.effort is not None or request.thinking is False or not reasons:
            self.note_unsaid(("thinking_budget",))
            return None
        effort: Effort = next(word for most, word in BUDGETS if request.thinking_budget <= most)
        nearest = nearest_effort(effort, facts.efforts or frozenset(EFFORTS))
        detail = f"{request.thinking_budget} tokens are sent as the effort {nearest}"
        self.changes.add("parameter_adjusted", "/thinking_budget", detail)
        return nearest

    def __init_subclass__(cls) -> None:
        """Tell the fields that a dialect does not say from those that it says."""
        others = [name for name in Request.__struct_fields__ if name not in cls.written_fields]
        cls.other_fields = Knobs({name: name for name in others})

    def note_others(self) -> None:
        """Note every field that is set and that the dialect does not say."""
        self.note_unsaid(self.other_fields.read(self.request))

    def note_unsaid(self, names: Iterable[str]) -> None:
        """Note the knobs that are turned although the wire has no member for them."""
        request = self.request
        for name in names:
            if getattr(request, name) is not None:
                self.changes.add("parameter_unsupported", f"/{name}", f"the dialect has no {name}")

    def refuse_choices(self, most: int | None = 1) -> None:
        """Refuse more choices than there are; None is no bound."""
        if most is not None and self.request.n is not None and self.request.n > most:
            self.changes.add("choices", "/n", f"{most} at most" if most > 1 else "the dialect gives one choice")

    # What is not canonical

    def set_state(self, wire: WireStruct) -> None:
        """Hand the provider the state that it keeps; another one's is refused."""
        state = self.request.continues
        if state is None:
            return
        if state.dialect == self.dialect:
            merge_members(wire, state.raw)
        else:
            detail = f"{', '.join(state.raw)}: a conversation kept by {state.dialect}"
            self.changes.add("server_state", "/continues", detail)

    def own_members(self) -> dict[str, Any]:
        """The members that the caller gave for this dialect alone; an entry for those of each other."""
        extra = self.request.extra
        for dialect in foreign_extras(extra, self.dialect):
            self.changes.add("extra_foreign", f"/extra/{dialect}", told_names(extra[dialect]))
        return extra.get(self.dialect, {})


def chosen_names(choice: object) -> frozenset[str]:
    """The tools that a choice names; empty where it names none."""
    match choice:
        case NamedTool(name=name):
            return frozenset({name})
        case AllowedTools(names=names):
            return frozenset(names)
        case _:
            return frozenset()


def nearest_effort(effort: Effort, efforts: Collection[str]) -> Effort | None:
    """The effort itself, else the next lower one that is known, else the next higher; None where none is.

    `none` is not a low effort: it stands for nothing else.
    """
    if effort in efforts:
        return effort
    place = EFFORTS.index(effort)
    nearest: list[Effort] = [*reversed(EFFORTS[1:place]), *EFFORTS[place + 1 :]]
    return next((word for word in nearest if word in efforts), None)


def schema_prompt(schema: dict[str, Any] | None) -> str:
    """The prompt for structured output, where a server has no other way."""
    if schema is None:
        return "Answer with one JSON object and nothing else."
    return f"Answer with JSON that fits this JSON Schema, and nothing else:\n{encode(schema).decode()}"


def must_call(choice: object) -> bool:
    """Whether a choice makes the model call a tool."""
    return isinstance(choice, NamedTool) or choice == "required" or getattr(choice, "mode", "") == "required"


def check_choice(choice: object, tools: Sequence[Tool | OpaqueTool]) -> None:
    """Nothing; every tool that the choice names is there, and a choice of some names one.

    Raises: UsageError for one that is not; an opaque tool may have any name.
    """
    if choice is None:
        return
    named = chosen_names(choice)
    if not named:
        if isinstance(choice, AllowedTools):
            raise UsageError("tool_choice allows no tool at all, which 'none' says")
        return
    offered = {tool.name for tool in tools if isinstance(tool, Tool)}
    unknown = sorted(named - offered)
    if unknown and len(offered) == len(tools):
        names = ", ".join(repr(name) for name in unknown)
        raise UsageError(f"tool_choice names {names}, and no such tool is in the request")
