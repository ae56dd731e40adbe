"""Planting: which exchanges a loss touches, and whether the judge says anything new about one of them.

Rules
- A loss is planted in one function of one dialect. `own`: the exchange is of that dialect; `other`: it is of another
  one and is translated to that dialect, so that only what is told elsewhere is judged.
- A loss that touches no exchange of the sample is not planted.
- A loss is noticed when the judge finds a fault that it does not find without it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from interlingua.dialects._contract import DecodeContext, DecodeOptions, Dialect, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.testing.corpus import find_dialect, read_exchanges
from interlingua.testing.exchange import Exchange
from interlingua.testing.judge import Judge
from interlingua.testing.laws import encode_stream, events_of
from interlingua.wire.http import HttpReply, HttpRequest
from sabotage.answers import ANSWERS
from sabotage.errors import ERRORS
from sabotage.plant import planted, refusing
from sabotage.requests import REQUESTS, Spoil
from sabotage.streams import STREAMS

__all__ = ["Outcome", "Plant", "Sample", "every_plant", "try_plants"]

Where: TypeAlias = Literal["own", "other"]
TRIES = 4
"""How many touched exchanges a loss is tried on."""


class Plant(NamedTuple):
    """A loss in a function of a dialect."""

    loss: str
    """Its name."""
    spoil: Spoil
    """What does it."""
    value: str
    """What it spoils: request, response, stream or error."""
    dialect: str
    """The dialect."""
    function: str
    """The function."""
    where: Where
    """Whether the exchange is of the same dialect."""

    @property
    def name(self) -> str:
        """One line for it."""
        return f"{self.value}: {self.loss} / {self.dialect} {self.function} {self.where}"


class Outcome(NamedTuple):
    """What became of a plant."""

    plant: Plant
    """The plant."""
    touched: int
    """How many exchanges of the sample it touches, as far as was looked."""
    noticed: str
    """The first new fault; empty when there was none."""


class Case(NamedTuple):
    """An exchange with the values that a loss could touch."""

    exchange: Exchange
    """The exchange."""
    dialect: str
    """Its dialect."""
    values: dict[str, Any]
    """What was read of it, by kind."""


class Sample:
    """Exchanges, read once."""

    def __init__(self, files: Iterable[Path], size: int, seed: int) -> None:
        """`size` exchanges of each file, chosen by `seed`; all of them for 0."""
        self.cases: list[Case] = []
        for path in files:
            exchanges = [one for one in read_exchanges(path) if one.dialect in DIALECTS]
            random.Random(f"{seed} {path.name}").shuffle(exchanges)
            self.cases += [_case(one) for one in (exchanges[:size] if size else exchanges)]
        self._clean: dict[tuple[str, tuple[str, ...]], frozenset[str]] = {}

    def touched(self, plant: Plant) -> list[Case]:
        """The first exchanges in which the plant changes something, from different files where there are some."""
        cases: list[Case] = []
        for case in self.cases:
            value = case.values.get(plant.value)
            if value is None or (case.dialect == plant.dialect) != (plant.where == "own"):
                continue
            if _changes(plant.spoil, value) and _tells(plant, case, value):
                cases.append(case)
                if len(cases) == TRIES:
                    break
        return cases

    def clean(self, case: Case, others: tuple[str, ...]) -> frozenset[str]:
        """The faults of the exchange without any plant."""
        key = (case.exchange.id, others)
        if key not in self._clean:
            self._clean[key] = _faults(case.exchange, find_dialect, others)
        return self._clean[key]


def _case(exchange: Exchange) -> Case:
    name = exchange.dialect
    dialect = get_dialect(name)
    values: dict[str, Any] = {}
    for kind, read in READERS.items():
        try:
            value = read(exchange, dialect)
        except (Error, ValueError):
            continue
        if value is not None:
            values[kind] = value
    return Case(exchange, name, values)


def _request(exchange: Exchange, dialect: Dialect) -> Any:
    if exchange.request is None or (exchange.status or 200) >= 400:
        return None
    body = msgspec.json.encode(exchange.request)
    url = f"https://{exchange.url or 'recorded.invalid'}"
    return dialect.decode_request(HttpRequest(url=url, body=body), DecodeOptions()).request


def _reply(exchange: Exchange) -> HttpReply:
    body = exchange.response
    text = exchange.response_text
    headers = tuple(exchange.headers.items())
    data = msgspec.json.encode(body) if text is None else text.encode()
    return HttpReply(status=exchange.status or 200, headers=headers, body=data)


def _response(exchange: Exchange, dialect: Dialect) -> Any:
    if exchange.response is None or (exchange.status or 200) >= 400:
        return None
    return dialect.decode_response(_reply(exchange), DecodeContext())


def _stream(exchange: Exchange, dialect: Dialect) -> Any:
    return None if exchange.stream is None else events_of(dialect, [exchange.stream_data])


def _error(exchange: Exchange, dialect: Dialect) -> Any:
    return None if (exchange.status or 200) < 400 else dialect.decode_error(_reply(exchange), DecodeContext())


READERS: dict[str, Callable[[Exchange, Dialect], Any]] = {
    "request": _request,
    "response": _response,
    "stream": _stream,
    "error": _error,
}
"""What reads each kind of value."""


def _changes(spoil: Spoil, value: Any) -> bool:
    try:
        changed = spoil(value)
    except Error:
        return True  # it refuses
    if isinstance(value, Exception):
        return changed is not value
    return changed is not value and changed != value


def _tells(plant: Plant, case: Case, value: Any) -> bool:
    """Whether what is written is another text with the loss; what a dialect cannot tell at all is no loss there."""
    write = WRITERS.get(plant.function)
    if write is None:
        return True
    dialect = get_dialect(plant.dialect)
    try:
        plain = write(dialect, value, case.dialect)
    except Error:
        return False  # it is refused as it is
    try:
        return plain != write(planted(dialect, plant.function, plant.spoil), value, case.dialect)
    except Error:
        return True


def _sent(dialect: Dialect, value: Any, source: str) -> Any:
    del source
    return dialect.encode_request(value, EncodeOptions(target=Target(model="m"))).body


def _answered(dialect: Dialect, value: Any, source: str) -> Any:
    return dialect.encode_response(value, ServerContext(source=source)).body


def _streamed(dialect: Dialect, value: Any, source: str) -> Any:
    return encode_stream(dialect, value, ServerContext(source=source))


def _failed(dialect: Dialect, value: Any, source: str) -> Any:
    del source
    return dialect.encode_error(value, ServerContext())


WRITERS: dict[str, Callable[[Dialect, Any, str], Any]] = {
    "encode_request": _sent,
    "encode_response": _answered,
    "stream_encoder": _streamed,
    "encode_error": _failed,
}
"""What each function that writes gives."""


def _faults(exchange: Exchange, dialect_for: Any, others: Sequence[str]) -> frozenset[str]:
    verdict = Judge(dialect_for, others).judge(exchange)
    return frozenset([verdict.outcome, *[str(fault) for fault in verdict.faults]])


def every_plant() -> Iterator[Plant]:
    """Every loss in every function of every dialect that it could be in."""
    kinds: tuple[tuple[str, dict[str, Spoil], tuple[str, str]], ...] = (
        ("request", REQUESTS, ("decode_request", "encode_request")),
        ("response", ANSWERS, ("decode_response", "encode_response")),
        ("stream", STREAMS, ("stream_decoder", "stream_encoder")),
        ("error", ERRORS, ("decode_error", "encode_error")),
    )
    for value, losses, (read, write) in kinds:
        for loss, spoil in losses.items():
            for dialect in DIALECTS:
                yield Plant(loss, spoil, value, dialect, read, "own")
                yield Plant(loss, spoil, value, dialect, write, "own")
                yield Plant(loss, spoil, value, dialect, write, "other")
    for dialect in DIALECTS:
        for code, path in (("server_tools", "/tools/0"), ("images", "/messages/0"), ("opaque_part", "/messages/9999")):
            spoil = refusing(code, path)
            yield Plant(f"everything refused as {code} at {path}", spoil, "request", dialect, "encode_request", "other")


def try_plants(plants: Iterable[Plant], sample: Sample, tell: Callable[[Outcome], object]) -> list[Outcome]:
    """What became of each plant that touches an exchange; `tell` takes them as they come."""
    outcomes: list[Outcome] = []
    for plant in plants:
        cases = sample.touched(plant)
        if not cases:
            continue
        noticed = next((fault for case in cases if (fault := _new_fault(plant, case, sample))), "")
        outcomes.append(Outcome(plant, len(cases), noticed))
        tell(outcomes[-1])
    return outcomes


def _new_fault(plant: Plant, case: Case, sample: Sample) -> str:
    """A fault that the judge finds with the plant and not without it; empty when there is none."""
    spoiled = planted(get_dialect(plant.dialect), plant.function, plant.spoil)
    others = () if plant.where == "own" else (plant.dialect,)
    if plant.function in ("decode_request", "decode_response", "stream_decoder", "decode_error"):
        others = ("unified", "openai-chat")

    def dialect_for(name: str) -> Dialect | None:
        return spoiled if name == plant.dialect else find_dialect(name)

    faults = _faults(case.exchange, dialect_for, others) - sample.clean(case, others)
    return min(faults, default="")
