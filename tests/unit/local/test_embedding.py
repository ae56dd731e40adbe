"""Vectors from local weights: what is taken, what comes back, and that the warning is honest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.local import weights
from interlingua.local.chat import ChatError
from interlingua.local.embedding import EmbedPlan, embed_body, embed_plan, embedded
from interlingua.local.reply import Fault, Vectors

pytestmark = pytest.mark.filterwarnings("ignore::interlingua.client.call.report.ChangeWarning")


class Server:
    """Gives each text the vector of its length; one that is too long it refuses as the engine does."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def handle_embeddings(self, payload: dict[str, Any]) -> dict[str, Any]:
        """The vector of one text."""
        self.texts.append(payload["input"])
        if len(payload["input"]) > 10:
            return {"error": {"code": 500, "message": "input (11 tokens) is too large to process"}}
        return {"data": [{"embedding": [float(len(payload["input"]))]}], "usage": {"prompt_tokens": 2}}


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"input": []}, "input"),
        ({"input": ["a", 1]}, "input"),
        ({"input": ["a", ""]}, "input"),
        ({"input": "a", "dimensions": 5}, "dimensions"),
        ({"input": "a", "encoding_format": "base64"}, "encoding_format"),
    ],
)
def test_what_the_engine_does_not_take_is_refused(members: dict[str, Any], param: str) -> None:
    """With the member."""
    with pytest.raises(ChatError) as caught:
        embed_plan(json.dumps({"model": "tiny", **members}).encode())
    assert caught.value.param == param


def test_texts_are_embedded_one_by_one() -> None:
    """In order, with the tokens of all; a text that is too long is a fault, and who left hears nothing."""
    plan = embed_plan(b'{"model":"tiny","input":["a","bbb"]}')
    assert plan == EmbedPlan(("a", "bbb"), "tiny")
    vectors = embedded(Server(), plan, lambda: False)
    assert isinstance(vectors, Vectors)
    assert vectors == Vectors(([1.0], [3.0]), 4)
    assert json.loads(embed_body(plan, vectors)) == {
        "object": "list", "model": "tiny", "usage": {"prompt_tokens": 4, "total_tokens": 4},
        "data": [{"object": "embedding", "index": place, "embedding": [size]} for place, size in enumerate((1.0, 3.0))],
    }  # fmt: skip
    fault = embedded(Server(), EmbedPlan(("x" * 11,), ""), lambda: False)
    assert isinstance(fault, Fault)
    assert (fault.status, fault.code) == (400, "context_length_exceeded")
    server = Server()
    assert embedded(server, plan, lambda: bool(server.texts)) is None
    assert server.texts == ["a"]


def test_only_the_models_that_can_be_pulled_are_pooled_by_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the user's own says itself how it is pooled."""
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path))
    assert weights.is_pulled(tmp_path / "models" / "tiny.gguf")
    assert not weights.is_pulled(tmp_path / "models" / "mine.gguf")
    assert not weights.is_pulled(tmp_path / "tiny.gguf")


@pytest.mark.local_model
async def test_r67_the_tiny_model_gives_its_pooled_states(tiny: Path) -> None:
    """The same in both faces, sent as what it is; strict refuses it, and a text that is too long has its own error."""
    del tiny
    made = il.embed(["rain in Oslo", "shares fell"], model="local/tiny")
    again = await aio.embed(["rain in Oslo", "shares fell"], model="local/tiny")
    assert (len(made), made.dimensions, made.usage.output_tokens) == (2, 576, 0)
    assert made[0] == pytest.approx(again[0], abs=1e-5)
    assert [change.code for change in made.changes] == ["vectors_pooled"]
    with pytest.raises(il.UnsupportedError, match="made for conversations"):
        il.embed("a", model="local/tiny", strict=True)
    with pytest.raises(il.ContextWindowExceededError):
        il.embed("word " * 3_000, model="local/tiny")
