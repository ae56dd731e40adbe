"""The members that a translation leaves behind: those that only other dialects know, each noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._logprobs import move_logprobs, without_logprobs
from interlingua.dialects._members import foreign_extras, is_list, is_object, told_names
from interlingua.dialects._seals import note_seal
from interlingua.types.change import MAX_CHANGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import TextPart, ThinkingPart, ToolCall
    from interlingua.types.event import Extra
    from interlingua.types.response import Alternative, Response

__all__ = ["adopt_answer", "note_event", "note_foreign", "note_joined", "note_others"]

_UNMISSED: dict[str, frozenset[str]] = {
    "openai-responses": frozenset(
        {
            "background",
            "billing",
            "completed_at",
            "created_at",
            "frequency_penalty",
            "input",
            "instructions",
            "item",
            "max_output_tokens",
            "max_tool_calls",
            "metadata",
            "object",
            "parallel_tool_calls",
            "presence_penalty",
            "previous_response_id",
            "prompt",
            "prompt_cache_key",
            "prompt_cache_options",
            "prompt_cache_retention",
            "reasoning",
            "safety_identifier",
            "store",
            "system_fingerprint",
            "temperature",
            "text",
            "tool_choice",
            "tool_usage",
            "tools",
            "top_logprobs",
            "top_p",
            "total_tokens",
            "truncation",
            "user",
        }
    ),
    "openai-chat": frozenset(
        {
            "choice.content_filter_results",
            "choice.native_finish_reason",
            "choice.seed",
            "choice.stop_reason",
            "closed",
            "created",
            "field",
            "metadata",
            "metrics",
            "prompt_filter_results",
            "provider",
            "request_id",
            "system_fingerprint",
            "time_info",
            "usage_breakdown",
            "x_groq",
        }
    ),
    "google": frozenset(
        {
            "candidate.avgLogprobs",
            "candidate.finishMessage",
            "candidate.index",
            "candidate.tokenCount",
            "createTime",
            "turnToken",
            "usageMetadata",
        }
    ),
    "bedrock": frozenset({"metrics", "performanceConfig"}),
    "ollama": frozenset(
        {"created_at", "eval_duration", "field", "load_duration", "prompt_eval_duration", "total_duration"}
    ),
}
"""Members of answers that nobody misses in another dialect, those of a choice behind a dot: they repeat the request, or
say when, where and how fast it was served, or what a filter did not find."""
_UNMISSED_COUNTS: dict[str, frozenset[str]] = {
    "openai-chat": frozenset(
        {
            "cached_tokens",
            "completion_time",
            "completion_tokens_details.text_tokens",
            "cost",
            "cost_details",
            "cost_in_usd_ticks",
            "is_byok",
            "num_cached_tokens",
            "prompt_cache_hit_tokens",
            "prompt_cache_miss_tokens",
            "prompt_time",
            "prompt_tokens_details.cached_tokens",
            "prompt_tokens_details.text_tokens",
            "queue_time",
            "total_time",
        }
    ),
    "openai-responses": frozenset({"context_details", "cost", "cost_details", "cost_in_usd_ticks", "is_byok"}),
    "anthropic": frozenset({"cache_creation", "inference_geo"}),
    "google": frozenset(
        {
            "cacheTokensDetails",
            "candidatesTokensDetails",
            "promptTokensDetails",
            "toolUsePromptTokenCount",
            "toolUsePromptTokensDetails",
        }
    ),
    "cohere": frozenset({"billed_units"}),
    "bedrock": frozenset({"cacheDetails", "cacheReadInputTokenCount", "cacheWriteInputTokenCount", "cache_creation"}),
}
"""Members beside the counts of an answer that nobody misses in another dialect, inner ones behind a dot: every answer
of a server has them, and they are shares of a count that is translated, or say where, how fast and at which price."""
_NESTED = frozenset({"choice", "candidate", "message"})
"""Members that hold those of a choice."""
_USUAL: dict[str, tuple[Any, ...]] = {
    "caller": ({"type": "direct"},),
    "service_tier": ("auto", "default", "standard", "on_demand"),
    "serviceTier": ("standard", "STANDARD", "unspecified", {"type": "default"}),
    "trafficType": ("ON_DEMAND", 1),
}
"""Values of members that say only what is so without them; where another tier served, it had another price."""
_NONE: frozenset[str] = frozenset()
_OF_ANSWER = ("/parts/", "/alternatives/")
_HAVE_CHOICES = frozenset({"openai-chat", "google"})
"""The dialects whose answers have further choices."""


def adopt_answer(response: Response[Any], changes: Changes) -> Response[Any]:
    """The answer for a client of another dialect, with an entry for each place with members that only others know.

    Log probabilities of tokens stand in the place that the client's dialect has for them. A stream is adopted at its
    end, when all of it is known.
    """
    response = move_logprobs(response, changes.dialect)
    _note_choice(changes, response, "")
    if response.usage is not None and response.usage.extra:
        _note_counts(changes, response.usage.extra)
    if response.alternatives and changes.dialect in _HAVE_CHOICES:
        choices = tuple([move_logprobs(one, changes.dialect) for one in response.alternatives])
        for place, choice in enumerate(choices):
            _note_choice(changes, choice, f"/alternatives/{place}")
        response = replace(response, alternatives=choices)
    return response


def _note_choice(changes: Changes, choice: Response[Any] | Alternative, path: str) -> None:
    note_foreign(changes, choice.extra, path)
    for place, part in enumerate(choice.parts):
        if extra := getattr(part, "extra", None):
            note_foreign(changes, extra, f"{path}/parts/{place}")


def _note_counts(changes: Changes, extra: Mapping[str, Any]) -> None:
    """Entries for the members beside the counts that only other dialects know, if somebody could miss one of them."""
    for dialect in foreign_extras(extra, changes.dialect):
        unmissed, missed = _UNMISSED_COUNTS.get(dialect, _NONE), list[str]()
        for name, value in extra[dialect].items():
            if name not in unmissed and value not in _USUAL.get(name, ()):
                inner = {f"{name}.{one}": count for one, count in value.items()} if is_object(value) else {name: value}
                missed += [one for one, count in inner.items() if one not in unmissed and not _counts_nothing(count)]
        if missed:
            changes.add("extra_foreign", f"/usage/extra/{dialect}", told_names(missed))


def _counts_nothing(value: Any) -> bool:
    """Whether a member beside the counts says nothing: what is empty, zero or false, and what holds only that."""
    if is_object(value):
        return all([_counts_nothing(one) for one in value.values()])
    return all([_counts_nothing(one) for one in value]) if is_list(value) else not value


def note_foreign(changes: Changes, extra: Mapping[str, Any], path: str = "") -> None:
    """Entries for the members in `extra` that only other dialects know.

    Those of an answer, which has no `path`, of its choices and of its parts only if somebody could miss one of them.
    """
    if not extra:
        return
    of_answer = not path or path.startswith(_OF_ANSWER)
    if of_answer:
        extra = without_logprobs(extra, changes.dialect)
    for dialect in foreign_extras(extra, changes.dialect):
        members = extra[dialect]
        missed = _missed(members, _UNMISSED.get(dialect, _NONE)) if of_answer else members
        if not missed:
            continue
        place, detail = f"{path}/extra/{dialect}", told_names(missed)
        if not (of_answer and _is_noted(changes, place, detail)):
            changes.add("extra_foreign", place, detail)


def note_event(changes: Changes, event: Extra) -> None:
    """An entry for an event of a stream that the client's dialect has no form for, once for each kind of event.

    What says how far an item got has none: the item itself comes whole, and has its own.
    """
    raw = event.raw
    if is_object(raw) and ("item_id" in raw or "output_index" in raw):
        return
    place, detail = f"/extra/{event.dialect}", f"events {told_names([_kind_of(raw)])}"
    if not _is_noted(changes, place, detail):
        changes.add("extra_foreign", place, detail)


def _kind_of(raw: Any) -> str:
    """The name of an event, with that of the piece in it where it has one."""
    if not is_object(raw):
        return "without a name"
    delta = raw.get("delta")
    inner = delta.get("type") if is_object(delta) else None
    kind = raw.get("type", next(iter(raw), ""))
    return f"{kind} of {inner}" if isinstance(inner, str) else str(kind)


def _is_noted(changes: Changes, place: str, detail: str) -> bool:
    """Whether there is this entry for a place already: an answer is noted as a whole, and its parts where they differ.

    Entries beyond the bound are only counted, and nobody looks through all of them for each part of a long answer.
    """
    entries = changes.entries
    if len(entries) >= MAX_CHANGES:
        return False
    return any([entry.path == place and entry.detail == detail for entry in entries])


def note_joined(changes: Changes, part: TextPart, path: str) -> None:
    """An entry for the members of the dialect itself that a text loses because it becomes one string with others."""
    if changes.dialect in part.extra:
        changes.add("extra_foreign", f"{path}/extra/{changes.dialect}", "the texts of the result are joined")


def note_others(
    parts: Sequence[tuple[TextPart | ThinkingPart | ToolCall, int]], changes: Changes, path: str, *, members: bool
) -> bool:
    """Whether no part, each with its place, has members or seals of the dialect itself: others' are noted then.

    `members` says whether those of others are noted besides seals.
    """
    for part, _ in parts:
        if changes.dialect in part.extra or (part.sealed is not None and part.sealed.dialect == changes.dialect):
            return False
    for part, place in parts:
        here = f"{path}/parts/{place}"
        if members:
            note_foreign(changes, part.extra, here)
        if part.sealed is not None:
            note_seal(changes, part.sealed, here)
    return True


def _missed(members: Mapping[str, Any], unmissed: frozenset[str]) -> list[str]:
    """The members of an answer that somebody could miss, those of a choice behind a dot."""
    missed: list[str] = []
    if unmissed.issuperset(members):
        return missed
    for name, value in members.items():
        if name in unmissed or _is_empty(value) or value in _USUAL.get(name, ()):
            continue
        inner = [name]
        if name in _NESTED and is_object(value):
            inner = [f"{name}.{one}" for one in value if not _is_empty(value[one])]
        missed += [one for one in inner if one not in unmissed]
    return missed


def _is_empty(value: Any) -> bool:
    """Whether a value of JSON says nothing: null, or a text, list or object with nothing in it."""
    if is_object(value):
        return all([_is_empty(one) for one in value.values()])
    return value is None or value in ("", [])
