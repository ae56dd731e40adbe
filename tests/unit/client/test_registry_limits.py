"""Limits in the file of a registry of one's own hold for the calls of its models, and for no others."""

from __future__ import annotations

from pathlib import Path

import pytest

import interlingua as il


def limited(folder: Path, rpm: int = 1) -> il.Registry:
    """A registry whose file allows so many requests a minute."""
    path = folder / "limits.toml"
    path.write_text(f'[limits."fake/*"]\nrpm = {rpm}\n', encoding="utf-8")
    registry = il.Registry({})
    assert registry.load_config(path).problems == ()
    return registry


def test_the_limits_of_an_own_registry_hold_for_its_models(tmp_path: Path) -> None:
    """Two models share what it allows, and so does a copy with another key; other models are not limited."""
    registry = limited(tmp_path)
    il.model("fake/a", registry=registry, timeout_s=0.5).generate("Hi")
    for name in ("fake/a", "fake/b"):
        with pytest.raises(il.RateLimitError) as caught:
            il.model(name, registry=registry, timeout_s=0.5).generate("Hi")
        assert caught.value.code == "client_limit"
    for registry_of_another in (None, il.Registry({}), limited(tmp_path)):
        il.model("fake/a", registry=registry_of_another, timeout_s=0.5).generate("Hi")


def test_a_file_that_is_loaded_again_limits_anew(tmp_path: Path) -> None:
    """What it allows now is what counts."""
    registry = limited(tmp_path)
    model = il.model("fake/a", registry=registry, timeout_s=0.5)
    model.generate("Hi")
    path = tmp_path / "limits.toml"
    path.write_text('[limits."fake/*"]\nrpm = 5\n', encoding="utf-8")
    registry.load_config(path)
    assert [model.generate("Hi").text != "" for _ in range(3)] == [True] * 3
