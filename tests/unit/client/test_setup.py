"""What code, the environment and a file define counts for every model of the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua.client.call.transports import async_transport_for, transport_for
from interlingua.registry.resolve import Registry


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry for this test alone stands in for that of the process."""
    registry = Registry()
    for place in ("setup", "face"):
        monkeypatch.setattr(f"interlingua.client.{place}.default_registry", lambda: registry)


def test_what_is_registered_is_used() -> None:
    """A provider, a scheme, an alias and a resolver of one's own all lead to an answer."""
    il.register_provider(il.Provider(name="mine", base_url="fake://", dialects=("openai-chat",), auth="none"))
    il.register_alias("best", "mine/x")
    il.register_resolver(lambda element: "best" if element.startswith("any") else None)
    assert il.model("mine/x").generate("Hi").model == "mine/x"
    assert il.model("best").generate("Hi").model == "mine/x"
    assert il.model("anything").generate("Hi").model == "mine/x"


def test_what_is_no_provider_is_refused() -> None:
    """A name alone is not enough."""
    given: Any = "mine"
    with pytest.raises(il.UsageError, match=r"register_provider takes an il\.Provider\(…\), not a str"):
        il.register_provider(given)


def test_a_model_notices_what_is_registered_later() -> None:
    """Targets are kept until something changes."""
    il.register_alias("best", "fake/a")
    model = il.model("best")
    assert model.generate("Hi").model == "fake/a"
    il.register_alias("best", "fake/b")
    assert model.generate("Hi").model == "fake/b"


def test_a_scheme_makes_dsns(monkeypatch: pytest.MonkeyPatch) -> None:
    """`name://…` in a variable is a provider of the row that the scheme gives."""
    row = il.Provider(name="acme", base_url="https://acme.example/v1", dialects=("openai-chat",), key_required=False)
    il.register_scheme("acme", lambda _: row)
    monkeypatch.setenv("LLM_WORK", "acme://gateway.example/v1")
    assert il.model("work/x").explain("Hi").http is not None
    loaded = il.load_env()
    assert loaded.providers == ("work",)


def test_a_file_is_loaded(tmp_path: Path) -> None:
    """Aliases of a TOML file count; a bad one is an error with its line."""
    path = tmp_path / "gateway.toml"
    path.write_text('[aliases]\nsmart = "fake/x"\n', encoding="utf-8")
    il.load_config(path)
    assert il.model("smart").generate("Hi").model == "fake/x"
    path.write_text("[aliases]\nsmart = 7\n", encoding="utf-8")
    with pytest.raises(il.ConfigError, match=r"gateway\.toml"):
        il.load_config(path)


@pytest.mark.parametrize("find", [transport_for, async_transport_for])
def test_a_scheme_that_nothing_carries_is_an_error(find: object) -> None:
    """The error names the schemes there are."""
    assert callable(find)
    with pytest.raises(il.ConfigError, match="no transport carries ftp:// addresses"):
        find("ftp://example.com")


def test_local_models_have_a_transport() -> None:
    """`local://` is carried inside the process, in both faces."""
    assert type(transport_for("local:///chat/completions")).__name__ == "LocalTransport"
    assert type(async_transport_for("local:///chat/completions")).__name__ == "AsyncLocalTransport"


def test_a_history_error_is_explained() -> None:
    """A conversation that no target would take is told in the plan, not raised."""
    plan = il.model("fake/x").explain(il.ToolResult("nobody", "f", "4"))
    assert "nobody" in plan.targets[0].reason
    assert plan.http is None
