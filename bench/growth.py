"""How cost grows: with the size of a request, its tools and messages, the length of a stream, streams at once.

`python -m bench.growth` measures, draws and names cliffs. Each point is what one unit takes: a kB, a tool, a message,
an event. Where that is the same at the largest point as in the middle, cost grows in a line.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.canned import MARK, PIECES, TEXT, around_a_number, request_body
from bench.measure import Measured, NotRun, beside, cpu_us, once
from bench.plot import Chart, Line, lines, text
from bench.stage import LENGTHS, NUMBERS, Load, Server, crowd_gateway, gateway, grown_gateway, load
from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode

__all__ = ["AXES", "FACTOR", "Axis", "charts", "cliffs", "drawn", "factor", "told", "workers"]

KEPT = Path(__file__).parent / "results" / "local"
FACTOR = 3.0
"""How many times what a unit takes in the middle it may take at the largest point, and at each point than at the one
before. Bodies that outgrow the processor's caches account for 2; a square would be 10 and more."""
TURNS = 3
TURN_S = 0.3
MOST = 2_000
PASSED, TRANSLATED = "chat/some-model", "claude/some-model"


class Axis(NamedTuple):
    """What grows."""

    x: str
    """Its name, with its unit."""
    unit: str
    """What one unit is."""
    points: tuple[int, ...]
    """How many."""
    lines: dict[str, Callable[[int], float]]
    """Processor microseconds of one unit at a point, by what is measured."""
    sentence: str
    """What the picture shows, with the last point of the highest line as x and y."""
    whole: str = ""
    """What all units of a point make together, for a picture of that; else it shows one unit."""


# Requests that grow. Bodies that came before are known again up to some size and read above it, which is a step that
# says nothing of size: so each is of a conversation that nobody had before.


