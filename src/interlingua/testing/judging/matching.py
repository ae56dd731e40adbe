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

from interlingua.testing.excuses import AS_TEXT, AS_THINKING, IN_SYSTEM, Excuses
from interlingua.testing.facts import Difference, first_difference
from interlingua.testing.judging.arguments import Places, as_told, places_of
from interlingua.testing.judging.placed import Fact, PlacedAnswer, PlacedChoice, PlacedRequest
from interlingua.testing.judging.schemas import lost_of_schema
from interlingua.testing.wirefacts.marks import EXCERPT
from interlingua.testing.wirefacts.settings import SETTINGS
from interlingua.testing.wirefacts.values import ERROR_PREFIX, Facts, items, members

__all__ = ["answer_differences", "request_differences"]

THINKING = ("effort", "thinking", "thinking_budget")
"""Settings of which one may stand for another, where an entry names one."""
ABSENT = object()
NO_FACTS = frozenset({"schema_name", "schema_description"})
"""Settings that label something, and that some formats want or lack: compared where both sides say them."""
RENAMED = re.compile(r"(?P<a>['\"])(?P<own>.*)(?P=a) is (?P<b>['\"])(?P<wire>.*)(?P=b) on the wire", re.DOTALL)
"""How an entry tells that a name or an id is another one on the wire."""
MADE_ID = re.compile(r"call_\d+")
"""An id of ours for a call that came without one: formats without ids leave it out again."""


class _Matcher:
    """Collects the differences of one comparison."""

    def __init__(self, excuses: Excuses) -> None:
        """A comparison under these excuses."""
        self.excuses = excuses
        self.differences: list[Difference] = []
        self.names: dict[str, str] = {}
        """Own names of tools -> those on the wire, where an entry says that they differ."""
        self.ids: dict[str, str] = {}
        """Own call ids -> those on the wire, where an entry says that they differ."""
        self.text_places: frozenset[str] = frozenset()
        """The places of which some words are sent as text, perhaps not in this order."""
        self.numbers: dict[int, int] = {}
        """Number of a call -> its number on the wire."""
        self.rewritten: dict[str, Places] = {}
        """Names of tools on the wire -> the places of their arguments where entries say that the schema is another."""

    def differ(self, path: str, one: object, other: object) -> None:
        """Note a difference."""
        self.differences.append(Difference.at(path, one, other))

    def same(self, path: str, one: object, other: object) -> None:
        """Note where two values first differ."""
        if (differences := first_difference(one, other, path)) is not None:
            self.differences.append(differences)

    # Lists

    def listed(self, fact: str, expected: Sequence[Fact], actual: Sequence[Any], *, in_order: bool = True) -> None:
        """Compare the items of one kind; what is excused may be gone or differ in the members that entries name."""
        rest = list(enumerate(actual))
        for number, item in enumerate(expected):
            loose = self.excuses.loose(fact, item.place)
            candidates = rest if not in_order else rest[:1]
            hit = next((one for one in candidates if _agree(_without_made_id(item.value, one[1]), one[1], loose)), None)
            if hit is not None:
                rest.remove(hit)
                self.numbers |= {number: hit[0]} if fact == "calls" else {}
            elif not self.excuses.gone(fact, item.place):
                self._missing(fact, item, rest, loose, fresh=len(rest) > len(expected) - number - 1)
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
        if piece.place in self.text_places:
            return True
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
            said_by, turn_text = self.turns[place]
            end = self._end(turn_text, text, offset) if said_by == role else None
            if end is not None:
                self.at, self.offset, self.gap = place, end, self.gaps
                return True
            if not self.gap and turn_text[offset:].strip():
                return False
            place, offset = place + 1, 0
        return False

    def _end(self, turn_text: str, text: str, offset: int) -> int | None:
        """Where `text` ends in what is said from `offset` on."""
        if self.gap:
            start = turn_text.find(text, offset)
            return None if start < 0 else start + len(text)
        if turn_text.startswith(text, offset):
            return offset + len(text)
        if not self.spaced:
            return None
        bare, start = text.strip(), len(turn_text) - len(turn_text[offset:].lstrip())
        return start + len(bare) if turn_text.startswith(bare, start) else None

    def here(self) -> object:
        """The value here."""
        place, offset = self.at, self.offset
        while place < len(self.turns) and not self.turns[place][1][offset:].strip():
            place, offset = place + 1, 0
        return (self.turns[place][0], self.turns[place][1][offset:]) if place < len(self.turns) else "(nothing)"

    def rest(self) -> str:
        """The part that was not read, where nothing may stand."""
        if self.gap or self.lost or self.at >= len(self.turns):
            return ""
        return "".join(
            [self.turns[self.at][1][self.offset :], *[turn_text for _, turn_text in self.turns[self.at + 1 :]]]
        ).strip()


