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
    *("openai-chat", "openai-responses", "anthropic", "google", "ollama"),
    *("groq", "mistral", "deepseek", "openrouter", "other"),
)
OPEN = {
    (
        "in openai-chat",
        "/images",
    ): "a picture of the assistant is told as OpenRouter has it, whoever is asked (topic E)",
    ("in openai-chat", "/audio/"): "sound of the assistant is told whole where only its id is taken (topic E)",
    ("echoed by unified", "broken_tool_call"): "a client of our own format cannot send a call back that was cut off",
    ("in unified", "/properties/input"): "the text of a freeform tool has no description (topic D)",
}
"""Part and place of what is still refused, and why."""


def _unknown(exchanges: Iterable[Exchange]) -> list[str]:
    """The faults that nothing in `OPEN` names."""
    return [
        f"{exchange.id} {fault}"
        for exchange in exchanges
        for fault in feed_back(exchange) or ()
        if not any(part in fault.part and place in fault.detail for part, place in OPEN)
    ]


def test_invented_answers_are_fed_back() -> None:
    """Cut, blank, refused, paused and broken answers leave histories that every service takes."""
    assert _unknown(read_exchanges(INVENTED)) == []


@pytest.mark.parametrize("name", FILES)
def test_recorded_answers_are_fed_back(name: str) -> None:
    """Recorded answers leave histories that every service takes, the one that answered among them."""
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    assert _unknown(list(read_exchanges(path))[::EVERY]) == []


def test_the_loop_sees_a_history_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With reasoning sent as it stands, whatever follows it, the loop tells of it."""

    def as_it_stands(_: ItemEncoder) -> None:
        """Move nothing, and leave nothing out."""

    monkeypatch.setattr(ItemEncoder, "_put_before_followers", as_it_stands)
    [exchange] = [one for one in read_exchanges(INVENTED) if one.id == "r-reason-call"]
    assert {fault.part for fault in feed_back(exchange) or ()} == {"f spoken at home"}
