"""Which dialect is spoken with a provider, for which client."""

from __future__ import annotations

import pytest

from interlingua.providers.negotiate import negotiate
from interlingua.providers.row import Provider
from interlingua.providers.rows import ROWS
from interlingua.registry.dsn import parse_dsn, provider_of
from tests.support.cells import cells

CLIENTS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified", None)


@cells("client", CLIENTS)
@cells("row", ROWS.values(), ids=ROWS)
def test_a_client_keeps_its_dialect_where_the_provider_speaks_it(row: Provider, client: str | None) -> None:
    """Any other client is served in the row's first."""
    expected = client if client in row.dialects else row.dialects[0]
    assert negotiate(row, "some-model", client=client) == expected


@pytest.mark.parametrize(
    ("model", "tools", "client", "expected"),
    [
        ("gpt-5.6", True, "openai-chat", "openai-responses"),
        ("gpt-5.6-mini", True, "openai-chat", "openai-responses"),
        ("gpt-5.6", False, "openai-chat", "openai-chat"),
        ("gpt-5.2", True, "openai-chat", "openai-chat"),
        ("gpt-5.6", True, "anthropic", "openai-responses"),
        ("gpt-4.1", True, None, "openai-responses"),
    ],
)
def test_chat_is_spoken_with_models_that_take_it(model: str, tools: bool, client: str | None, expected: str) -> None:
    """The gpt-5.6 family refuses tools on Chat."""
    assert negotiate(ROWS["openai"], model, client=client, tools=tools) == expected


def test_openai_chat_pins_chat() -> None:
    """Whatever the client speaks and the model refuses: the refusal is then told before anything is sent."""
    for client in CLIENTS:
        assert negotiate(ROWS["openai-chat"], "gpt-5.6", client=client, tools=True) == "openai-chat"


def test_an_openai_dsn_to_another_host_speaks_chat() -> None:
    """Servers that call themselves compatible know Chat; nothing of OpenAI's own models holds there."""
    dsn = parse_dsn("openai://token@gateway.example/v1")
    provider = provider_of("work", dsn, ROWS["openai"], dict, where="LLM_WORK").provider
    for client in ("openai-responses", "openai-chat", None):
        assert negotiate(provider, "gpt-5.6", client=client, tools=True) == "openai-chat"


def test_spellings_are_understood_and_unknown_dialects_are_none() -> None:
    """`gemini` is google; a row that speaks nothing of ours has no dialect."""
    assert negotiate(ROWS["google"], "gemini-3-pro", client="gemini") == "google"
    strange = Provider(name="x", base_url="https://x.test", dialects=("klingon",))
    assert negotiate(strange, "m", client="openai-chat") is None
    both = Provider(name="x", base_url="https://x.test", dialects=("klingon", "anthropic"))
    assert negotiate(both, "m", client="openai-chat") == "anthropic"