def _apart(value: Any, loose: frozenset[str]) -> Any:
    if not loose or not isinstance(value, dict):
        return value
    return {name: member for name, member in members(value).items() if name not in loose}


def _without_made_id(expected: Any, actual: Any) -> Any:
    """A call without the id that was made for it, where the wire has none."""
    if not isinstance(actual, dict) or "id" not in actual or actual["id"] is not None:
        return expected
    made = MADE_ID.fullmatch(str(members(expected).get("id"))) is not None
    return {**members(expected), "id": None} if made else expected


def _agree(expected: Any, actual: Any, loose: frozenset[str]) -> bool:
    if loose and isinstance(expected, dict) and isinstance(actual, dict):
        expected, actual = members(expected), members(actual)
        return all(_equal(value, actual.get(name)) for name, value in expected.items() if name not in loose)
    return _equal(expected, actual)


def _equal(one: Any, other: Any) -> bool:
    return first_difference(one, other) is None


# Requests


def request_differences(placed: PlacedRequest, actual: Facts, excuses: Excuses) -> list[Difference]:
    """Where a body, read as facts, says something else than the request, and no entry names it."""
    matcher = _Matcher(excuses)
    matcher.same("/model", placed.model or None, actual["model"] or None)
    _learn_names(matcher)
    _tools(matcher, placed, actual)
    _settings(matcher, placed.settings, actual["settings"], actual["defaults"])
    matcher.text_places = frozenset([fact.place for fact in placed.steps if excuses.at(fact.place, AS_THINKING)])
    matcher.texts("messages", _pieces(placed, excuses), actual["messages"], gaps=_moved(placed, excuses))
    _conserved(matcher, placed, actual["messages"])
    _parts(matcher, placed, actual)
    _results(matcher, placed, actual["results"])
    _schema(matcher, placed, actual)
    in_order = not excuses.coded("order_changed", "result_media_moved")
    marks = _marks(placed, actual["cache_marks"], excuses)
    matcher.listed("cache_marks", sorted(marks, key=repr), actual["cache_marks"], in_order=False)
    matcher.listed("media", _media(placed.media), _media_told(actual["media"]), in_order=in_order)
    matcher.listed("references", placed.references, actual["references"], in_order=in_order)
    _steps(matcher, placed, actual["steps"], [turn[1] for turn in actual["messages"]])
    return matcher.differences


def _learn_names(matcher: _Matcher) -> None:
    """Learn from the entries which names and ids are others on the wire."""
    for change in matcher.excuses.coded("name_mapped", "id_mapped"):
        if (pair := RENAMED.fullmatch(change.detail)) is not None:
            names = matcher.names if change.code == "name_mapped" else matcher.ids
            names[pair["own"]] = pair["wire"]


def _named(matcher: _Matcher, value: Any, *keys: str) -> Any:
    """A value with the names that stand for its own on the wire."""
    if not isinstance(value, dict):
        return value
    renamed = dict(members(value))
    for key in [key for key in keys if key in renamed]:
        renamed[key] = matcher.names.get(str(renamed.get(key)), renamed.get(key))
    if "id" in renamed:
        renamed["id"] = matcher.ids.get(str(renamed["id"]), renamed["id"])
    if "allowed" in renamed:
        renamed["allowed"] = [matcher.names.get(name, name) for name in renamed["allowed"]]
    return renamed


