"""Rules of Messages beyond the shape of a request, model families aside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.rules.anthropic_models import ANTHROPIC_MODEL_RULES
from interlingua.testing.upstream.rules.common import repeated
from interlingua.testing.upstream.rules.schemas import anthropic_root, anthropic_strict
from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.values import items, members, objects, word

__all__ = ["ANTHROPIC_RULES", "MAX_CACHE_MARKS", "budget_findings", "knob_findings"]

MAX_CACHE_MARKS = 4
"""The most cache marks of one request."""
MAX_IMAGES = 600
_THOUGHTS = ("thinking", "redacted_thinking")

Block = tuple[tuple[str | int, ...], dict[str, Any]]


class _Turn:
    """Neighbours of the same role, as the service merges them."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.blocks: list[Block] = []

    def calls(self) -> list[str]:
        """Ids of its calls."""
        return [word(block.get("id")) for _, block in self.blocks if block.get("type") == "tool_use"]


def _turns(request: Asked) -> list[_Turn]:
    turns: list[_Turn] = []
    for place, message in enumerate(objects(request.body.get("messages"))):
        role = word(message.get("role"))
        if role == "system":
            continue
        if not turns or turns[-1].role != role:
            turns.append(_Turn(role))
        turns[-1].blocks += [(("messages", place, "content", *at), block) for at, block in _content(message)]
    return turns


def _content(message: dict[str, Any]) -> list[Block]:
    content = message.get("content")
    if isinstance(content, str):
        return [((), {"type": "text", "text": content})]
    return [((place,), members(block)) for place, block in enumerate(items(content))]


def _blocks(request: Asked) -> Iterator[Block]:
    """Every block of system text, messages and results."""
    for place, block in enumerate(objects(request.body.get("system"))):
        yield ("system", place), block
    for turn in _turns(request):
        for steps, block in turn.blocks:
            yield steps, block
            for place, inner in enumerate(objects(block.get("content"))):
                yield (*steps, "content", place), inner


# Order and pairing


def _unanswered_calls(request: Asked) -> Iterator[Finding]:
    turns = _turns(request)
    for place, turn in enumerate(turns):
        later = turns[place + 1].blocks if place + 1 < len(turns) else []
        answered = {word(block.get("tool_use_id")) for _, block in later if block.get("type") == "tool_result"}
        missing = [call for call in turn.calls() if call not in answered]
        if missing and turn.role == "assistant":
            listing = ", ".join(missing)
            yield (
                turn.blocks[0][0][:2],
                f"`tool_use` ids were found without `tool_result` blocks immediately after: {listing}.",
            )


def _orphan_results(request: Asked) -> Iterator[Finding]:
    before: list[str] = []
    for turn in _turns(request):
        answered: set[str] = set()
        for steps, block in turn.blocks:
            call = word(block.get("tool_use_id"))
            if block.get("type") != "tool_result":
                continue
            if call not in before:
                yield steps, f"unexpected `tool_use_id` found in `tool_result` blocks: {call}."
            elif call in answered:
                yield steps, f"each tool_use must have a single result. Found multiple `tool_result` blocks: {call}"
            answered.add(call)
        before = turn.calls()


def _results_first(request: Asked) -> Iterator[Finding]:
    for turn in _turns(request):
        kinds = [block.get("type") for _, block in turn.blocks]
        for place, (steps, _) in enumerate(turn.blocks):
            if kinds[place] == "tool_result" and "text" in kinds[:place]:
                yield steps, "`tool_result` blocks come before any text of their turn"


def _repeated_calls(request: Asked) -> Iterator[Finding]:
    calls = [
        ((*steps, "id"), word(block.get("id")))
        for turn in _turns(request)
        for steps, block in turn.blocks
        if block.get("type") == "tool_use"
    ]
    yield from repeated(calls, "`tool_use` id")


