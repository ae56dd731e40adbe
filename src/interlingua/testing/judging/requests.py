"""The request of an exchange: read, written again, and written in every other dialect.

A request that the provider itself refused has passed when we refuse it with a typed error that names the place, or when
it goes out as it came.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from interlingua.dialects._contract import DecodedRequest, DecodeOptions, Dialect, Encoded, EncodeOptions, Target
from interlingua.errors import DecodeError, Error, HistoryError, UnsupportedError
from interlingua.testing.excuses import Excuses
from interlingua.testing.facts import Facts, builtins_of, paths, whole_request
from interlingua.testing.judging.matching import request_differences
from interlingua.testing.judging.placed import PlacedRequest, placed_request
from interlingua.testing.judging.trial import NotJudged, Trial, dump, load
from interlingua.testing.opaque import stripped, weigh
from interlingua.testing.targets import faithful_target
from interlingua.types.change import Change
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, OpaquePart, RefusalPart, ThinkingPart
from interlingua.types.request import Request
from interlingua.types.tool import OpaqueTool
from interlingua.wire.http import HttpRequest

__all__ = ["judge_request"]

UNREAD = frozenset({"references", "server_tools"})
"""Facts that may travel unread: references to media, and tools that the provider runs."""


def judge_request(trial: Trial) -> None:
    """Judge the request of the exchange."""
    with trial.part("a request"):
        first = _decoded(trial, dump(trial.exchange.request))
        if first is None:
            return
        trial.opaque += weigh(first.request)
        recorded = whole_request(trial.dialect.name, trial.exchange.request, trial.exchange.model)
        _own(trial, first, recorded)
        placed = placed_request(first.request, first.model)
        for difference in request_differences(placed, recorded, Excuses(first.changes)):
            trial.note("a request read", difference)
        trial.translated = tuple(other.name for other in trial.others)
        for other in trial.others:
            _elsewhere(trial, f"b request in {other.name}", other, first, placed)
        _without_opaque(trial, first)


def _decoded(trial: Trial, body: bytes) -> DecodedRequest | None:
    url = f"https://{trial.exchange.url or 'recorded.invalid'}"
    request = HttpRequest(url=url, body=body, dialect=trial.dialect.name)
    try:
        return trial.dialect.decode_request(request, DecodeOptions())
    except Error as error:
        if trial.refused and _names_a_place(error):
            return None
        if not isinstance(error, HistoryError):
            raise
        if faults := trial.facts.faults(trial.exchange.request):
            raise NotJudged("bad_history", faults[0]) from None
        trial.note("a request", f"HistoryError on a sound history: {error}")
        return None


def _names_a_place(error: Error) -> bool:
    match error:
        case DecodeError(path=path):
            return bool(path)
        case UnsupportedError(changes=changes):
            return bool(changes)
        case _:
            return isinstance(error, HistoryError)


def _own(trial: Trial, first: DecodedRequest, recorded: Facts) -> None:
    """A round through its own dialect: an equal value, an equal body, and the facts that were recorded."""
    body = trial.exchange.request
    try:
        encoded = _encoded(trial, trial.dialect, first)
    except Error as error:
        if trial.refused and _names_a_place(error):
            return
        raise
    trial.undo = encoded.undo
    again = load(encoded.body)
    second = _decoded(trial, encoded.body)
    trial.equal("a request value", _plain(first), _plain(second) if second is not None else None)
    trial.same_form("request", body, again, (*first.changes, *encoded.changes))
    repeated = whole_request(trial.dialect.name, again, trial.exchange.model)
    trial.same("b request facts", _with_ids(recorded, repeated), repeated)


def _with_ids(recorded: Any, repeated: Any) -> Any:
    """Facts in which calls without an id have the one that was made for them."""
    pairs = zip(recorded["calls"], [*repeated["calls"], *[{"id": None}] * len(recorded["calls"])], strict=False)
    return {**recorded, "calls": [{**call, "id": call["id"] or made["id"]} for call, made in pairs]}


def _plain(decoded: DecodedRequest) -> Any:
    return {"model": decoded.model, "stream": decoded.stream, "request": decoded.request}


def _encoded(trial: Trial, dialect: Dialect, decoded: DecodedRequest) -> Encoded:
    target = Target(model=decoded.model)
    if dialect is trial.dialect:
        target = faithful_target(dialect.name, trial.exchange)
    return dialect.encode_request(decoded.request, EncodeOptions(target=target, stream=decoded.stream))


def _elsewhere(trial: Trial, part: str, other: Dialect, decoded: DecodedRequest, placed: PlacedRequest) -> None:
    with trial.part(part):
        try:
            encoded = _encoded(trial, other, decoded)
        except UnsupportedError as error:
            trial.refusals.setdefault(other.name, tuple(sorted({change.code for change in error.changes})))
            _real(trial, part, error.changes, decoded.request)
            return
        except Error as error:
            if trial.refused and _names_a_place(error):
                return
            raise
        recorded = whole_request(other.name, load(encoded.body), decoded.model or None)
        for difference in request_differences(placed, recorded, Excuses(encoded.changes)):
            trial.note(part, difference)


def _without_opaque(trial: Trial, first: DecodedRequest) -> None:
    """A round with everything taken out that travels unread."""
    bare = msgspec.structs.replace(first, request=stripped(first.request))
    if bare.request == first.request:
        return  # nothing was unread, and all of it has been judged
    placed = placed_request(bare.request, bare.model)
    part = "c request facts without extra"
    with trial.part(part):
        model = trial.exchange.model
        recorded = trial.facts.request(trial.exchange.request, model)
        again = trial.facts.request(load(_encoded(trial, trial.dialect, bare).body), model)
        trial.same(part, _left(recorded), _left(again))
    for other in trial.others:
        _elsewhere(trial, f"c request without extra in {other.name}", other, bare, placed)


def _left(facts: Any) -> Any:
    return {name: value for name, value in facts.items() if name not in UNREAD}


def _real(trial: Trial, part: str, refusals: tuple[Change, ...], request: Request) -> None:
    """Every refusal names something that is really in the request."""
    there = paths(builtins_of(request))
    for refusal in refusals:
        if refusal.path not in there:
            trial.note(part, f"refused {refusal.path}, which is not there")
        elif (kinds := KINDS.get(refusal.code)) is not None and not isinstance(_at(request, refusal.path), kinds):
            trial.note(part, f"refused {refusal.path} as {refusal.code}, which it is not")


def _at(request: Request, path: str) -> Any:
    """The value at a place of a request."""
    value: Any = request
    for step in path.split("/")[1:]:
        value = (
            list(cast("tuple[Any, ...]", value))[int(step)] if isinstance(value, tuple) else getattr(value, step, None)
        )
    return value


KINDS: dict[str, tuple[type, ...]] = {
    "images": (ImagePart,),
    "audio": (AudioPart,),
    "documents": (DocumentPart,),
    "media_refs": (OpaquePart,),
    "opaque_part": (OpaquePart, AudioPart, ImagePart, DocumentPart, ThinkingPart, RefusalPart),
    "server_tools": (OpaqueTool,),
    "tools": (),
}
"""The kinds that a refusal of each code must be of; a service of which nothing is known takes every tool."""