def _tools(matcher: _Matcher, placed: PlacedRequest, actual: Facts) -> None:
    excuses = matcher.excuses
    tools = [{**tool, "strict": strict} for tool, strict in zip(actual["tools"], actual["strict"], strict=False)]
    expected = [Fact(fact.place, _named(matcher, fact.value, "name")) for fact in placed.tools]
    left_out = excuses.has("tool_choice_approximated", "/tools")
    if left_out or excuses.has("tool_choice_approximated", "/tool_choice"):
        allowed = _allowed(placed.tool_choice)
        names = {tool["name"] for tool in tools}
        expected = [fact for fact in expected if fact.value["name"] in names or fact.value["name"] in allowed]
    if excuses.coded("parameter_added") and not expected and excuses.setting("tools"):
        return  # tools that the history calls are declared
    every = excuses.has("strict_unsupported", "/tools") or excuses.has("parameter_added", "/tools")
    matcher.rewritten = {fact.value["name"]: places for fact in expected if (places := _rewritten(excuses, fact.place))}
    expected = [_told_tool(matcher, fact, tools) for fact in expected]
    expected = [
        Fact(fact.place, _strictness(fact.value, tools, number, every=every)) for number, fact in enumerate(expected)
    ]
    matcher.listed("tools", expected, tools)
    matcher.listed("server_tools", placed.server_tools, actual["server_tools"], in_order=False)
    choice = _named(matcher, placed.tool_choice, "name")
    offered = bool(placed.tools or placed.server_tools)
    if offered and not excuses.setting("tool_choice") and not excuses.coded("tools_withheld"):
        matcher.same("/tool_choice", choice, actual["tool_choice"])


def _rewritten(excuses: Excuses, place: str) -> Places:
    """The places of the arguments of the tool at `place` that entries about its schema describe."""
    schema = f"{place}/parameters"
    entries = [change.path for change in excuses.coded("schema_rewritten")]
    return places_of([path[len(schema) :] for path in entries if path == schema or path.startswith(f"{schema}/")])


def _told_tool(matcher: _Matcher, fact: Fact, tools: Sequence[Facts]) -> Fact:
    """A tool with the schema and the description of the wire, where entries are right to say that they differ."""
    actual = next((tool for tool in tools if tool["name"] == fact.value["name"]), None)
    if actual is None:
        return fact
    value, excuses = dict(fact.value), matcher.excuses
    if value["description"] is None and excuses.at(fact.place, ("description_added",)):
        value["description"] = actual["description"]
    if excuses.at(fact.place, ("freeform_as_function",)):
        value |= {"schema": actual["schema"], "description": actual["description"]}
    elif excuses.at(fact.place, ("schema_rewritten", "description_added")) and value["schema"] != actual["schema"]:
        for lost in lost_of_schema(value["schema"], actual["schema"]):
            matcher.differ(f"/tools{fact.place}/schema", lost, "(missing)")
        value["schema"] = actual["schema"]
    return Fact(fact.place, value)


def _allowed(choice: Any) -> list[Any]:
    value = members(choice)
    return [*value.get("allowed", ()), value.get("name")]


def _strictness(tool: Facts, tools: Sequence[Facts], number: int, *, every: bool) -> Facts:
    """A tool with the `strict` of the wire where that says no other thing: no, or nothing at all."""
    actual = tools[number]["strict"] if number < len(tools) else None
    no = (None, False) if tool["strict"] is False else (None, False, "default")
    free = every or (not tool["strict"] and actual in no) or actual == "always"
    return {**tool, "strict": actual} if free else tool


