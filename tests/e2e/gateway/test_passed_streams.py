"""Official SDKs in front of upstreams of their own dialect that go wrong: what they hear, beside a translated answer.

Judged by what each SDK's own helper gives its user, and by whether it raises: through a gateway that passes bytes on,
and through the same gateway where the answer is translated for a client of another dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from importlib.util import find_spec
from operator import itemgetter
from typing import Any

import pytest

PACKAGES = ("openai", "anthropic", "google.genai", "ollama", "cohere")
if any(find_spec(name.partition(".")[0]) is None for name in PACKAGES):
    pytest.skip("the official SDKs are not installed", allow_module_level=True)

import interlingua as il  # noqa: E402
from interlingua.dialects.table import stream_type  # noqa: E402
from interlingua.transport.override import Override, overriding  # noqa: E402
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport  # noqa: E402
from tests.support.cells import cells  # noqa: E402
from tests.support.gateway import MODELS, serving  # noqa: E402
from tests.support.listening import Heard, listener  # noqa: E402
from tests.support.stream_faults import FAULTS, HARMLESS, PLACES, TEXTS, WRITES, broken, pieces_of  # noqa: E402
from tests.support.wrong_answers import STREAMS, WHOLES, Frames  # noqa: E402

DIALECTS = list(STREAMS)
OTHER = {
    "openai-chat": "anthropic",
    "openai-responses": "openai-chat",
    "anthropic": "openai-responses",
    "google": "ollama",
    "ollama": "google",
    "cohere": "openai-chat",
    "bedrock": "anthropic",
}
"""For each upstream the client that judges it in translation; each SDK has its turn."""
JSON = (("content-type", "application/json"),)

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
    headers = (("content-type", stream_type(upstream)),) if stream else JSON
    script = AsyncReplayTransport(Line(pieces=pieces, headers=headers, times=None, ending=ending))
    with overriding(Override(lambda _: ReplayTransport(), lambda _: script, answers=True)):
        return listen(upstream, stream)


STREAM_CASES = [(dialect, name) for dialect, cases in STREAMS.items() for name in cases]
WHOLE_CASES = [(dialect, name) for dialect, cases in WHOLES.items() for name in cases]


@cells(("dialect", "name"), STREAM_CASES, by=itemgetter(0))
def test_pass_01_a_passed_stream_says_what_a_translated_one_says(
    listen: dict[str, Listen], dialect: str, name: str
) -> None:
    """Text, calls, end, counts, and whether the SDK raises, for every stream that somebody has seen go wrong."""
    pieces = STREAMS[dialect][name]
    passed = heard(listen[dialect], dialect, pieces, stream=True)
    translated = heard(listen[OTHER[dialect]], dialect, pieces, stream=True)
    assert passed == translated


@cells(("dialect", "name"), WHOLE_CASES)
def test_pass_02_a_passed_answer_says_what_a_translated_one_says(
    listen: dict[str, Listen], dialect: str, name: str
) -> None:
    """The same for whole answers."""
    pieces = (WHOLES[dialect][name],)
    passed = heard(listen[dialect], dialect, pieces, stream=False)
    translated = heard(listen[OTHER[dialect]], dialect, pieces, stream=False)
    assert passed == translated


# Where it breaks


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("dialect", DIALECTS)
@cells("place", PLACES["openai-chat"])
def test_end_01_an_sdk_raises_wherever_a_stream_breaks(
    listen: dict[str, Listen], dialect: str, fault: str, place: str
) -> None:
    """However it is written, passed on or translated: an error where there is one, and before it what had come."""
    data = broken(dialect, fault, PLACES[dialect][place])
    told: dict[tuple[str, str], tuple[bool, str]] = {}
    for seed, way in enumerate(WRITES):
        for client in (dialect, OTHER[dialect]):
            if data:
                reset = il.APIConnectionError("reset") if fault == "reset" else None
                said = heard(listen[client], dialect, pieces_of(data, way, seed), stream=True, ending=reset)
                told[way, client] = said.raised, said.text
    raises = not (place == "after the finish" and (dialect, fault) in HARMLESS)
    text = "" if place == "first" else TEXTS.get(dialect, "Hello there.")
    assert set(told.values()) == ({(raises, text)} if told else set())


def test_a_call_that_begins_twice_is_one(listen: dict[str, Listen]) -> None:
    """What was begun and never went on is no second call without arguments, which would be executed."""
    told = heard(listen["anthropic"], "anthropic", STREAMS["anthropic"]["a call begun twice"], stream=True)
    assert (told.calls, told.raised) == ([("f", {"city": "Oslo"})], False)