def _roles_of_blocks(request: Asked) -> Iterator[Finding]:
    """Calls and thoughts stand in assistant turns, results in user turns."""
    homes = {"tool_use": "assistant", "thinking": "assistant", "redacted_thinking": "assistant", "tool_result": "user"}
    for turn in _turns(request):
        for steps, block in turn.blocks:
            home = homes.get(word(block.get("type")), turn.role)
            if home != turn.role:
                yield steps, f"`{block.get('type')}` blocks can only be in `{home}` messages"


# Texts


def _empty_texts(request: Asked) -> Iterator[Finding]:
    for steps, block in _blocks(request):
        text = block.get("text")
        if block.get("type") == "text" and text == "" and isinstance(steps[-1], int):
            yield (*steps, "text"), "text content blocks must be non-empty"


def _empty_messages(request: Asked) -> Iterator[Finding]:
    messages = objects(request.body.get("messages"))
    for place, message in enumerate(messages):
        is_last = place == len(messages) - 1 and message.get("role") == "assistant"
        if not is_last and message.get("content") in ("", []):
            yield ("messages", place), "messages must have non-empty content except for the final assistant message"


def _trailing_space(request: Asked) -> Iterator[Finding]:
    turns = _turns(request)
    if turns and turns[-1].role == "assistant" and turns[-1].blocks:
        steps, block = turns[-1].blocks[-1]
        text = word(block.get("text"))
        if block.get("type") == "text" and text != text.rstrip():
            yield steps, "final assistant content cannot end with trailing whitespace"


def _empty_errors(request: Asked) -> Iterator[Finding]:
    for steps, block in _blocks(request):
        if block.get("type") == "tool_result" and block.get("is_error") and not block.get("content"):
            yield (*steps, "content"), "content cannot be empty if `is_error` is true"


# Caches, thoughts, tools


def _cache_marks(request: Asked) -> Iterator[Finding]:
    marked = [block for _, block in _blocks(request)] + objects(request.body.get("tools")) + [request.body]
    count = sum(holder.get("cache_control") is not None for holder in marked)
    if count > MAX_CACHE_MARKS:
        yield (), f"A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided. Found {count}."


def _thought_first(request: Asked) -> Iterator[Finding]:
    """In a tool loop with manual thinking, the assistant turn begins with its thought."""
    if members(request.body.get("thinking")).get("type") != "enabled":
        return
    turns = _turns(request)
    if len(turns) < 2 or turns[-1].role != "user" or not turns[-2].calls():
        return
    steps, block = turns[-2].blocks[0]
    if block.get("type") not in _THOUGHTS:
        sentence = (
            f"Expected `thinking` or `redacted_thinking`, but found `{block.get('type')}`. When `thinking` is enabled, "
            "a final `assistant` message must start with a thinking block"
        )
        yield (*steps, "type"), sentence


def _changed_seals(request: Asked) -> Iterator[Finding]:
    """A thought comes back as it was given."""
    if request.issued is None:
        return
    for steps, block in _blocks(request):
        kind = block.get("type")
        seal = word(block.get("signature" if kind == "thinking" else "data"))
        if kind in _THOUGHTS and seal not in request.issued.seals:
            yield steps, "Invalid `signature` in `thinking` block"
        elif kind == "thinking" and request.issued.seals[seal] != word(block.get("thinking")):
            yield steps, "`thinking` blocks in the latest assistant message cannot be modified"


def budget_findings(request: Asked) -> Iterator[Finding]:
    """A budget of thinking that leaves nothing of the limit."""
    thinking = members(request.body.get("thinking"))
    budget, limit = thinking.get("budget_tokens"), request.body.get("max_tokens")
    if isinstance(budget, int) and isinstance(limit, int) and budget >= limit:
        yield ("max_tokens",), "`max_tokens` must be greater than `thinking.budget_tokens`"


def knob_findings(request: Asked) -> Iterator[Finding]:
    """Knobs that are fixed while the model thinks with a budget."""
    if members(request.body.get("thinking")).get("type") != "enabled":
        return
    if request.body.get("temperature", 1) != 1:
        yield ("temperature",), "`temperature` may only be set to 1 when thinking is enabled"
    if "top_k" in request.body:
        yield ("top_k",), "`top_k` must be unset when thinking is enabled"
    if request.body.get("top_p", 1) < 0.95:
        yield ("top_p",), "`top_p` must be at least 0.95 or unset when thinking is enabled"
    if members(request.body.get("tool_choice")).get("type") in ("any", "tool"):
        yield ("tool_choice",), "Thinking may not be enabled when tool_choice forces tool use."


