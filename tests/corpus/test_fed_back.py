"""Every answer becomes the history of a next request, in every format and back at home; the strict upstream takes it.

Of the recordings a twentieth is tried; with `INTERLINGUA_WHOLE` set, all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from interlingua.dialects.openai_responses.items import ItemEncoder
from interlingua.testing.corpus import read_exchanges
from interlingua.testing.exchange import Exchange
from interlingua.testing.judging.fed_back import feed_back

INVENTED = Path(__file__).with_name("invented.jsonl")
RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
"""Where the recordings are; they are too large to be kept here."""
EVERY = 1 if os.environ.get("INTERLINGUA_WHOLE") else 20
"""Of how many recorded exchanges one is tried."""
FILES = (
    *("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere"),
    *("groq", "mistral", "deepseek", "openrouter", "other"),
)


def _faults(exchanges: Iterable[Exchange]) -> list[str]:
    """The faults of the requests that go on after the answers."""
    return [f"{exchange.id} {fault}" for exchange in exchanges for fault in feed_back(exchange) or ()]


def test_invented_answers_are_fed_back() -> None:
    """Cut, blank, refused, paused and broken answers leave histories that every service takes."""
    assert _faults(read_exchanges(INVENTED)) == []


@pytest.mark.parametrize("name", FILES)
def test_recorded_answers_are_fed_back(name: str) -> None:
    """Recorded answers leave histories that every service takes, the one that answered among them."""
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    assert _faults(list(read_exchanges(path))[::EVERY]) == []


def test_the_loop_sees_a_history_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With reasoning sent as it stands, whatever follows it, the loop tells of it."""

    class Forgotten:
        """The places of reasoning: none, so that nothing is moved and nothing left out."""

        def __get__(self, encoder: ItemEncoder, kind: type) -> dict[int, str]:
            return {}

        def __set__(self, encoder: ItemEncoder, places: dict[int, str]) -> None:
            pass

    monkeypatch.setattr(ItemEncoder, "_thoughts", Forgotten(), raising=False)
    [exchange] = [one for one in read_exchanges(INVENTED) if one.id == "r-reason-call"]
    assert {fault.part for fault in feed_back(exchange) or ()} == {"f spoken at home"}