def _settings(matcher: _Matcher, expected: Facts, actual: Facts, defaults: Facts) -> None:
    excuses = matcher.excuses
    for name in SETTINGS:
        one, other = expected.get(name), actual.get(name)
        if one == other or excuses.setting(name, explicit=one is not None):
            continue
        if None in (one, other) and (name in NO_FACTS or defaults.get(name, ABSENT) in (one, other)):
            continue
        if name in THINKING and _says_otherwise(name, expected, actual, excuses):
            continue
        if name == "thinking_summary" and one == "none" and not any(actual.get(kin) for kin in THINKING):
            continue  # what is not thought is not shown
        matcher.same(f"/{name}", one, other)


def _says_otherwise(name: str, expected: Facts, actual: Facts, excuses: Excuses) -> bool:
    """Whether a setting of thinking is said by another one: who says how hard to think says that it is wanted."""
    if expected.get(name) is None:
        return any(kin in expected or excuses.setting(kin) for kin in THINKING)
    return name == "thinking" and expected[name] is True and bool(actual.get("effort") or actual.get("thinking_budget"))


def _schema(matcher: _Matcher, placed: PlacedRequest, actual: Facts) -> None:
    expected, schema, excuses = placed.output_schema, actual["output_schema"], matcher.excuses
    if expected == "json" and excuses.setting("json_mode"):
        return
    if expected == schema or not excuses.setting("output_schema"):
        matcher.same("/output_schema", expected, schema)
    elif isinstance(schema, dict) and isinstance(expected, dict):
        for difference in lost_of_schema(expected, schema):
            matcher.differ("/output_schema", difference, "(missing)")


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
        if excuses.has("parameter_added", fact.place.partition("/parts/")[0]):
            pieces.append(None)  # a text beside a document
        if excuses.at(fact.place, AS_TEXT):
            pieces += _told_step(placed, fact)
    return [None, *pieces, None] if in_system else pieces


def _told_step(placed: PlacedChoice, fact: Fact) -> list[Fact | None]:
    """Where another text stands for a part; of a step the longest of its words is in it, so that it is read past."""
    words = next((step.value for step in placed.steps if step.place == fact.place), None)
    longest: str = max(map(str, items(words)), key=len, default="")
    return [None, Fact(fact.place, longest, fact.role), None] if longest else [None]


def _moved(placed: PlacedRequest, excuses: Excuses) -> bool:
    return any(excuses.at(fact.place, ("system_moved",)) for fact in placed.texts)


def _conserved(matcher: _Matcher, placed: PlacedRequest, turns: Sequence[Sequence[str]]) -> None:
    """Moved facts are still there, and where no text was added nothing else is."""
    everything = "\n".join([turn[1] for turn in turns])
    for fact in placed.texts:
        if matcher.excuses.at(fact.place, ("system_moved",)) and fact.value.strip() not in everything:
            matcher.differ(f"/messages{fact.place}", (fact.role, fact.value), "(missing)")


def _parts(matcher: _Matcher, placed: PlacedChoice, actual: Facts) -> None:
    """Thinking, seals, calls and refusals of a history."""
    thinking = [("", text) for text in actual["thinking"]]
    matcher.texts("thinking", placed.thinking, thinking, spaced=True)
    matcher.listed("seals", placed.seals, actual["seals"])
    calls = [Fact(fact.place, _named(matcher, fact.value, "name")) for fact in placed.calls]
    matcher.listed("calls", _as_schemas_have_them(matcher, calls, actual["calls"]), actual["calls"])
    refusals = [("", text) for text in actual["refusals"]]
    matcher.texts("refusals", placed.refusals, refusals, spaced=True)


def _as_schemas_have_them(matcher: _Matcher, calls: list[Fact], actual: Sequence[Facts]) -> list[Fact]:
    """Calls with the arguments of the wire, where these have the form that entries at the tool's schema are about."""
    if len(calls) != len(actual) or not matcher.rewritten:
        return calls
    matched: list[Fact] = []
    for call, other in zip(calls, actual, strict=True):
        places = matcher.rewritten.get(call.value["name"])
        if places is None:
            matched.append(call)
        else:
            arguments = as_told(call.value["arguments"], other["arguments"], places)
            matched.append(Fact(call.place, {**call.value, "arguments": arguments}))
    return matched


