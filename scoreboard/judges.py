"""Three judges of one server: our conformance checks, llm-comply, and the matrix of broken streams with official SDKs.

Rules
- A check that cannot be made (a model that does not call, a dialect without such a rule) counts for nobody.
- A stream that breaks must make the SDK raise, whatever it raises; a whole one must not. What comes behind the finish
  of a stream is left out, since not every client needs to hear of it.
- Every failure carries a line of evidence: what the judge saw.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from interlingua.errors import APIConnectionError
from interlingua.testing.conformance import check_server
from interlingua.testing.conformance.question import Question
from interlingua.testing.conformance.session import Session
from interlingua.transport.replay import Line
from interlingua.wire.http import Headers
from scoreboard.stage import Stage
from tests.support.listening import Access, listener
from tests.support.stream_faults import FAULTS, PLACES, broken, pieces_of
from tests.support.wrong_answers import SDK_FRAMES

__all__ = ["JUDGES", "Place", "Score", "comply", "conform", "refusal", "streams"]

JUDGES = ("conformance", "llm-comply", "streams")
FORMATS = {
    "openai-chat": "openai-chat",
    "openai-responses": "open-responses",
    "anthropic": "anthropic",
    "google": "google-genai",
}
"""What llm-comply calls a dialect; it does not know Ollama's."""
ANSWER_S = 20.0
COMPLY_S = 90.0
STREAM_S = 10.0
STREAMS_S = 60.0
EVIDENCE = 240
"""How long one answer, one run of llm-comply, one wait of an SDK, one matrix may take; the most letters of evidence."""


class Place(NamedTuple):
    """Where a server is asked."""

    port: int
    """Its port."""
    dialect: str
    """The client's dialect."""
    base: str
    """What stands before the operation."""
    model: str
    """The model."""
    key: str
    """The credential; empty where it takes any."""
    headers: Headers
    """Headers that name the upstream."""


class Score(NamedTuple):
    """What one judge says."""

    passed: int
    """Checks that passed."""
    made: int
    """Checks that were made."""
    failures: list[tuple[str, str]]
    """Each failed check, with a line of evidence."""
    note: str = ""
    """Why there is less than there should be."""


def conform(place: Place, seconds: float = ANSWER_S) -> Score:
    """The checks of `interlingua.testing.conformance`."""
    url = f"http://127.0.0.1:{place.port}{place.base}"
    session = Session(url, place.dialect, place.model, place.key, headers=place.headers, timeout_s=seconds)
    outcomes = [outcome for outcome in check_server(session).outcomes if outcome.state != "skip"]
    failures = [(outcome.name, clean(outcome.reason)) for outcome in outcomes if outcome.state == "fail"]
    return Score(len(outcomes) - len(failures), len(outcomes), failures)


def comply(place: Place) -> Score | None:
    """The checks of llm-comply, which are made in a process of their own; None for a dialect that it does not know.

    A check whose connection breaks is made once more by itself: some servers close theirs after a refusal, and the next
    check would pay for it.
    """
    form = FORMATS.get(place.dialect)
    if form is None:
        return None
    try:
        made = _comply(place, form)
        for number, result in enumerate(made):
            if _broke(result):
                made[number : number + 1] = _comply(place, form, str(result["id"]))
    except subprocess.TimeoutExpired:
        return Score(0, 0, [], f"llm-comply took more than {COMPLY_S:.0f} s")
    except (ValueError, KeyError):
        return Score(0, 0, [], "llm-comply gave no report")
    failed = [result for result in made if result["status"] != "passed"]
    failures = [(str(one["id"]), clean(_errors(one))) for one in failed]
    return Score(len(made) - len(failed), len(made), failures)


def _comply(place: Place, form: str, check: str = "") -> list[dict[str, Any]]:
    """The results of the checks that were made; of one alone, where one is named."""
    base = place.base if place.dialect != "google" else ""
    command = [sys.executable, "-m", "llm_comply.cli", "--format", form, "--json", "-m", place.model]
    command += ["-u", f"http://127.0.0.1:{place.port}{base}", "-k", place.key or "no-key", "--timeout", "30"]
    version = (("anthropic-version", "2023-06-01"),) if form == "anthropic" else ()  # it sends none by itself
    headers = ",".join([f"{name}:{value}" for name, value in (*place.headers, *version)])
    command += ["-H", headers] if headers else []
    command += ["--filter", check] if check else []
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMPLY_S)
    results: list[dict[str, Any]] = json.loads(ran.stdout)["results"]
    return [result for result in results if result["status"] != "skipped"]