def _sized(model: str, kilobytes: int) -> dict[str, object]:
    """A request of about that size: one long message, no tools."""
    return request_body(model, tools=0, turns=1, text="words " * (kilobytes * 1_000 // 12))


def _tooled(model: str, tools: int) -> dict[str, object]:
    return request_body(model, tools=tools, turns=1)


def _said(model: str, messages: int) -> dict[str, object]:
    return request_body(model, tools=0, turns=messages, text=TEXT[:73])


def _asked(make: Callable[[str, int], dict[str, object]], model: str, count: int) -> float:
    """What the gateway takes for one unit of a request whose conversation nobody had before."""
    body = MARK.join(around_a_number(encode(make(model, count))))
    return _settled(gateway(), Load(model, connections=4, bodies=(body,))) / count


def _settled(server: Server, asked: Load) -> float:
    """The median of several loads, each long enough to be told apart."""
    first = load(server, asked._replace(requests=4, number=next(NUMBERS)))
    cost_us = first.cpu_us * max(1, first.told["events"] / 4)
    requests = min(MOST, max(4, round(TURN_S * 1e6 / cost_us)))
    turns = [asked._replace(requests=requests, number=number) for number in itertools.islice(NUMBERS, TURNS)]
    return statistics.median(load(server, turn).cpu_us for turn in turns)


CHAT, CLAUDE = get_dialect("openai-chat"), get_dialect("anthropic")
SERVED = ServerContext(model="some-model", created=1_795_000_000, make_id=lambda: "answer-1")


def _translated(make: Callable[[str, int], dict[str, object]], count: int) -> float:
    """What the translation alone takes for one unit of such a request."""
    before, after = around_a_number(encode(make("some-model", count)))
    options, numbers = EncodeOptions(target=Target(model="some-model")), itertools.count(next(NUMBERS))

    def run() -> object:
        body = b"%b%d%b" % (before, next(numbers), after)
        asked = HttpRequest(url="https://bench.example/v1/chat/completions", body=body)
        return CLAUDE.encode_request(CHAT.decode_request(asked, DecodeOptions()).request, options)

    return cpu_us(run, turns=TURNS) / count


# Streams that grow


def _streamed(provider: str, events: int) -> float:
    """What the gateway takes for one event of a stream of so many."""
    return _settled(grown_gateway(), Load(f"{provider}-{events}/some-model", stream=True, connections=4))


def _crowded(model: str, streams: int) -> float:
    """What the gateway takes for one event when so many paced streams are open at once."""
    asked = Load(model, stream=True, connections=streams, requests=max(4, streams))
    return statistics.median(load(crowd_gateway(), asked).cpu_us for _ in range(TURNS))


def _frames(events: int) -> list[bytes]:
    chunk = b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}\n\n'
    head = (
        b'data: {"type":"message_start","message":{"id":"m","model":"m","content":[],"usage":{"input_tokens":1}}}\n\n'
    )
    block = b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
    return [head, block, *(chunk % PIECES[number % len(PIECES)].encode() for number in range(events))]


def _retold(events: int) -> float:
    """What the translation alone takes for one event."""
    frames = _frames(events)

    def run() -> object:
        decoder, encoder = CLAUDE.stream_decoder(DecodeContext()), CHAT.stream_encoder(SERVED)
        return [encoder.encode(event) for frame in frames for event in decoder.feed(frame)]

    return cpu_us(run, turns=TURNS) / events


def _lines(make: Callable[[str, int], dict[str, object]]) -> dict[str, Callable[[int], float]]:
    return {
        "gateway, passed through": partial(_asked, make, PASSED),
        "gateway, translated": partial(_asked, make, TRANSLATED),
        "translation alone": partial(_translated, make),
    }


AXES = {
    "size": Axis(
        "kB of a request", "kB", (1, 10, 100, 1_000, 10_000), _lines(_sized),
        "A request of {x:,.0f} kB takes up to {y:.3g} ms", "a request",
    ),
    "tools": Axis(
        "tools of a request", "tool", (1, 5, 20, 100, 500), _lines(_tooled),
        "A request with {x:,.0f} tools takes up to {y:.3g} ms", "a request",
    ),
    "messages": Axis(
        "messages of a request", "message", (1, 10, 100, 300, 1_000), _lines(_said),
        "A request of {x:,.0f} messages takes up to {y:.3g} ms", "a request",
    ),
    "events": Axis(
        "events of a stream", "event", LENGTHS,
        {
            "gateway, passed through": partial(_streamed, "chat"),
            "gateway, translated": partial(_streamed, "claude"),
            "translation alone": _retold,
        },
        "A stream of {x:,.0f} events takes up to {y:.3g} ms", "a stream",
    ),
    "streams": Axis(
        "paced streams at once", "event", (1, 10, 100, 500, 1_000, 2_000),
        {
            "gateway, passed through": partial(_crowded, PASSED),
            "gateway, translated": partial(_crowded, TRANSLATED),
        },
        "With {x:,.0f} streams at once an event takes up to {y:.3g} µs",
    ),
}  # fmt: skip
"""What grows, by the name of its row."""
_MEASURED: dict[str, Chart] = {}


@once
def chart(name: str) -> Chart:
    """The points of an axis, measured once a run."""
    axis = AXES[name]
    lines = tuple(
        Line(what, tuple((count, point(count)) for count in axis.points)) for what, point in axis.lines.items()
    )
    _MEASURED[name] = Chart(f"growth/{name}", axis.x, f"µs a {axis.unit}", lines)
    return _MEASURED[name]


def factor(line: Line) -> float:
    """What a unit takes at the largest point, for each unit of what it takes in the middle."""
    return line.points[-1][1] / line.points[len(line.points) // 2][1]


def factors(name: str) -> dict[str, float]:
    """The factor of each line of an axis."""
    return {line.name: factor(line) for line in chart(name).lines}


def cliffs(chart: Chart) -> list[str]:
    """Where a unit takes more than the factor of what it took at the point before, in a sentence each."""
    return [
        f"{chart.title}: {line.name}: {after / before:.1f} times as much a unit at {x:,.0f} as at {less:,.0f}"
        for line in chart.lines
        for (less, before), (x, after) in _pairs(line)
        if after > before * FACTOR
    ]


def _pairs(line: Line) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    return zip(line.points, line.points[1:], strict=False)


def charts() -> list[Chart]:
    """What was measured so far in this run."""
    return list(_MEASURED.values())


def drawn(measured: Sequence[Chart]) -> str:
    """A picture of charts: what a whole request or stream takes, in ms, or one event of many streams, in µs."""
    return lines([_whole(chart, AXES[chart.title.removeprefix("growth/")]) for chart in measured])


def _whole(chart: Chart, axis: Axis) -> Chart:
    if axis.whole:
        sums = [line._replace(points=tuple((x, x * y / 1_000) for x, y in line.points)) for line in chart.lines]
        chart = chart._replace(y=f"ms {axis.whole}", lines=tuple(sums))
    x, y = max([line.points[-1] for line in chart.lines])
    return chart._replace(sentence=axis.sentence.format(x=x, y=y))


def told() -> str:
    """The charts as text, with the cliffs."""
    found = [sentence for one in charts() for sentence in cliffs(one)]
    return (
        "\n\n".join([*map(text, charts()), "\n".join(found) or f"no cliff: never {FACTOR:g} times the point before"])
        + "\n"
    )


# Workers


@once
def workers() -> tuple[Measured, Measured]:
    """What two workers take for each unit of what one takes: processor time a request, and time."""
    asked = Load(TRANSLATED, connections=64, requests=3_000)
    pairs = [(load(gateway(workers=2), asked), load(gateway(workers=1), asked)) for _ in range(6)][1:]
    used = beside([(two.cpu_us, one.cpu_us) for two, one in pairs])
    return used, beside([(two.told["seconds"], one.told["seconds"]) for two, one in pairs], "s")


def main() -> int:
    """Measure the axes asked for and tell them; status 1 where one does not grow in a line."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description="how cost grows")
    parser.add_argument("axes", nargs="*", choices=[[], *AXES], help="default: all")
    status = 0
    for name in parser.parse_args().axes or AXES:
        try:
            print(text(chart(name)), flush=True)
        except NotRun as reason:
            print(f"{name}: not run: {reason}")
            continue
        status |= any(found > FACTOR for found in factors(name).values())
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / "growth.txt").write_text(told(), encoding="utf-8")
    if charts():
        (KEPT / "growth.svg").write_text(drawn(charts()), encoding="utf-8")
        print("drawn: bench/results/local/growth.svg")
    print("\n".join(sentence for one in charts() for sentence in cliffs(one)) or "no cliff")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