def _marks(placed: PlacedRequest, actual: Sequence[str], excuses: Excuses) -> list[Fact]:
    """The cache marks; one on system text that was moved may stand on that text in its tag."""
    marks: list[Fact] = []
    for fact in placed.cache_marks:
        start, on_text, excerpt = fact.value.partition(" on text ")
        tagged = f"{start}{on_text}" + f"<system>\n{excerpt}\n</system>"[:EXCERPT].rstrip()
        is_tagged = bool(on_text) and tagged in actual and excuses.at(fact.place, ("system_moved",))
        marks.append(Fact(fact.place, tagged) if is_tagged else fact)
    return marks


def _results(matcher: _Matcher, placed: PlacedRequest, actual: Sequence[Facts]) -> None:
    expected = [Fact(fact.place, _result(matcher, fact)) for fact in placed.results]
    matcher.listed("results", expected, actual, in_order=not matcher.excuses.coded("order_changed"))


def _result(matcher: _Matcher, fact: Fact) -> Facts:
    """A result under the number that its call has on the wire, without what reads like the mark of an error there."""
    value = {**fact.value, "call": matcher.numbers.get(fact.value["call"], fact.value["call"])}
    if isinstance(value["content"], str) and matcher.excuses.at(fact.place, ("error_prefix_ambiguous",)):
        value["content"] = value["content"].removeprefix(ERROR_PREFIX)
    return value


def _media(facts: Iterable[Fact]) -> list[Fact]:
    return [Fact(fact.place, {"type": fact.value[0], "sha256": fact.value[1]}) for fact in facts]


def _media_told(media: Iterable[Sequence[str]]) -> list[Facts]:
    return [{"type": kind, "sha256": digest} for kind, digest in media]


# Answers


def answer_differences(placed: PlacedAnswer, actual: Facts, excuses: Excuses, end: str = "done") -> list[Difference]:
    """Where an answer on the wire, read as facts, says something else than the response, and no entry names it."""
    matcher = _Matcher(excuses)
    if end == "done":
        _usage(matcher, placed.usage, actual["usage"])
    elif not any(choice.order for choice in placed.choices):
        return []  # nothing came before the stream broke, so nothing need be said of it
    if placed.model and actual["has_model"]:
        matcher.same("/model", placed.model, actual["model"])
    if placed.id is not None and actual["has_id"]:
        matcher.same("/id", placed.id, actual["id"])
    _choices(matcher, placed, actual, end)
    return matcher.differences


def _choices(matcher: _Matcher, placed: PlacedAnswer, actual: Facts, end: str) -> None:
    lost = matcher.excuses.coded("alternatives_unsupported")
    for number, choice in enumerate(placed.choices):
        if number < len(actual["choices"]):
            _choice(matcher, choice, actual["choices"][number], end, actual["finishes"])
        elif not any(change.path in ("/alternatives", choice.place) for change in lost):
            matcher.differ(f"/choices/{number}", "(a choice)", "(missing)")
    for choice in actual["choices"][len(placed.choices) :]:
        matcher.differ(f"/choices/{len(placed.choices)}", "(nothing)", choice)


