"""Official SDKs in front of upstreams of their own dialect that go wrong: what they hear, beside a translated answer.

Judged by what each SDK's own helper gives its user, and by whether it raises: through a gateway that passes bytes on,
and through the same gateway where the answer is translated for a client of another dialect.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from importlib.util import find_spec
from typing import Any

import pytest

PACKAGES = ("openai", "anthropic", "google.genai", "ollama")
if any(find_spec(name.partition(".")[0]) is None for name in PACKAGES):
    pytest.skip("the official SDKs are not installed", allow_module_level=True)

import interlingua as il  # noqa: E402
from interlingua.transport.override import Override, overriding  # noqa: E402
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport  # noqa: E402
from tests.support.gateway import MODELS, serving  # noqa: E402
from tests.support.listening import Heard, listener  # noqa: E402
from tests.support.wrong_answers import SDK_FRAMES, STREAMS, WHOLES, Frames  # noqa: E402

DIALECTS = list(STREAMS)
OTHER = {
    "openai-chat": "anthropic",
    "openai-responses": "openai-chat",
    "anthropic": "openai-responses",
    "google": "ollama",
    "ollama": "google",
}
"""For each upstream the client that judges it in translation; each SDK has its turn."""
SSE = (("content-type", "text/event-stream"),)
JSON = (("content-type", "application/json"),)
STREAM_TYPES = {"ollama": (("content-type", "application/x-ndjson"),)}

Listen = Callable[[str, bool], Heard]


@pytest.fixture(scope="module")
def listen() -> Generator[dict[str, Listen]]:
    """The SDKs, by dialect, all in front of one gateway."""
    with serving(aliases=dict(MODELS)) as url:
        listeners: dict[str, Any] = {dialect: listener(dialect, url) for dialect in DIALECTS}
        yield listeners
        for one in listeners.values():
            one.close()


def heard(listen: Listen, upstream: str, pieces: Frames, *, stream: bool, ending: Exception | None = None) -> Heard:
    """What an SDK hears when the upstream says these pieces, and no more; `ending` breaks its connection then."""
    headers = STREAM_TYPES.get(upstream, SSE) if stream else JSON
    script = AsyncReplayTransport(Line(pieces=pieces, headers=headers, times=None, ending=ending))
    with overriding(Override(lambda _: ReplayTransport(), lambda _: script, answers=True)):
        return listen(upstream, stream)


STREAM_CASES = [(dialect, name) for dialect, cases in STREAMS.items() for name in cases]
WHOLE_CASES = [(dialect, name) for dialect, cases in WHOLES.items() for name in cases]


@pytest.mark.parametrize(("dialect", "name"), STREAM_CASES, ids=[f"{one}-{name}" for one, name in STREAM_CASES])
def test_pass_01_a_passed_stream_says_what_a_translated_one_says(
    listen: dict[str, Listen], dialect: str, name: str
) -> None:
    """Text, calls, end, counts, and whether the SDK raises, for every stream that somebody has seen go wrong."""
    pieces = STREAMS[dialect][name]
    passed = heard(listen[dialect], dialect, pieces, stream=True)
    translated = heard(listen[OTHER[dialect]], dialect, pieces, stream=True)
    assert passed == translated


@pytest.mark.parametrize(("dialect", "name"), WHOLE_CASES, ids=[f"{one}-{name}" for one, name in WHOLE_CASES])
def test_pass_02_a_passed_answer_says_what_a_translated_one_says(
    listen: dict[str, Listen], dialect: str, name: str
) -> None:
    """The same for whole answers."""
    pieces = (WHOLES[dialect][name],)
    passed = heard(listen[dialect], dialect, pieces, stream=False)
    translated = heard(listen[OTHER[dialect]], dialect, pieces, stream=False)
    assert passed == translated


# Where it breaks

FAULTS = ("error", "broken", "cut", "reset")
ERRORS = {
    "openai-chat": b'data: {"error":{"message":"gone","type":"invalid_request_error"}}\n\n',
    "openai-responses": b'event: error\ndata: {"type":"error","code":"invalid_prompt","message":"gone"}\n\n',
    "anthropic": b'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"gone"}}\n\n',
    "google": b'data: {"error":{"code":400,"message":"gone","status":"INVALID_ARGUMENT"}}\r\n\r\n',
    "ollama": b'{"error":"gone"}\n',
}
PLACES: dict[str, dict[str, int]] = {
    "openai-chat": {"first": 0, "after text": 2, "inside a call": 3, "before the finish": 4, "after the finish": 6},
    "openai-responses": {
        "first": 0, "after text": 4, "inside a call": 9, "before the finish": 11, "after the finish": 12,
    },
    "anthropic": {"first": 0, "after text": 4, "inside a call": 6, "before the finish": 7, "after the finish": 8},
    "google": {"first": 0, "after text": 2, "inside a call": 3, "before the finish": 3, "after the finish": 4},
    "ollama": {"first": 0, "after text": 2, "inside a call": 3, "before the finish": 3, "after the finish": 4},
}  # fmt: skip
"""Behind so many frames of `SDK_FRAMES` the fault comes; calls of Google and Ollama are whole in one."""
HARMLESS = {
    *[(dialect, fault) for dialect in ("openai-chat", "google") for fault in ("cut", "reset")],  # a finish is an end
    *[(dialect, fault) for dialect in ("openai-responses", "ollama") for fault in FAULTS],  # nothing is read behind it
}
"""Faults after the finish that no client needs to hear of."""
TEXTS = {"openai-chat": "Hello there.", "openai-responses": "Hello there.", "anthropic": "Hello"}


def _broken(dialect: str, fault: str, place: int) -> bytes:
    frames = SDK_FRAMES[dialect]
    wrong = {"error": ERRORS[dialect], "broken": frames[1][: len(frames[1]) // 2] + frames[1][-4:].lstrip(b'}"]')}
    ending = b"\r\n\r\n" if dialect == "google" else b"\n" if dialect == "ollama" else b"\n\n"
    if fault not in wrong:
        return b"".join(frames[:place])
    return b"".join(frames[:place]) + wrong[fault].rstrip() + ending + b"".join(frames[place:])


def _pieces(data: bytes, way: str, seed: int) -> Frames:
    """The stream in one write, in a write for each line, or cut anywhere."""
    if way == "one write":
        return (data,)
    if way == "a write each":
        return tuple(data.splitlines(keepends=True))
    cuts = sorted(random.Random(seed).sample(range(1, len(data)), 9))
    return tuple([data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)])


@pytest.mark.parametrize("place", ["first", "after text", "inside a call", "before the finish", "after the finish"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_end_01_an_sdk_raises_wherever_a_stream_breaks(
    listen: dict[str, Listen], dialect: str, fault: str, place: str
) -> None:
    """However it is written, passed on or translated: an error where there is one, and before it what had come."""
    data = _broken(dialect, fault, PLACES[dialect][place])
    told: dict[tuple[str, str], tuple[bool, str]] = {}
    for seed, way in enumerate(("one write", "a write each", "random cuts")):
        for client in (dialect, OTHER[dialect]):
            if data:
                reset = il.APIConnectionError("reset") if fault == "reset" else None
                said = heard(listen[client], dialect, _pieces(data, way, seed), stream=True, ending=reset)
                told[way, client] = said.raised, said.text
    raises = not (place == "after the finish" and (dialect, fault) in HARMLESS)
    text = "" if place == "first" else TEXTS.get(dialect, "Hello there.")
    assert set(told.values()) == ({(raises, text)} if told else set())


def test_a_call_that_begins_twice_is_one(listen: dict[str, Listen]) -> None:
    """What was begun and never went on is no second call without arguments, which would be executed."""
    told = heard(listen["anthropic"], "anthropic", STREAMS["anthropic"]["a call begun twice"], stream=True)
    assert (told.calls, told.raised) == ([("f", {"city": "Oslo"})], False)
