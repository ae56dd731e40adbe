"""The client's role: a request for a Messages service, and what it answers.

Source: vendor reference "Messages", official SDK types 2.12.0, November 2026.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from interlingua.dialects._answer import (
    changes_of,
    extra_of,
    failed_status,
    finish_of,
    id_source,
    is_complaint,
    no_answer,
)
from interlingua.dialects._bounds import ANTHROPIC
from interlingua.dialects._errors.bodies import read_error
from interlingua.dialects._members import is_object, merge_members
from interlingua.dialects._request import CORE, Knobs, RequestWriter, check_choice, must_call
from interlingua.dialects._steps import at_home
from interlingua.dialects._subsets import ANTHROPIC_OUTPUT, ANTHROPIC_STRICT, ANTHROPIC_TOOL
from interlingua.dialects._system import note_system
from interlingua.dialects.anthropic.assistant import AssistantDecoder
from interlingua.dialects.anthropic.marks import Marks
from interlingua.dialects.anthropic.messages import MessageEncoder, split_system
from interlingua.dialects.anthropic.parts import NAME
from interlingua.dialects.anthropic.reasons import decode_finish, error_of_body
from interlingua.dialects.anthropic.thinking import has_budget, lost_thinking, set_thinking
from interlingua.dialects.anthropic.tools import MCP_SERVER, encode_choice, encode_tool
from interlingua.dialects.anthropic.usage import decode_usage
from interlingua.dialects.anthropic.wire import (
    BlockWire,
    DeltaWire,
    MessageWire,
    RequestWire,
    ResponseWire,
    ToolWire,
)
from interlingua.types.content import OpaquePart, ServerToolPart, TextPart, ToolCall
from interlingua.types.response import Response
from interlingua.types.tool import EMPTY_PARAMETERS, AllowedTools, OpaqueTool, Tool
from interlingua.wire.json import decode_wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions
    from interlingua.errors import Error
    from interlingua.schema.subset import Subset
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.wire.http import Headers, HttpReply

__all__ = [
    "BETAS", "answer_members", "blocks_of", "decode_error", "decode_response",
    "encode_request",
]  # fmt: skip

PATH = "/messages"
VERSION = ("anthropic-version", "2023-06-01")
BETA_HEADER = "anthropic-beta"
BETAS = "betas"
"""The member of `Request.extra` that becomes the beta header."""
BETA_MEMBERS = {
    "context-management-": "context_management",
    "compact-": "context_management",
    "skills-": "container",
    "thinking-binding-controls-": "thinking/block_binding",
}
"""How a beta feature begins -> the member that needs it, or the member of a member: both travel, or neither."""
WRITTEN_FIELDS = CORE | {"top_k", "thinking_summary", "thinking_budget", "service_tier", "user", "schema_strict"}
"""The fields of a request that are said, or have an entry of their own."""
SAMPLING = Knobs({"temperature": "temperature", "top_p": "top_p", "top_k": "top_k"})
SERVICE_TIERS = frozenset({"auto", "standard_only"})
JSON_PROMPT = "Answer with one JSON object and nothing else."
"""The prompt for JSON where no schema is given; the wire has no member for it."""


# The request


def encode_request(request: Request, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError with every refusal found; HistoryError for calls and results that do not pair; UsageError
    for a choice of a tool that is not there.
    """
    return _RequestEncoder(request, options).encode()