def _choice(matcher: _Matcher, placed: PlacedChoice, actual: Facts, end: str, finishes: frozenset[str]) -> None:
    excuses = matcher.excuses
    ended_well = placed.finish_reason == "error" and actual["finish_reason"] in CLEAN
    if end == "done" and (ended_well or not _finishes_otherwise(placed, excuses, finishes)):
        refused = placed.finish_reason == "refusal" and not placed.refusals
        reason = "content_filter" if refused else placed.finish_reason
        matcher.same(f"{placed.place}/finish_reason", reason, actual["finish_reason"])
    texts = {fact.place: fact for fact in placed.texts}
    pieces: list[Fact | None] = []
    for fact in placed.order:
        if fact.place in texts:
            pieces.append(texts[fact.place])
        if excuses.at(fact.place, AS_TEXT - AS_THINKING):
            pieces.append(None)
    matcher.texts("text", pieces, [("assistant", actual["text"])])
    matcher.texts("thinking", _thought(placed, excuses), [("", actual["thinking"])], spaced=True)
    _steps(matcher, placed, actual["steps"], [actual["thinking"]])
    matcher.texts("refusals", placed.refusals, [("", actual["refusal"] or "")], spaced=True)
    matcher.listed("seals", placed.seals, actual["seals"])
    ids = actual["call_ids"]
    calls = [{**call, "id": call_id} for call, call_id in zip(actual["calls"], ids, strict=True)]
    matcher.listed("calls", placed.calls, calls)
    matcher.listed("media", _media(placed.media), _media_told(actual["media"]))
    matcher.listed("citations", placed.citations, actual["citations"])


def _thought(placed: PlacedChoice, excuses: Excuses) -> list[Fact | None]:
    """The thinking of an answer in order, with the places where an entry puts another text."""
    thinking = {fact.place: fact for fact in placed.thinking}
    thoughts = [fact for fact in placed.order if fact.place in thinking or excuses.at(fact.place, AS_THINKING)]
    return [thinking.get(fact.place) for fact in thoughts]


def _steps(matcher: _Matcher, placed: PlacedChoice, actual: Sequence[Any], texts: Sequence[str]) -> None:
    """Steps of tools that the provider ran: as they are, or every word of them in a text where an entry says so."""
    text = "\n".join([*texts, *[one.replace('\\"', '"').replace("\\\\", "\\") for one in texts if "\\" in one]])
    for fact in placed.steps:
        if matcher.excuses.at(fact.place, AS_THINKING):
            words: list[Any] = items(fact.value) or [fact.value]
            for one in [one for one in words if fact.value and str(one) not in text]:
                matcher.differ(f"/steps{fact.place}", one, "(missing)")
    matcher.listed("steps", placed.steps, actual)


CLEAN = frozenset({"stop", "tool_calls"})
"""Facts that no entry makes of an answer that ended in an error: its client would go on as if nothing had happened."""


def _finishes_otherwise(placed: PlacedChoice, excuses: Excuses, possible: frozenset[str]) -> bool:
    """Whether an entry says that the choice ends otherwise: for itself, or because what it holds is sent as text."""
    named = excuses.at(f"{placed.place}/finish_reason", ("finish_reason_approximated", "finish_reason_derived"))
    if named and placed.finish_reason not in possible:
        return True
    return any(excuses.at(fact.place, ("refusal_as_text", "broken_call_as_text")) for fact in placed.order)


def _usage(matcher: _Matcher, expected: Facts | None, actual: Facts | None) -> None:
    """Counts that nobody made may be sent as 0, where an entry says so; the others are what they were."""
    one, other = expected or {}, actual or {}
    for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
        count, again = one.get(name), other.get(name)
        filled = count is None and again == 0
        if count == again or (filled and _filler(matcher.excuses, name)):
            continue
        adjusted = matcher.excuses.at(f"/usage/{name}_tokens", ("parameter_unsupported", "parameter_adjusted"))
        if not adjusted or (name == "input" and _adds_up(one)):
            matcher.same(f"/usage/{name}", count, again)


def _adds_up(usage: Facts) -> bool:
    """Whether the cached tokens are no more than those of the input: then nothing has to be adjusted."""
    return (usage.get("input") or 0) >= (usage.get("cache_read") or 0) + (usage.get("cache_write") or 0)


def _filler(excuses: Excuses, name: str) -> bool:
    return excuses.has("parameter_added", "/usage") or excuses.has("parameter_added", f"/usage/{name}_tokens")
