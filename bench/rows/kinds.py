"""What translation costs for requests as users send them, from every dialect to every other (`bench.traffic`).

No two bodies are alike. They are made before the clock runs, and each pair is measured against the standard library's
loads and dumps of the very bytes that came in. *Recorded* are the requests of shared/corpus, each once.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from bench import traffic
from bench.measure import Batches, NotRun, batch_ratios
from bench.rows import Row
from bench.rows.pairs import pairs, standard
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.testing.corpus import read_exchanges
from interlingua.testing.exchange import APIS
from interlingua.wire.http import HttpRequest

MODEL = "model-x"
OF_A_TURN = 64
"""Requests in a turn: one of each conversation that goes on at the same time."""
BARS = {"grown": 1.0, "new-text": 1.0, "new": 1.5, "pydantic": 2.0}
WHAT = {
    "grown": "conversations that grow, every turn counted",
    "new-text": "conversations never seen, tools that everybody has",
    "new": "conversations and tools never seen",
    "pydantic": "conversations and tools never seen, parameters as pydantic writes them",
}
RECORDED = 2.5
CORPUS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
_CHAT = get_dialect("openai-chat")
_OPTIONS = EncodeOptions(target=Target(model=MODEL))


def _requests(bodies: Iterator[bytes], source: str) -> list[HttpRequest]:
    """The next of those bodies of Chat, as a client of that dialect sends them."""
    url = "https://bench.example/v1/chat/completions"
    asked = [HttpRequest(url=url, body=body) for body in islice(bodies, OF_A_TURN)]
    if source == "openai-chat":
        return asked
    write = get_dialect(source).encode_request
    written = [write(_CHAT.decode_request(one, DecodeOptions()).request, _OPTIONS) for one in asked]
    return [HttpRequest(url=f"https://bench.example/v1{one.path}", body=one.body) for one in written]


def _translation(source: str, target: str) -> Callable[[list[HttpRequest]], object]:
    read, write = get_dialect(source).decode_request, get_dialect(target).encode_request
    return lambda asked: [write(read(one, DecodeOptions()).request, _OPTIONS) for one in asked]


def _standard(asked: list[HttpRequest]) -> object:
    return standard([one.body for one in asked])


def _table(kind: str) -> dict[str, float]:
    return batch_ratios(
        {
            f"{source} -> {target}": Batches(
                partial(_requests, traffic.bodies(kind, MODEL), source), _translation(source, target), _standard
            )
            for source, target in pairs()
        }
    )


def _recorded() -> dict[str, list[HttpRequest]]:
    """The recorded requests of each dialect; those of a target that refuses one are left out for it."""
    if not CORPUS.is_dir():
        raise NotRun(f"no recordings at {CORPUS}; INTERLINGUA_CORPUS names their folder")
    found: dict[str, list[HttpRequest]] = defaultdict(list)
    for path in sorted(CORPUS.glob("*.jsonl.gz")):
        for one in read_exchanges(path):
            if one.request is not None and one.api in APIS:
                body = json.dumps(one.request, separators=(",", ":"), ensure_ascii=False).encode()
                found[APIS[one.api]].append(HttpRequest(url=f"https://{one.url}", body=body))
    return found


def _taken(source: str, target: str, asked: list[HttpRequest]) -> list[HttpRequest]:
    translate = _translation(source, target)
    taken: list[HttpRequest] = []
    for one in asked:
        try:
            translate([one])
        except Error:
            continue
        taken.append(one)
    return taken


def _recorded_table() -> dict[str, float]:
    """Each request once for a pair: the ratio of all of them together."""
    batches: dict[str, Batches] = {}
    for source, asked in _recorded().items():
        for target in DIALECTS:
            if source != target and (taken := _taken(source, target, asked)):
                turns = cycle([taken])
                batches[f"{source} -> {target}"] = Batches(
                    partial(next, turns), _translation(source, target), _standard
                )
    return dict[str, float](batch_ratios(batches, turns=3))


ROWS = (
    *[
        Row(
            f"codec/{kind}",
            f"requests to another dialect / stdlib json: {what}",
            BARS[kind],
            "x",
            partial(_table, kind),
        )
        for kind, what in WHAT.items()
    ],
    Row("codec/recorded", "recorded requests, each once / stdlib json", RECORDED, "x", _recorded_table),
)