class _RequestEncoder(RequestWriter):
    """Writes one request; every method writes what its name says."""

    dialect = NAME
    written_fields = WRITTEN_FIELDS
    name_rule = "anthropic"
    call_id_rule = "anthropic"
    sampling = frozenset(SAMPLING)
    bounds = ANTHROPIC

    def __init__(self, request: Request, options: EncodeOptions) -> None:
        super().__init__(request, options)
        self.marks = Marks(options.target.quirks, self.changes, request.cache)
        self.wire = RequestWire(model=options.target.model or None)
        self.headers: Headers = (VERSION,)
        self.is_bare: bool = True
        """Whether there is nothing in the messages but texts, calls and results that are texts."""

    def encode(self) -> Encoded:
        request = self.request
        history = self.paired(continues=request.continues is not None)
        self.map_names()
        if request.tools or request.tool_choice is not None or self.quirks.history_tools:
            self._tools(history)
        self._messages(history)
        if request.cache is not None:
            self.marks.finish(self.wire)
        set_thinking(self.wire, request, self.facts, self.changes)
        # Thinking is given up where the service would refuse it, because the turn before has lost its own.
        if has_budget(self.wire) and lost_thinking(self.wire.messages):
            self.wire.thinking = None
            why = "the calls that are being answered came with thinking that is lost"
            self.changes.add("parameter_unsupported", "/thinking_budget", why)
        self.wire.messages = cast("list[MessageWire]", self.placed(self.wire.messages, is_bare=self.is_bare))
        if self.wire.tools or request.tool_choice is not None or request.parallel_tool_calls is not None:
            self._choice()
        if request.output_schema is not None:
            self._output(request.output_schema)
        self._knobs()
        if self.options.stream:
            self.wire.stream = True
        if request.continues is not None:
            self.set_state(self.wire)
        if request.extra:
            self._extra()
        return self.done(PATH, self.wire, headers=self.headers)

    def _messages(self, history: tuple[Message, ...]) -> None:
        ids = self.map_ids()
        if ids:
            self.note_ids(ids)
        encoder = MessageEncoder(self.target, self.names, ids, self.marks, self.changes)
        texts, count = split_system(self.request.system, history)
        if count:
            note_system(self.changes, history[:count])
        if self.request.json_mode and self.request.output_schema is None:
            self.changes.add("output_schema_prompted", "/json_mode", "the dialect has no JSON mode")
            texts.append((TextPart(JSON_PROMPT), "/json_mode"))
        if texts:
            self.wire.system = encoder.system(texts)
        self.wire.messages = encoder.encode(history[count:] if count else history, count)
        self.is_bare = encoder.is_bare and encoder.turns.is_bare
        if self.facts.prefill is False and history:
            self._refuse_prefill(history)
        if self.wire.system and not self.wire.messages:
            self.changes.add("system_moved", "/system", "sent as the user's message, because one must come first")
            system = self.wire.system
            blocks = [BlockWire(type="text", text=system)] if isinstance(system, str) else system
            self.wire.system, self.wire.messages = None, [MessageWire(role="user", content=blocks)]
        elif not self.wire.messages:
            self.refuse_empty()

    def _refuse_prefill(self, history: tuple[Message, ...]) -> None:
        """Refuse a turn that the model is to finish, also one after which nothing is left of what the user said.

        One that paused, for a tool of the provider's, is gone on with.
        """
        last = len(history) - 1
        is_turn = history[last].role == "assistant"
        if not is_turn and not any([entry.path.startswith(f"/messages/{last}/") for entry in self.changes.entries]):
            return
        wires = self.wire.messages
        if not wires or wires[-1].role != "assistant":
            return
        begun = max([place for place, message in enumerate(history) if message.role == "assistant"], default=last)
        steps = [part for part in history[last].parts if isinstance(part, OpaquePart | ServerToolPart)]
        own = [part for part in steps if isinstance(part, OpaquePart) or at_home(part, NAME, self.target)]
        if begun < last or not own:
            why = f"{self.target.model} finishes no turn that was begun for it"
            self.changes.add("prefill", f"/messages/{begun}", why)

    # Tools

    def _tools(self, history: Sequence[Message]) -> None:
        choice = self.request.tool_choice
        check_choice(choice, self.request.tools)
        allowed = frozenset(choice.names) if isinstance(choice, AllowedTools) else None
        offered = partial(self._offered, allowed)
        ways = (self.quirks.strict_schemas, self.quirks.cache_marks)
        wires = offered() if allowed is not None else self.written_tools(ways, offered)
        if self.quirks.history_tools and not wires:
            # such servers insist on a bare definition of every tool that the history calls
            called = [part.name for message in history for part in message.parts if isinstance(part, ToolCall)]
            names = sorted({self.names.get(name, name) for name in called})
            if names:
                why = f"declared, since the history calls them: {', '.join(names)}"
                self.changes.add("parameter_added", "/tools", why)
            wires = [ToolWire(name=name, input_schema=dict(EMPTY_PARAMETERS)) for name in names]
        self.wire.tools = cast("list[ToolWire]", wires) or None  # text is written as it is
        if allowed is None:
            return
        left_out = [tool.name for tool in self.request.tools if isinstance(tool, Tool) and tool.name not in allowed]
        if left_out:
            self.changes.add("tool_choice_approximated", "/tools", f"left out, not allowed: {', '.join(left_out)}")

    def _offered(self, allowed: frozenset[str] | None) -> list[ToolWire]:
        """The tools, all or the allowed ones."""
        wires: list[ToolWire] = []
        for path, tool in self.offered(allowed):
            if not isinstance(tool, OpaqueTool):
                wires.append(
                    encode_tool(tool, self.names, path, quirks=self.quirks, marks=self.marks, changes=self.changes)
                )
            elif tool.kind == MCP_SERVER:
                self.wire.mcp_servers = [*(self.wire.mcp_servers or []), tool.raw]
            else:
                wire = ToolWire()
                merge_members(wire, tool.raw)
                if wire.cache_control is not None:
                    self.marks.put(wire, None, path)
                wires.append(wire)
        return wires

    def _choice(self) -> None:
        """The tool choice, after everything that forbids a forced one is known."""
        choice, parallel = self.request.tool_choice, self.request.parallel_tool_calls
        if not self.request.tools or not (self.wire.tools or self.wire.mcp_servers):
            # there is nothing to choose, and the service takes no choice; tools of before are not called
            if choice not in (None, "none"):
                self.changes.add("parameter_unsupported", "/tool_choice", "no tool is offered")
            if parallel is not None:
                self.changes.add("parameter_unsupported", "/parallel_tool_calls", "no tool is offered")
            if self.wire.tools:
                self.wire.tool_choice = encode_choice("none", self.names, parallel=None)
            return
        if choice is None and parallel is not False:
            return
        if isinstance(choice, AllowedTools):
            self.changes.add("tool_choice_approximated", "/tool_choice", "the other tools are left out")
        if choice == "none" and parallel is False:
            self.changes.add("parameter_unsupported", "/parallel_tool_calls", "no call is allowed at all")
        if must_call(choice) and (self.facts.forced_choice is False or has_budget(self.wire)):
            why = "while it thinks" if self.facts.forced_choice is not False else "at all"
            self.changes.add("tool_choice_approximated", "/tool_choice", f"the model takes no forced choice {why}")
            choice = "auto"
        self.wire.tool_choice = encode_choice(choice, self.names, parallel=parallel)

    # Output and knobs

    def tool_subset(self, tool: Tool) -> Subset | None:
        """The subset of JSON Schema for a tool."""
        return ANTHROPIC_STRICT if tool.strict and self.quirks.strict_schemas else ANTHROPIC_TOOL

    def output_subset(self, request: Request) -> Subset | None:
        """The subset of JSON Schema for an output."""
        del request
        return None if self.facts.output_schema is False else ANTHROPIC_OUTPUT

    def _output(self, schema: dict[str, Any]) -> None:
        if self.facts.output_schema is False:
            self.changes.add("output_schema", "/output_schema", f"{self.target.model} takes no output schema")
            return
        form = {"type": "json_schema", "schema": schema}
        self.wire.output_config = {**(self.wire.output_config or {}), "format": form}
        if self.request.schema_strict is False:
            self.changes.add("strict_unsupported", "/schema_strict", "an output schema always binds")

    def takes(self, name: str) -> bool:
        """Whether a knob can be turned; one at the service's own value while thinking may stay."""
        if not super().takes(name):
            return False
        is_free = name not in SAMPLING or not has_budget(self.wire)
        # A knob may say what the service does while it thinks.
        top_p = self.request.top_p or 0
        is_neutral = (name == "temperature" and self.request.temperature == 1) or (name == "top_p" and top_p >= 0.95)
        if is_free or self.facts.sampling or is_neutral:
            return True
        self.changes.add("parameter_unsupported", f"/{name}", "sampling is fixed while the model thinks")
        return False

    def _knobs(self) -> None:
        request, wire = self.request, self.wire
        self.set_knobs(wire, SAMPLING)
        if self.facts.sampling_pair is False and wire.temperature is not None and wire.top_p is not None:
            self.changes.add("parameter_unsupported", "/top_p", "the model takes temperature or top_p, not both")
            wire.top_p = None
        if request.stop:
            wire.stop_sequences = self.told_stops()
        if request.user is not None:
            wire.metadata = {"user_id": request.user}
        if request.service_tier is not None:
            if request.service_tier in SERVICE_TIERS:
                wire.service_tier = request.service_tier
            else:
                self.changes.add("parameter_unsupported", "/service_tier", f"no tier {request.service_tier!r} here")
        self.note_others()
        if request.n is not None:
            self.refuse_choices()

    def _extra(self) -> None:
        members = dict(self.own_members())
        betas = self._known_betas([str(beta) for beta in members.pop(BETAS, None) or ()], members)
        if betas:
            self.headers = (*self.headers, (BETA_HEADER, ",".join(betas)))
        thinking = members.get("thinking")
        if self.wire.thinking is None and is_object(thinking) and "type" not in thinking:
            del members["thinking"]  # how to show or to bind a thinking that is not asked for, or not any more
            self.changes.add("parameter_unsupported", f"/extra/{NAME}/thinking", "no thinking is asked for")
        merge_members(self.wire, members)

    def _known_betas(self, betas: list[str], members: dict[str, Any]) -> list[str]:
        """The beta features that the server knows; what a member needs is left out together with the member."""
        accepted = self.quirks.betas
        if "*" in accepted:
            return betas
        for beta in betas:
            if beta in accepted:
                continue
            self.changes.add("parameter_unsupported", f"/extra/{NAME}/{BETAS}", f"the server does not know {beta}")
            member = next((BETA_MEMBERS[start] for start in BETA_MEMBERS if beta.startswith(start)), "")
            if _taken_out(members, member):
                self.changes.add("parameter_unsupported", f"/extra/{NAME}/{member}", f"it needs {beta}")
        return [beta for beta in betas if beta in accepted]


