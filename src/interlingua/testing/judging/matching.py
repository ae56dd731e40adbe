"""Whether a body says what a canonical value says, but for what its entries excuse: every difference, with its place.

Rules
- Texts are compared piece by piece, in order and with their role; a format may part and join them as it likes. Where an
  entry puts a text in the place of something else, another text may stand at that place, and only there.
- Lists (calls, tools, media …) are compared item by item. An excused item may be missing, an excused member may differ.
- A setting may differ, be missing or be added only where an entry names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from interlingua.testing.excuses import AS_TEXT, IN_SYSTEM, Excuses
from interlingua.testing.facts import Difference, first_difference
from interlingua.testing.judging.placed import Fact, PlacedAnswer, PlacedChoice, PlacedRequest
from interlingua.testing.judging.schemas import lost_of_schema
from interlingua.testing.wirefacts.settings import SETTINGS
from interlingua.testing.wirefacts.values import Facts, members

__all__ = ["answer_differences", "request_differences"]

THINKING = ("effort", "thinking", "thinking_budget")
"""Settings of which one may stand for another, where an entry names one."""
ABSENT = object()
NO_FACTS = frozenset({"schema_name", "schema_description"})
"""Settings that label something, and that some formats want or lack: compared where both sides say them."""
MADE_ID = re.compile(r"call_\d+")
"""An id of ours for a call that came without one: formats without ids leave it out again."""


class _Matcher:
    """Collects the differences of one comparison."""

    def __init__(self, excuses: Excuses) -> None:
        """A comparison under these excuses."""
        self.excuses = excuses
        self.found: list[Difference] = []
        self.names: dict[str, str] = {}
        """Own names of tools -> those on the wire, where an entry says that they differ."""
        self.ids: dict[str, str] = {}
        """The same of call ids."""
        self.numbers: dict[int, int] = {}
        """Number of a call -> its number on the wire."""

    def differ(self, path: str, one: object, other: object) -> None:
        """Note a difference."""
        self.found.append(Difference.at(path, one, other))

    def same(self, path: str, one: object, other: object) -> None:
        """Note where two values first differ."""
        if (found := first_difference(one, other, path)) is not None:
            self.found.append(found)

    # Lists

    def listed(self, fact: str, wanted: Sequence[Fact], told: Sequence[Any], *, in_order: bool = True) -> None:
        """Compare the items of one kind; what is excused may be gone or differ in the members that entries name."""
        rest = list(enumerate(told))
        for number, item in enumerate(wanted):
            loose = self.excuses.loose(fact, item.place)
            candidates = rest if not in_order else rest[:1]
            hit = next((one for one in candidates if _agree(_without_made_id(item.value, one[1]), one[1], loose)), None)
            if hit is not None:
                rest.remove(hit)
                self.numbers |= {number: hit[0]} if fact == "calls" else {}
            elif not self.excuses.gone(fact, item.place):
                self._missing(fact, item, rest, loose, fresh=len(rest) > len(wanted) - number - 1)
        for _, value in rest:
            self.differ(f"/{fact}", "(nothing)", value)

    def _missing(
        self, fact: str, item: Fact, rest: list[tuple[int, Any]], loose: frozenset[str], *, fresh: bool
    ) -> None:
        """Note an item that is another one on the wire, or that is not there."""
        if fresh and rest:
            self.same(f"/{fact}{item.place}", _apart(item.value, loose), _apart(rest.pop(0)[1], loose))
        else:
            self.differ(f"/{fact}{item.place}", item.value, "(missing)")

    # Texts

    def texts(self, fact: str, pieces: Sequence[Fact | None], turns: Sequence[Sequence[str]], **ways: bool) -> None:
        """Compare pieces of text with turns as (role, text); at None another text may stand, as an entry says."""
        reader = _TextReader(turns, **ways)
        for piece in pieces:
            if piece is None:
                reader.gap = True
            elif piece.value and not reader.take(piece.role, piece.value) and not self._may_go(fact, piece):
                self.differ(f"/{fact}{piece.place}", (piece.role, piece.value), reader.here())
                reader.gap = reader.lost = True
        if left := reader.rest():
            self.differ(f"/{fact}", "(nothing)", left)

    def _may_go(self, fact: str, piece: Fact) -> bool:
        blank = not piece.value.strip() and self.excuses.at(piece.place, ("empty_part",))
        return blank or self.excuses.gone(fact, piece.place)


class _TextReader:
    """Reads turns from the front; `spaced`: white space may stand between two pieces."""

    def __init__(self, turns: Sequence[Sequence[str]], *, spaced: bool = False, gaps: bool = False) -> None:
        self.turns = [(turn[0], turn[1]) for turn in turns if turn[1]]
        self.spaced = spaced
        self.gaps = gaps
        self.gap = gaps
        self.lost = False
        self.at = 0
        self.offset = 0

    def take(self, role: str, text: str) -> bool:
        """Whether the text stands here, or behind what may stand here; if so it is read."""
        place, offset = self.at, self.offset
        while place < len(self.turns):
            said_by, said = self.turns[place]
            end = self._end(said, text, offset) if said_by == role else None
            if end is not None:
                self.at, self.offset, self.gap = place, end, self.gaps
                return True
            if not self.gap and said[offset:].strip():
                return False
            place, offset = place + 1, 0
        return False

    def _end(self, said: str, text: str, offset: int) -> int | None:
        """Where `text` ends in what is said from `offset` on."""
        if self.gap:
            start = said.find(text, offset)
            return None if start < 0 else start + len(text)
        if said.startswith(text, offset):
            return offset + len(text)
        if not self.spaced:
            return None
        bare, start = text.strip(), len(said) - len(said[offset:].lstrip())
        return start + len(bare) if said.startswith(bare, start) else None

    def here(self) -> object:
        """What stands here."""
        place, offset = self.at, self.offset
        while place < len(self.turns) and not self.turns[place][1][offset:].strip():
            place, offset = place + 1, 0
        return (self.turns[place][0], self.turns[place][1][offset:]) if place < len(self.turns) else "(nothing)"

    def rest(self) -> str:
        """What was not read, where nothing may stand."""
        if self.gap or self.lost or self.at >= len(self.turns):
            return ""
        return "".join(
            [self.turns[self.at][1][self.offset :], *[said for _, said in self.turns[self.at + 1 :]]]
        ).strip()


def _apart(value: Any, loose: frozenset[str]) -> Any:
    if not loose or not isinstance(value, dict):
        return value
    return {name: member for name, member in members(value).items() if name not in loose}


def _without_made_id(wanted: Any, told: Any) -> Any:
    """A call without the id that was made for it, where the wire has none."""
    if not isinstance(told, dict) or "id" not in told or told["id"] is not None:
        return wanted
    made = MADE_ID.fullmatch(str(members(wanted).get("id"))) is not None
    return {**members(wanted), "id": None} if made else wanted


def _agree(wanted: Any, told: Any, loose: frozenset[str]) -> bool:
    if loose and isinstance(wanted, dict) and isinstance(told, dict):
        wanted, told = members(wanted), members(told)
        return all(_equal(value, told.get(name)) for name, value in wanted.items() if name not in loose)
    return _equal(wanted, told)


def _equal(one: Any, other: Any) -> bool:
    return first_difference(one, other) is None


# Requests


def request_differences(placed: PlacedRequest, told: Facts, excuses: Excuses) -> list[Difference]:
    """Where a body, read as facts, says something else than the request, and no entry names it."""
    matcher = _Matcher(excuses)
    matcher.same("/model", placed.model or None, told["model"] or None)
    _learn_names(matcher)
    _tools(matcher, placed, told)
    _settings(matcher, placed.settings, told["settings"], told["defaults"])
    matcher.texts("messages", _pieces(placed, excuses), told["messages"], gaps=_moved(placed, excuses))
    _conserved(matcher, placed, told["messages"])
    _parts(matcher, placed, told)
    _results(matcher, placed, told["results"])
    _schema(matcher, placed, told)
    in_order = not excuses.coded("order_changed", "result_media_moved")
    matcher.listed("cache_marks", sorted(placed.cache_marks, key=repr), told["cache_marks"], in_order=False)
    matcher.listed("media", _media(placed.media), _media_told(told["media"]), in_order=in_order)
    matcher.listed("references", placed.references, told["references"], in_order=in_order)
    return matcher.found


def _learn_names(matcher: _Matcher) -> None:
    """Learn from the entries which names and ids are others on the wire."""
    for change in matcher.excuses.coded("name_mapped", "id_mapped"):
        own, middle, wire = change.detail.removesuffix(" on the wire").partition(" is ")
        if middle:
            names = matcher.names if change.code == "name_mapped" else matcher.ids
            names[own.strip("'")] = wire.strip("'")


def _named(matcher: _Matcher, value: Any, *keys: str) -> Any:
    """A value with the names that stand for its own on the wire."""
    if not isinstance(value, dict):
        return value
    found = dict(members(value))
    for key in [key for key in keys if key in found]:
        found[key] = matcher.names.get(str(found.get(key)), found.get(key))
    if "id" in found:
        found["id"] = matcher.ids.get(str(found["id"]), found["id"])
    if "allowed" in found:
        found["allowed"] = [matcher.names.get(name, name) for name in found["allowed"]]
    return found


def _tools(matcher: _Matcher, placed: PlacedRequest, told: Facts) -> None:
    excuses = matcher.excuses
    tools = [{**tool, "strict": strict} for tool, strict in zip(told["tools"], told["strict"], strict=False)]
    wanted = [Fact(fact.place, _named(matcher, fact.value, "name")) for fact in placed.tools]
    left_out = excuses.has("tool_choice_approximated", "/tools")
    if left_out or excuses.has("tool_choice_approximated", "/tool_choice"):
        allowed = _allowed(placed.tool_choice)
        names = {tool["name"] for tool in tools}
        wanted = [fact for fact in wanted if fact.value["name"] in names or fact.value["name"] in allowed]
    if excuses.coded("parameter_added") and not wanted and excuses.setting("tools"):
        return  # tools that the history calls are declared
    every = excuses.has("strict_unsupported", "/tools") or excuses.has("parameter_added", "/tools")
    wanted = [_told_tool(matcher, fact, tools) for fact in wanted]
    wanted = [
        Fact(fact.place, _strictness(fact.value, tools, number, every=every)) for number, fact in enumerate(wanted)
    ]
    matcher.listed("tools", wanted, tools)
    matcher.listed("server_tools", placed.server_tools, told["server_tools"], in_order=False)
    choice = _named(matcher, placed.tool_choice, "name")
    offered = bool(placed.tools or placed.server_tools)
    if offered and not excuses.setting("tool_choice") and not excuses.coded("tools_withheld"):
        matcher.same("/tool_choice", choice, told["tool_choice"])


def _told_tool(matcher: _Matcher, fact: Fact, tools: Sequence[Facts]) -> Fact:
    """A tool with the schema and the description of the wire, where entries are right to say that they differ."""
    told = next((tool for tool in tools if tool["name"] == fact.value["name"]), None)
    if told is None:
        return fact
    value, excuses = dict(fact.value), matcher.excuses
    if value["description"] is None and excuses.at(fact.place, ("description_added",)):
        value["description"] = told["description"]
    if excuses.at(fact.place, ("freeform_as_function",)):
        value |= {"schema": told["schema"], "description": told["description"]}
    elif excuses.at(fact.place, ("schema_rewritten", "description_added")) and value["schema"] != told["schema"]:
        for lost in lost_of_schema(value["schema"], told["schema"]):
            matcher.differ(f"/tools{fact.place}/schema", lost, "(missing)")
        value["schema"] = told["schema"]
    return Fact(fact.place, value)


def _allowed(choice: Any) -> list[Any]:
    value = members(choice)
    return [*value.get("allowed", ()), value.get("name")]


def _strictness(tool: Facts, tools: Sequence[Facts], number: int, *, every: bool) -> Facts:
    """A tool with the `strict` of the wire where that says no other thing: no, or nothing at all."""
    told = tools[number]["strict"] if number < len(tools) else None
    no = (None, False) if tool["strict"] is False else (None, False, "default")
    free = every or (not tool["strict"] and told in no) or told == "always"
    return {**tool, "strict": told} if free else tool


def _settings(matcher: _Matcher, wanted: Facts, told: Facts, defaults: Facts) -> None:
    excuses = matcher.excuses
    for name in SETTINGS:
        one, other = wanted.get(name), told.get(name)
        if one == other or excuses.setting(name, said=one is not None):
            continue
        if None in (one, other) and (name in NO_FACTS or defaults.get(name, ABSENT) in (one, other)):
            continue
        if name in THINKING and _says_otherwise(name, wanted, told, excuses):
            continue
        if name == "thinking_summary" and one == "none" and not any(told.get(kin) for kin in THINKING):
            continue  # what is not thought is not shown
        matcher.same(f"/{name}", one, other)


def _says_otherwise(name: str, wanted: Facts, told: Facts, excuses: Excuses) -> bool:
    """Whether a setting of thinking is said by another one: who says how hard to think says that it is wanted."""
    if wanted.get(name) is None:
        return any(kin in wanted or excuses.setting(kin) for kin in THINKING)
    return name == "thinking" and wanted[name] is True and bool(told.get("effort") or told.get("thinking_budget"))


def _schema(matcher: _Matcher, placed: PlacedRequest, told: Facts) -> None:
    wanted, known, excuses = placed.output_schema, told["output_schema"], matcher.excuses
    if wanted == "json" and excuses.setting("json_mode"):
        return
    if wanted == known or not excuses.setting("output_schema"):
        matcher.same("/output_schema", wanted, known)
    elif isinstance(known, dict) and isinstance(wanted, dict):
        for found in lost_of_schema(wanted, known):
            matcher.differ("/output_schema", found, "(missing)")


def _pieces(placed: PlacedRequest, excuses: Excuses) -> list[Fact | None]:
    """The texts of a history in order, with the places where an entry puts another text."""
    texts = {fact.place: fact for fact in placed.texts}
    pieces: list[Fact | None] = []
    in_system = bool(excuses.coded(*IN_SYSTEM))
    began = excuses.has("parameter_added", "/messages/0")
    spoken = False
    for fact in placed.order:
        if not spoken and fact.role != "system":
            pieces += [None] if in_system or began else []
            spoken = True
        if excuses.at(fact.place, ("system_moved",)):
            continue
        if fact.place in texts:
            pieces.append(texts[fact.place])
        if excuses.at(fact.place, AS_TEXT):
            pieces.append(None)
    return [None, *pieces, None] if in_system else pieces


def _moved(placed: PlacedRequest, excuses: Excuses) -> bool:
    return any(excuses.at(fact.place, ("system_moved",)) for fact in placed.texts)


def _conserved(matcher: _Matcher, placed: PlacedRequest, turns: Sequence[Sequence[str]]) -> None:
    """What was moved is still said, and where no text was added nothing else is."""
    everything = "\n".join([turn[1] for turn in turns])
    for fact in placed.texts:
        if matcher.excuses.at(fact.place, ("system_moved",)) and fact.value.strip() not in everything:
            matcher.differ(f"/messages{fact.place}", (fact.role, fact.value), "(missing)")


def _parts(matcher: _Matcher, placed: PlacedChoice, told: Facts) -> None:
    """Thinking, seals, calls and refusals of a history."""
    thinking = [("", text) for text in told["thinking"]]
    matcher.texts("thinking", placed.thinking, thinking, spaced=True)
    matcher.listed("seals", placed.seals, told["seals"])
    calls = [Fact(fact.place, _named(matcher, fact.value, "name")) for fact in placed.calls]
    matcher.listed("calls", calls, told["calls"])
    refusals = [("", text) for text in told["refusals"]]
    matcher.texts("refusals", placed.refusals, refusals, spaced=True)


def _results(matcher: _Matcher, placed: PlacedRequest, told: Sequence[Facts]) -> None:
    wanted = [
        Fact(fact.place, {**fact.value, "call": matcher.numbers.get(fact.value["call"], fact.value["call"])})
        for fact in placed.results
    ]
    matcher.listed("results", wanted, told, in_order=not matcher.excuses.coded("order_changed"))


def _media(facts: Iterable[Fact]) -> list[Fact]:
    return [Fact(fact.place, {"type": fact.value[0], "sha256": fact.value[1]}) for fact in facts]


def _media_told(media: Iterable[Sequence[str]]) -> list[Facts]:
    return [{"type": kind, "sha256": digest} for kind, digest in media]


# Answers


def answer_differences(placed: PlacedAnswer, told: Facts, excuses: Excuses, end: str = "done") -> list[Difference]:
    """Where an answer on the wire, read as facts, says something else than the response, and no entry names it."""
    matcher = _Matcher(excuses)
    if end == "done":
        _usage(matcher, placed.usage, told["usage"])
    elif not any(choice.order for choice in placed.choices):
        return []  # nothing came before the stream broke, so nothing need be said of it
    if placed.model:
        matcher.same("/model", placed.model, told["model"])
    if placed.id is not None and told["has_id"]:
        matcher.same("/id", placed.id, told["id"])
    _choices(matcher, placed, told, end)
    return matcher.found


def _choices(matcher: _Matcher, placed: PlacedAnswer, told: Facts, end: str) -> None:
    lost = matcher.excuses.coded("alternatives_unsupported")
    for number, choice in enumerate(placed.choices):
        if number < len(told["choices"]):
            _choice(matcher, choice, told["choices"][number], end, told["finishes"])
        elif not any(change.path in ("/alternatives", choice.place) for change in lost):
            matcher.differ(f"/choices/{number}", "(a choice)", "(missing)")
    for choice in told["choices"][len(placed.choices) :]:
        matcher.differ(f"/choices/{len(placed.choices)}", "(nothing)", choice)


def _choice(matcher: _Matcher, placed: PlacedChoice, told: Facts, end: str, finishes: frozenset[str]) -> None:
    excuses = matcher.excuses
    ended_well = placed.finish_reason == "error" and told["finish_reason"] in CLEAN
    if end == "done" and (ended_well or not _finishes_otherwise(placed, excuses, finishes)):
        refused = placed.finish_reason == "refusal" and not placed.refusals
        reason = "content_filter" if refused else placed.finish_reason
        matcher.same(f"{placed.place}/finish_reason", reason, told["finish_reason"])
    texts = {fact.place: fact for fact in placed.texts}
    pieces: list[Fact | None] = []
    for fact in placed.order:
        if fact.place in texts:
            pieces.append(texts[fact.place])
        if excuses.at(fact.place, AS_TEXT):
            pieces.append(None)
    matcher.texts("text", pieces, [("assistant", told["text"])])
    matcher.texts("thinking", placed.thinking, [("", told["thinking"])], spaced=True)
    matcher.texts("refusals", placed.refusals, [("", told["refusal"] or "")], spaced=True)
    matcher.listed("seals", placed.seals, told["seals"])
    ids = told["call_ids"]
    calls = [{**call, "id": call_id} for call, call_id in zip(told["calls"], ids, strict=True)]
    matcher.listed("calls", placed.calls, calls)
    matcher.listed("media", _media(placed.media), _media_told(told["media"]))
    matcher.listed("citations", placed.citations, told["citations"])


CLEAN = frozenset({"stop", "tool_calls"})
"""What no entry makes of an answer that ended in an error: its client would go on as if nothing had happened."""


def _finishes_otherwise(placed: PlacedChoice, excuses: Excuses, known: frozenset[str]) -> bool:
    """Whether an entry says that the choice ends otherwise: for itself, or because what it holds is told as text."""
    named = excuses.at(f"{placed.place}/finish_reason", ("finish_reason_approximated", "finish_reason_derived"))
    if named and placed.finish_reason not in known:
        return True
    return any(excuses.at(fact.place, ("refusal_as_text", "broken_call_as_text")) for fact in placed.order)


def _usage(matcher: _Matcher, wanted: Facts | None, told: Facts | None) -> None:
    """Counts that nobody made may be told as 0, where an entry says so; the others are what they were."""
    one, other = wanted or {}, told or {}
    for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
        said, again = one.get(name), other.get(name)
        filled = said is None and again == 0
        if said == again or (filled and _filler(matcher.excuses, name)):
            continue
        adjusted = matcher.excuses.at(f"/usage/{name}_tokens", ("parameter_unsupported", "parameter_adjusted"))
        if not adjusted or (name == "input" and _adds_up(one)):
            matcher.same(f"/usage/{name}", said, again)


def _adds_up(usage: Facts) -> bool:
    """Whether the cached tokens are no more than those of the input: then nothing has to be adjusted."""
    return (usage.get("input") or 0) >= (usage.get("cache_read") or 0) + (usage.get("cache_write") or 0)


def _filler(excuses: Excuses, name: str) -> bool:
    return excuses.has("parameter_added", "/usage") or excuses.has("parameter_added", f"/usage/{name}_tokens")