def _tool_names(request: Asked) -> Iterator[Finding]:
    tools = objects(request.body.get("tools"))
    named = [((("tools", place, "name")), word(tool.get("name"))) for place, tool in enumerate(tools) if "name" in tool]
    yield from repeated(named, "Tool names must be unique:")


def _tool_choice(request: Asked) -> Iterator[Finding]:
    choice = members(request.body.get("tool_choice"))
    tools = objects(request.body.get("tools"))
    if choice and not tools:
        yield ("tool_choice",), "tool_choice may only be specified while providing tools"
    name = choice.get("name")
    if choice.get("type") == "tool" and tools and name not in [tool.get("name") for tool in tools]:
        yield ("tool_choice", "name"), f"Tool '{name}' not found in provided tools"


def _schemas(request: Asked) -> Iterator[Finding]:
    for place, tool in enumerate(objects(request.body.get("tools"))):
        if "input_schema" in tool:
            yield from anthropic_root(tool["input_schema"], ("tools", place, "input_schema"))
            if tool.get("strict"):
                yield from anthropic_strict(tool["input_schema"], ("tools", place, "input_schema"))
    form = members(members(request.body.get("output_config")).get("format"))
    yield from anthropic_strict(form.get("schema"), ("output_config", "format", "schema"))


def _images(request: Asked) -> Iterator[Finding]:
    count = sum(block.get("type") == "image" for _, block in _blocks(request))
    if count > MAX_IMAGES:
        yield ("messages",), f"{count} images; {MAX_IMAGES} is the most"


def _blank_stops(request: Asked) -> Iterator[Finding]:
    for place, stop in enumerate(items(request.body.get("stop_sequences"))):
        if not word(stop).strip():
            yield ("stop_sequences", place), "each stop sequence must contain non-whitespace"


ANTHROPIC_RULES: tuple[Rule, ...] = (
    Rule("unanswered_calls", _unanswered_calls, "Anthropic, Pitfalls; RES-01, RES-07"),
    Rule("orphan_result", _orphan_results, "Anthropic, Pitfalls; RES-06, RES-08"),
    Rule("results_first", _results_first, "Anthropic, Field facts, results (unverified wording)"),
    Rule("repeated_call_id", _repeated_calls, "ID-09"),
    Rule("block_in_wrong_role", _roles_of_blocks, "Anthropic, Field facts, results"),
    Rule("empty_text", _empty_texts, "Anthropic, Pitfalls; RES-17"),
    Rule("empty_message", _empty_messages, "RES-17"),
    Rule("trailing_space", _trailing_space, "Anthropic, Pitfalls"),
    Rule("empty_error", _empty_errors, "RES-15"),
    Rule("blank_stop", _blank_stops, "a refusal told in BerriAI/litellm#3286"),
    Rule("cache_marks", _cache_marks, "Anthropic, Field facts, caching; RES-27, PAR-08, PAR-09"),
    Rule("thought_first", _thought_first, "Anthropic, Thinking rules; THK-01"),
    Rule("changed_seal", _changed_seals, "Anthropic, Thinking rules, Echo rule; THK-02, THK-06"),
    Rule("budget", budget_findings, "Anthropic, Thinking rules; PAR-05"),
    Rule("knob_with_thinking", knob_findings, "Anthropic, Thinking rules; THK-11"),
    Rule("tool_names", _tool_names, "ID-17"),
    Rule("unknown_choice", _tool_choice, "CHO-17"),
    Rule("schema", _schemas, "Anthropic, Schema subset; SCH-17"),
    Rule("too_many_images", _images, "Anthropic, Field facts, image limits"),
    *ANTHROPIC_MODEL_RULES,
)
"""The rules of Messages."""
