"""Typed answers in every dialect, by every fallback, against the strict upstream: repaired, asked again, streamed."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest

import interlingua as il
from interlingua.testing.upstream import Call, Say, Upstream
from tests.support.client import AWAITED, BLOCKING, Face

pytestmark = pytest.mark.filterwarnings("ignore::interlingua.ChangeWarning")


class Colour(enum.Enum):
    """A closed set."""

    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Node:
    """A tree."""

    name: str
    below: list[Node]


class Place(NamedTuple):
    """Where."""

    north: float
    east: float


class Town(TypedDict):
    """A dict."""

    name: str
    founded: dt.date


class Price(msgspec.Struct):
    """How much."""

    amount: Decimal
    currency: Literal["NOK", "EUR"] = "NOK"


class Order(pydantic.BaseModel):
    """A model with a bound."""

    colour: Colour
    count: int = pydantic.Field(ge=1)


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """One interlingua behind another."""
    monkeypatch.setenv("LLM_INTERLINGUA", "interlingua://token@hub.example")


class Target(NamedTuple):
    """A model, and the form in which it is asked."""

    dialect: str
    spec: str
    form: Literal["schema", "tool", "words"] = "schema"

    def says(self, text: str) -> Say:
        """An answer in this form."""
        if self.form != "tool":
            return Say(text=text)
        whole = text.endswith("}")
        return Say(calls=(Call("Order", json.loads(text) if whole else {}, None if whole else text),))


TARGETS = [
    Target("openai-chat", "openai-chat/gpt-4.1"),
    Target("openai-responses", "openai/gpt-5.6"),
    Target("anthropic", "anthropic/claude-opus-5"),
    Target("google", "google/gemini-3-pro"),
    Target("ollama", "ollama/qwen3"),
    Target("cohere", "cohere/command-a-03-2025"),
    Target("unified", "interlingua/smart"),
    Target("openai-chat", "qwen/qwen3-max", "tool"),
    Target("anthropic", "anthropic/claude-3-haiku-20240307", "tool"),
    Target("ollama", "ollama-cloud/gpt-oss", "words"),
]
FORMS = {"schema": None, "tool": "output_schema_forced_tool", "words": "output_schema_prompted"}
WHOLE = Order(colour=Colour.RED, count=2)
FITS = '{"colour":"red","count":2}'
NEARLY = '{"colour": "RED", "count": "2"}'
MISFIT = '{"colour": "red", "count": 0}'


def accepted(upstream: Upstream) -> int:
    """How many requests came, each of which the real service takes."""
    assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    return len(upstream.verdicts)


def codes(reply: il.Response[Any], *, of: str) -> list[str]:
    """The codes of changes of one room."""
    return [change.code for change in reply.changes if change.code.startswith(of)]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.spec)
def test_r36_r37_asked_repaired_and_asked_again(target: Target, face: Face) -> None:
    """R36, R37: each target in its form; the answer that does not fit goes back once, the next one is repaired."""
    upstream = Upstream(target.dialect, target.says(MISFIT), target.says(NEARLY))
    with upstream.standing():
        reply = face.generate(face.model(target.spec, repair="ask", max_tokens=500), output=Order)
    assert (reply.output, accepted(upstream)) == (WHOLE, 2)
    assert [attempt.outcome for attempt in reply.attempts] == ["failed", "served"]
    assert codes(reply, of="output_schema") == [code for code in [FORMS[target.form]] if code]
    assert codes(reply, of="output_")[-3:] == ["output_asked_again", "output_case", "output_scalar_text"]
    assert reply.usage is not None
    assert reply.usage.input_tokens == 40
    assert reply.tool_calls == ()


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.spec)
def test_r36_partials_come_and_end_in_the_value(target: Target, face: Face) -> None:
    """R36: the same in a stream; no event shows the hidden tool."""
    upstream = Upstream(target.dialect, target.says(FITS))
    with upstream.standing():
        stream = face.model(target.spec, max_tokens=500).stream("Hi", output=Order)
        partials = face.partials(stream)
        reply = face.finish(stream)
    assert partials[-1] == {"colour": Colour.RED, "count": 2}
    assert (reply.output, reply.text, reply.tool_calls, accepted(upstream)) == (WHOLE, FITS, (), 1)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.spec)
def test_an_answer_that_the_limit_cut(target: Target, face: Face) -> None:
    """Truncated, in every form, and never asked again."""
    said = msgspec.structs.replace(target.says(FITS[:20]), finish="length")
    upstream = Upstream(target.dialect, said)
    with upstream.standing(), pytest.raises(il.OutputError) as caught:
        face.generate(face.model(target.spec, repair="ask", max_tokens=500), output=Order)
    assert (caught.value.fault, accepted(upstream)) == ("truncated", 1)


KINDS: list[tuple[Any, Any, Any]] = [
    (Node, {"name": "a", "below": [{"name": "b", "below": []}]}, Node("a", [Node("b", [])])),
    (Place, {"north": 59.9, "east": 10.7}, Place(59.9, 10.7)),
    (Town, {"name": "Oslo", "founded": "1040-01-01"}, {"name": "Oslo", "founded": dt.date(1040, 1, 1)}),
    (Price, {"amount": "9.50", "currency": None}, Price(Decimal("9.50"))),
    (Order, {"colour": "blue", "count": 1}, Order(colour=Colour.BLUE, count=1)),
    (Literal["yes", "no"], {"value": "no"}, "no"),
    (Colour, {"value": "blue"}, Colour.BLUE),
    (list[Place], {"value": [{"north": 1.5, "east": 2.5}]}, [Place(1.5, 2.5)]),
    (Place | Town, {"value": {"name": "Oslo", "founded": "1040-01-01"}},
     {"name": "Oslo", "founded": dt.date(1040, 1, 1)}),
    (int | None, {"value": None}, None),
    (bool, {"value": True}, True),
    ({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False},
     {"n": 3}, {"n": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "said", "value"), KINDS, ids=[str(kind)[:40] for kind, _, _ in KINDS])
def test_r36_every_kind_of_type_in_every_dialect(kind: Any, said: Any, value: Any) -> None:
    """R36: classes of every make, recursive ones, choices, unions and schemas; the service takes each schema."""
    for target in TARGETS[:6]:
        upstream = Upstream(target.dialect, Say(text=json.dumps(said)))
        with upstream.standing():
            reply = il.model(target.spec, max_tokens=500).generate("Hi", output=kind)
        assert (reply.output, accepted(upstream)) == (value, 1), target.dialect
