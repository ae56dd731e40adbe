"""The answer of an exchange, whole or streamed: read, told again, and told in every other dialect."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from interlingua.dialects._contract import Dialect, ServerContext
from interlingua.stream.check import check
from interlingua.stream.unfold import unfold
from interlingua.testing.excuses import Excuses
from interlingua.testing.facts import whole_answer, whole_stream
from interlingua.testing.framed import stream_text
from interlingua.testing.judging.matching import answer_differences
from interlingua.testing.judging.placed import PlacedAnswer, placed_answer
from interlingua.testing.judging.trial import NotJudged, Trial, dump, json_reply, load
from interlingua.testing.laws import cuts, encode_stream, events_of, first_other
from interlingua.testing.opaque import stripped, weigh
from interlingua.testing.wirefacts.errors import sentences_of
from interlingua.testing.wirefacts.shapes import answer_faults, stream_faults
from interlingua.testing.wirefacts.values import Facts, StreamFacts, event_data
from interlingua.types.change import Change
from interlingua.types.content import BrokenToolCall, TextPart, ThinkingPart
from interlingua.types.event import Annotation, BlockEnd, Event, Seal, StreamEnd, StreamError, StreamStart
from interlingua.types.response import Response

__all__ = ["judge_response", "judge_stream"]

NOT_COMPARED = frozenset({"raw", "attempts", "changes", "request", "output"})
"""The fields of a response that take no part in equality."""


def judge_response(trial: Trial) -> None:
    """Judge a whole answer."""
    with trial.part("a response"):
        exchange, dialect = trial.exchange, trial.dialect
        text = exchange.response_text
        reply = json_reply(exchange.status or 200, dump(exchange.response) if text is None else text.encode())
        first = dialect.decode_response(reply, trial.context())
        trial.opaque += weigh(first)
        again = dialect.encode_response(first, ServerContext(source=dialect.name))
        trial.equal("a response value", _compared(first), _compared(dialect.decode_response(again, trial.context())))
        trial.same_form("response", exchange.response, load(again.body), first.changes)
        actual, placed = whole_answer(dialect.name, exchange.response), placed_answer(first)
        for difference in answer_differences(placed, actual, Excuses(first.changes)):
            trial.note("a response read", difference)
        repeated = whole_answer(dialect.name, load(again.body))
        trial.same("b response facts", _with_ids(actual, repeated), repeated)
        bare = dialect.encode_response(stripped(first), ServerContext(source=dialect.name))
        trial.same(
            "c response facts without extra",
            trial.facts.response(exchange.response),
            trial.facts.response(load(bare.body)),
        )
        for other in trial.others:
            _whole_elsewhere(trial, f"b response in {other.name}", other, first, placed)


def _whole_elsewhere(trial: Trial, part: str, other: Dialect, response: Response[Any], placed: PlacedAnswer) -> None:
    with trial.part(part):
        entries: list[Change] = []
        reply = other.encode_response(response, ServerContext(source=trial.dialect.name, changes=entries))
        if reply.status >= 400 and response.finish_reason == "error":
            return  # an answer that ended in an error is sent as one
        body = load(reply.body)
        for broken in answer_faults(other.name, body):
            trial.note(part, broken)
        for difference in answer_differences(placed, whole_answer(other.name, body), Excuses(entries)):
            trial.note(part, difference)


def _with_ids(actual: Facts, repeated: Facts) -> Facts:
    """Facts of an answer in which what had no id has the one that was made for it."""
    choices: list[Facts] = []
    for number, choice in enumerate(actual["choices"]):
        made: list[Any] = repeated["choices"][number]["call_ids"] if number < len(repeated["choices"]) else []
        ids: list[Any] = [*made, *[None] * len(choice["call_ids"])]
        named = [one or other for one, other in zip(choice["call_ids"], ids, strict=False)]
        choices.append({**choice, "call_ids": named})
    return {**actual, "choices": choices, "id": actual["id"] or repeated["id"]}


def _compared(response: Response[Any]) -> Any:
    names = [name for name in response.__struct_fields__ if name not in NOT_COMPARED]
    return {name: getattr(response, name) for name in names}


# Streams


def judge_stream(trial: Trial) -> None:
    """Judge a streamed answer."""
    with trial.part("d stream"):
        try:
            recorded = whole_stream(trial.dialect.name, trial.exchange.stream_text)
        except ValueError as error:
            raise NotJudged("invalid_json", error) from None
        events = _cut_everywhere(trial, trial.exchange.stream_data)
        for broken in [*check(events), *_unsaid(events, trial.exchange.stream_text)]:
            trial.note("d stream laws", broken)
        response = _ended(trial, events, recorded)
        if response is None:
            return
        trial.opaque += weigh(response)
        _again(trial, events, response, recorded)
        _own_facts(trial, response, recorded)
        placed = placed_answer(response)
        for other in trial.others:
            _stream_elsewhere(trial, other, events, response, recorded, placed=_as_begun(placed, events))
            if recorded.end == "done":
                _whole_elsewhere(trial, f"d stream whole in {other.name}", other, response, placed)


def _unsaid(events: list[Event], text: str) -> Iterator[str]:
    """Facts in the end and in no event before it, or on the wire and in no event at all."""
    yield from _beside(events)
    last = events[-1] if events else None
    if isinstance(last, StreamEnd):
        yield from _names(last, _start(events), next(iter(event_data(text)), ""))
    elif isinstance(last, StreamError) and last.error != "IncompleteStreamError":
        words = [word for data in _frames(text) if '"error"' in data for word in sentences_of(_json(data))]
        if words and not any(word in last.message for word in words):
            yield f"the error says {words[0][:120]!r}, not {last.message[:120]!r}"


def _beside(events: list[Event]) -> Iterator[str]:
    """Citations and signatures of whole parts that came in no piece."""
    notes = Counter((event.choice, event.index) for event in events if isinstance(event, Annotation))
    seals = {(event.choice, event.index) for event in events if isinstance(event, Seal)}
    for event in [event for event in events if isinstance(event, BlockEnd)]:
        place = (event.choice, event.index)
        match event.part:
            case ThinkingPart(sealed=sealed) if sealed is not None and place not in seals:
                yield f"block {event.index} has a signature that no event told"
            case TextPart(annotations=cited) if len(cited) != notes[place]:
                yield f"block {event.index} has {len(cited)} citations, {notes[place]} were told"
            case _:
                pass


def _names(end: StreamEnd, start: StreamStart, first: str) -> Iterator[str]:
    """Names that the first frame has, and the start of the stream has not."""
    for name in ("id", "model"):
        name_value, early = getattr(end.response, name), getattr(start, name)
        if name_value and early != name_value and f'"{name_value}"' in first:
            yield f"the first frame has the {name} {name_value!r}, the start {early!r}"


def _frames(text: str) -> list[str]:
    return event_data(text) or text.splitlines()


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _cut_everywhere(trial: Trial, data: bytes) -> list[Event]:
    """The events of the whole stream; every other way of cutting it gives the same."""
    whole = events_of(trial.dialect, [data], trial.context())
    for way, pieces in cuts(data, seed=trial.seed):
        place = first_other(whole, events_of(trial.dialect, pieces, trial.context()))
        if place is not None:
            trial.note("d stream cuts", f"{way}: other events from number {place} on")
    return whole


def _ended(trial: Trial, events: list[Event], recorded: StreamFacts) -> Response[Any] | None:
    """The response that the stream adds up to, after its end was compared with the one that the wire shows."""
    last = events[-1] if events else None
    expected = {"done": "StreamEnd", "cut": "IncompleteStreamError"}.get(recorded.end) or (recorded.error or {})[
        "class"
    ]
    got = last.error if isinstance(last, StreamError) else type(last).__name__
    if got != expected:
        trial.note("d stream end" if recorded.end != "error" else "e stream error class", f"{expected} != {got}")
    match last:
        case StreamEnd(response=response):
            return response
        case StreamError(partial=partial):
            return partial or Response(finish_reason="error")
        case _:
            return None


def _again(trial: Trial, events: list[Event], response: Response[Any], recorded: StreamFacts) -> None:
    """Told again in its own dialect it is the same answer."""
    written = encode_stream(trial.dialect, events, ServerContext(source=trial.dialect.name))
    last = next(iter(events_of(trial.dialect, [written], trial.context())[-1:]), None)
    match last:
        case StreamEnd(response=again):
            pass
        case StreamError(partial=partial):
            again = partial or Response(finish_reason="error")
        case _:
            trial.note("d stream encoded again", "no terminal event")
            return
    trial.equal("d stream end again", _end_of(events[-1]), _end_of(last))
    if not stream_faults(trial.dialect.name, trial.exchange.stream_text):  # what came so goes out so
        for broken in stream_faults(trial.dialect.name, stream_text(trial.dialect.name, written), named=_named(events)):
            trial.note("d stream encoded again", broken)
    whole = recorded.end == "done"
    one, other = (_compared(one) if whole else {"parts": one.parts} for one in (response, again))
    trial.equal("d stream encoded again", one, other)


def _end_of(event: Event) -> Any:
    return (event.error, event.message) if isinstance(event, StreamError) else type(event).__name__


def _own_facts(trial: Trial, response: Response[Any], recorded: StreamFacts) -> None:
    """The answer that the stream adds up to says what the stream says."""
    if recorded.end == "error" and not recorded.facts["choices"]:
        return  # nothing came before the error
    for difference in answer_differences(
        placed_answer(response), recorded.facts, Excuses(response.changes), recorded.end
    ):
        trial.note("d stream read", difference)
    name = trial.dialect.name
    entries: list[Change] = []
    body = load(trial.dialect.encode_response(response, ServerContext(source=name, changes=entries)).body)
    for difference in answer_differences(
        placed_answer(response), whole_answer(name, body), Excuses(entries), recorded.end
    ):
        trial.note("b stream facts", difference)
    if recorded.end == "done":
        bare = stripped(response)
        streamed = stream_text(trial.dialect.name, encode_stream(trial.dialect, unfold(bare)))
        trial.same(
            "c stream again", trial.facts.stream(trial.exchange.stream_text).facts, trial.facts.stream(streamed).facts
        )


def _stream_elsewhere(
    trial: Trial,
    other: Dialect,
    events: list[Event],
    response: Response[Any],
    recorded: StreamFacts,
    *,
    placed: PlacedAnswer,
) -> None:
    """Told as a stream of another dialect it says the same, and ends the same way."""
    part = f"d stream in {other.name}"
    with trial.part(part):
        entries: list[Change] = []
        context = ServerContext(source=trial.dialect.name, changes=entries)
        text = stream_text(other.name, encode_stream(other, events, context))
        actual = whole_stream(other.name, text)
        if recorded.end == "done":
            if actual.end != "done" and not _fails(other, response):
                trial.note(part, f"the end: done != {actual.end}")
        else:
            _failed_elsewhere(trial, part, actual, recorded)
            _words_of(trial, part, text, events[-1])
        shape = stream_faults(other.name, text, named=_named(events))
        for broken in [*shape, *(answer_faults(other.name, actual.body) if recorded.end == "done" else ())]:
            trial.note(part, broken)
        for difference in answer_differences(placed, actual.facts, Excuses(entries), actual.end):
            trial.note(part, difference)


def _fails(other: Dialect, response: Response[Any]) -> bool:
    """Whether an answer that came whole is sent as a failure: it says so, or our own format takes no such call."""
    broken = any(isinstance(part, BrokenToolCall) and part.reason != "cut_off" for part in response.parts)
    return response.finish_reason == "error" or (broken and other.name == "unified")


def _words_of(trial: Trial, part: str, text: str, last: Event) -> None:
    """The words of an error that ends a stream stand in the other format, too."""
    message = last.message if isinstance(last, StreamError) else ""
    written = (json.dumps(message, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True))
    if not any(form in text for form in written):
        trial.note(part, f"the message: {message[:120]!r} is not told")


def _start(events: list[Event]) -> StreamStart:
    return next((event for event in events if isinstance(event, StreamStart)), StreamStart())


def _named(events: list[Event]) -> bool:
    """Whether id and model were known when the stream began."""
    return bool(_start(events).id) and bool(_start(events).model)


def _as_begun(placed: PlacedAnswer, events: list[Event]) -> PlacedAnswer:
    """The answer under the names that were known when the stream began: formats tell them first."""
    start = _start(events)
    return placed._replace(model=start.wire_model or start.model, id=start.id)


def _failed_elsewhere(trial: Trial, part: str, actual: StreamFacts, recorded: StreamFacts) -> None:
    expected = "IncompleteStreamError" if recorded.end == "cut" else (recorded.error or {})["class"]
    got = (actual.error or {}).get("class") or actual.end
    if got != expected:
        trial.note(part, f"the end: {expected} != {got}")