def _taken_out(members: dict[str, Any], place: str) -> bool:
    """Whether there was a member at a place, or in a member, which is taken out."""
    outer, _, name = place.rpartition("/")
    holder = members.get(outer) if outer else members
    if not is_object(holder) or name not in holder:
        return False
    rest = {key: value for key, value in holder.items() if key != name}
    if outer and rest:
        members[outer] = rest
    else:
        del members[outer or name]
    return True


# The answer


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer.

    Loss: none; members without a field go to `extra`.
    Raises: DecodeError, with the path of the first bad place; the UpstreamError that a 200 hides.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ResponseWire, repairs=repairs, lenient=True)
    if wire.error or wire.type == "error" or (wire.content is None and is_complaint(wire.extra)):
        raise decode_error(reply, context)
    blocks = blocks_of(wire)
    changes = changes_of(NAME, "decode_response", repairs)
    raw = wire.stop_reason if isinstance(wire.stop_reason, str) else None
    reason = decode_finish(raw)
    decoder = AssistantDecoder(id_source(context), context.target, context.undo, changes)
    parts = tuple(decoder.decode(blocks, cut_off=reason == "length"))
    return Response(
        parts=parts,
        finish_reason=finish_of(reason, raw, parts, changes),
        finish_reason_raw=raw,
        usage=decode_usage(wire.usage, changes) if wire.usage is not None else None,
        model=wire.model or "",
        wire_model=wire.model or None,
        id=wire.id or None,
        changes=changes.done(),
        extra=extra_of(NAME, answer_members(wire)),
    )


def blocks_of(wire: ResponseWire) -> list[BlockWire]:
    """The blocks of an answer; one that has none says by its stop reason how it ended.

    Raises: InternalServerError, DecodeError for what has neither.
    """
    if wire.content is None and not wire.stop_reason:
        raise no_answer("content", "content", in_dialect=wire.type == "message" or wire.id is not None)
    return wire.content or []


ANSWER_MEMBERS = ("stop_sequence", "stop_details", "container", "context_management", "request_id")


def answer_members(wire: ResponseWire | DeltaWire) -> dict[str, Any]:
    """The members of an answer, or of an event about it, that only pass through."""
    members = {name: value for name in ANSWER_MEMBERS if (value := getattr(wire, name, None))}
    return {**members, **wire.extra} if wire.extra else members


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    return error_of_body(read_error(reply.body), failed_status(reply), reply.headers)