def _errors(result: dict[str, Any]) -> str:
    return "; ".join(map(str, result.get("errors", ())))


def _broke(result: dict[str, Any]) -> bool:
    return _errors(result).startswith("exception: Connection") and "timed out" not in _errors(result)


def streams(place: Place, stage: Stage) -> Score:
    """Whether the official SDK of the dialect raises where a stream breaks, and only there."""
    errors: list[str] = []
    access = Access(place.key or "k", dict(place.headers), STREAM_S, errors, google_version="v1beta")
    ask: Any = listener(place.dialect, f"http://127.0.0.1:{place.port}", access)
    until_s, made, failures, note = time.monotonic() + STREAMS_S, 0, Counter[str](), ""
    evidence: dict[str, str] = {}
    try:
        for name, case in _cases():
            if time.monotonic() > until_s:
                note = f"broken off after {STREAMS_S:.0f} s"
                break
            stage.stream = partial(_line, case=case)
            raised, seen = _heard(ask, place.model, errors)
            made += 1
            if raised != bool(case.fault):
                failures[name] += 1
                evidence.setdefault(name, seen)
                if not case.fault:
                    note = "no whole stream comes through, so the broken ones say nothing"
                    break
    finally:
        stage.stream = None
        ask.close()
    lost = [(name if count == 1 else f"{name}, {count} ways", evidence[name]) for name, count in failures.items()]
    return Score(made - failures.total(), made, lost, note)


class Case(NamedTuple):
    """One stream."""

    fault: str
    """What is wrong with it; empty where nothing is."""
    where: str
    """Where."""
    way: str
    """How it is written."""


def _cases() -> Iterator[tuple[str, Case]]:
    """The streams, by name: first the whole one, in each way of writing."""
    for way in ("one write", "a write each"):
        yield "a whole stream", Case("", "", way)
        for fault in FAULTS:
            for where in PLACES["openai-chat"]:
                is_empty = where == "first" and fault in ("cut", "reset")
                if where != "after the finish" and not is_empty:
                    yield f"{fault}, {'at first' if where == 'first' else where}", Case(fault, where, way)


def _line(dialect: str, case: Case) -> Line:
    fault, frames = case.fault, SDK_FRAMES[dialect]
    data = broken(dialect, fault, PLACES[dialect][case.where]) if fault else b"".join(frames)
    ending = APIConnectionError("reset") if fault == "reset" else None
    return Line(pieces=pieces_of(data, case.way, 0), headers=(("content-type", "text/event-stream"),), ending=ending)


def _heard(ask: Any, model: str, errors: list[str]) -> tuple[bool, str]:
    """Whether the SDK raised, and what its user had."""
    try:
        heard = ask(model, True)
    except Exception as error:  # noqa: BLE001 - whatever an SDK raises tells its user that something is wrong
        return True, clean(f"{type(error).__name__}: {error}")
    if heard.raised:
        return True, clean(errors[-1])
    return False, clean(f"no exception; text {heard.text!r}, calls {heard.calls}, finish {heard.finish!r}")


def refusal(place: Place, seconds: float = ANSWER_S) -> str:
    """What a server says where it does not offer a dialect for a model; empty where it does.

    It must say so itself: a status of 404, 405 or 5xx for the simplest question, with words for "not supported".
    """
    url = f"http://127.0.0.1:{place.port}{place.base}"
    session = Session(url, place.dialect, place.model, place.key, headers=place.headers, timeout_s=seconds)
    got, _ = session.ask(Question())
    words = got.body.decode(errors="replace")
    is_refusal = got.status in (404, 405) or (got.status >= 500 and _UNSUPPORTED.search(words) is not None)
    return clean(f"status {got.status}: {words}") if is_refusal else ""


_UNSUPPORTED = re.compile(r"not (supported|available|implemented)", re.IGNORECASE)


def clean(text: str) -> str:
    """Evidence in one short line, without what differs from run to run."""
    text = re.sub(r"(127\.0\.0\.1|localhost|0\.0\.0\.0):\d+", r"\1:PORT", " ".join(text.split()))
    text = re.sub(r"(?:/[\w.-]+){3,}/([\w.-]+)", r"…/\1", text) if "/site-packages/" in text else text
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text).replace('\\"', '"')
    return text if len(text) <= EVIDENCE else re.sub(r"(?<=\W)\w+$", "", text[: EVIDENCE - 1]) + "…"  # no half words
