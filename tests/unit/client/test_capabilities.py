"""What is known of a target, by its sources, without asking anybody."""

from __future__ import annotations

import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.state import health_store
from interlingua.providers.rows import ROWS
from interlingua.registry.resolve import Registry
from interlingua.routing.health import Learned
from interlingua.testing import FakeModel, no_network, use
from interlingua.types.capabilities import FEATURES, Capabilities
from tests.support.identities import identity_of


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if not row.needs_host])
def test_every_row_says_who_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each known field has an origin, no other has one; text is always taken; nothing is sent."""
    for variable in ROWS[name].variables:
        monkeypatch.setenv(variable.env[0], "somewhere")
    with no_network():
        known = il.capabilities(f"{name}/some-model")
    assert known.origins.keys() == set(known.known())
    assert all(known.origins.values())
    assert (known.model, known.text) == (f"{name}/some-model", True)


def test_the_sources_count_in_their_order() -> None:
    """What is said, what was refused, the tables, the dialect; each field has the first that says something of it."""
    registry = Registry({"LLM_MINE": "google://key@h/v1beta?tools=1&n=0"})
    health_store().apply(
        [
            (
                "mine/gemini-2.5-flash",
                Learned(frozenset({"tools", "images"}), identity=identity_of("mine/gemini-2.5-flash", registry)),
            )
        ]
    )
    known = il.capabilities("mine/gemini-2.5-flash", registry=registry)
    assert (known.tools, known.n, known.images, known.audio) == (True, False, False, True)
    assert known.origins["tools"] == known.origins["n"] == "LLM_MINE"
    assert known.origins["images"] == "the target refused it lately"
    table = il.capabilities("google/gemini-2.5-flash")
    assert (table.images, table.audio, table.documents, table.thinking) == (True, True, True, True)
    assert table.origins["images"] == "the table of models"
    assert table.origins["image_types"] == "the media limits of google"
    chat = il.capabilities("groq/m")
    assert (chat.n, chat.origins["n"]) == (False, "openai-chat as it is spoken to groq")


@pytest.mark.parametrize(
    ("spec", "feature"),
    [("anthropic/claude-3-haiku-20240307", "output_schema"), ("openai-chat/gpt-4o", "thinking"), ("ollama/m", "audio"),
     ("openai/gpt-5-mini", "logprobs"), ("local/tiny", "parallel_tool_calls")],
)  # fmt: skip
def test_what_is_known_not_to_be_there(spec: str, feature: str) -> None:
    """A no of each source; `lacks` has it."""
    known = il.capabilities(spec)
    assert getattr(known, feature) is False
    assert feature in known.lacks()


def test_a_target_is_named_by_one_name() -> None:
    """An alias of one target is that target; several, and a name that nothing defines, are errors."""
    registry = Registry({})
    registry.register_alias("small", "local/tiny")
    assert il.capabilities("small", registry=registry).model == "local/tiny"
    with pytest.raises(il.UsageError, match="is a chain, and its targets have different capabilities; name one of"):
        il.capabilities("openai/a,groq/b")
    with pytest.raises(il.UnknownModelError):
        il.capabilities("nobody/x")
    with use(FakeModel(["Hi"])):
        assert il.capabilities("nobody/x").text is True


async def test_the_twin_gives_the_same() -> None:
    """Awaited, with the same arguments."""
    registry = Registry({})
    assert await aio.capabilities("local/tiny", registry=registry) == il.capabilities("local/tiny")


def test_a_server_without_a_card_is_not_asked() -> None:
    """The error says what works."""
    with no_network(), pytest.raises(il.UsageError, match="does not list capabilities; use ask=False"):
        il.capabilities("groq/m", ask=True)


def test_values_are_laid_over_each_other() -> None:
    """The first that knows a field counts, with its origin; a value knows what it lacks."""
    first = Capabilities(images=False, origins={"images": "a"})
    both = first.over(Capabilities(model="x/y", images=True, n=True, origins={"images": "b", "n": "b"}))
    assert both == Capabilities(model="x/y", images=False, n=True, origins={"images": "a", "n": "b"})
    assert (both.known(), both.lacks()) == (("images", "n"), frozenset({"images"}))
    assert Capabilities().known() == ()
    assert set(FEATURES) <= set(Capabilities.__struct_fields__)
