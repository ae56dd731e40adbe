"""Knobs beyond what a target takes: the nearest value is sent and told, and its provider takes that one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import Encoded, EncodeOptions, Quirks, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import UnsupportedError
from interlingua.providers.limits import facts_for
from interlingua.providers.rows import ROWS
from interlingua.testing.upstream import judge_body
from interlingua.types.content import TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.wire.json import decode_any

HELLO = (Message("user", (TextPart("Hello"),)),)
SIX = ("A", "B", "C", "D", "E", "F")
MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-4.1",
    "anthropic": "claude-sonnet-4-6",
    "google": "gemini-3-pro",
}
PLACES = {"google": "generationConfig"}
"""Where a dialect has its knobs, if that is not the body itself."""
BASES = {"google": "/v1beta"}
ADJUSTED, DROPPED = "approximated parameter_adjusted", "dropped parameter_unsupported"


def target_of(dialect: str) -> Target:
    """A model of the dialect's own service that takes every knob."""
    model = MODELS[dialect]
    facts = msgspec.structs.replace(facts_for(dialect, dialect, model), min_output_tokens=None)
    return Target(model=model, provider=dialect, quirks=ROWS[dialect].quirks, facts=facts)


def encoded(dialect: str, target: Target, **knobs: Any) -> tuple[Encoded, dict[str, Any]]:
    """What is sent, and its knobs."""
    sent = get_dialect(dialect).encode_request(Request(messages=HELLO, **knobs), EncodeOptions(target=target))
    body: Any = decode_any(sent.body)
    return sent, body.get(PLACES[dialect], {}) if dialect in PLACES else body


CASES: list[tuple[str, dict[str, Any], dict[str, Any], list[str]]] = [
    ("openai-chat", {"stop": SIX}, {"stop": ["A", "B", "C", "D"]}, [f"{ADJUSTED} /stop the first 4 of 6"]),
    ("openai-chat", {"stop": SIX[:4]}, {"stop": ["A", "B", "C", "D"]}, []),
    ("openai-chat", {"temperature": 2.5}, {"temperature": 2.0}, [f"{ADJUSTED} /temperature 2 is the highest"]),
    ("openai-chat", {"temperature": -0.5}, {"temperature": 0.0}, [f"{ADJUSTED} /temperature 0 is the lowest"]),
    ("openai-chat", {"temperature": 2.0}, {"temperature": 2.0}, []),
    ("openai-chat", {"top_p": 1.5}, {"top_p": 1.0}, [f"{ADJUSTED} /top_p 1 is the highest"]),
    ("openai-chat", {"presence_penalty": 3.0}, {"presence_penalty": 2.0},
     [f"{ADJUSTED} /presence_penalty 2 is the highest"]),
    ("openai-chat", {"frequency_penalty": -3.0}, {"frequency_penalty": -2.0},
     [f"{ADJUSTED} /frequency_penalty -2 is the lowest"]),
    ("openai-chat", {"max_tokens": -1}, {"max_completion_tokens": None},
     [f"{DROPPED} /max_tokens -1 stands for no limit"]),
    ("openai-chat", {"max_tokens": 0}, {"max_completion_tokens": 1}, [f"{ADJUSTED} /max_tokens 1 is the lowest"]),
    ("openai-chat", {"logprobs": 21}, {"logprobs": True, "top_logprobs": 20},
     [f"{ADJUSTED} /logprobs 20 is the highest"]),
    ("openai-chat", {"n": 0}, {"n": 1}, [f"{ADJUSTED} /n 1 is the lowest"]),
    ("openai-responses", {"temperature": 2.5}, {"temperature": 2.0}, [f"{ADJUSTED} /temperature 2 is the highest"]),
    ("openai-responses", {"max_tokens": -1}, {"max_output_tokens": None},
     [f"{DROPPED} /max_tokens -1 stands for no limit"]),
    ("openai-responses", {"logprobs": 21}, {"top_logprobs": 20}, [f"{ADJUSTED} /logprobs 20 is the highest"]),
    ("anthropic", {"stop": SIX, "max_tokens": 9}, {"stop_sequences": list(SIX)}, []),
    ("anthropic", {"stop": ("END", "\n", ""), "max_tokens": 9}, {"stop_sequences": ["END"]},
     [f"{DROPPED} /stop a stop sequence is more than white space"]),
    ("anthropic", {"stop": ("\n",), "max_tokens": 9}, {"stop_sequences": None},
     [f"{DROPPED} /stop a stop sequence is more than white space"]),
    ("anthropic", {"temperature": 1.5, "max_tokens": 9}, {"temperature": 1.0},
     [f"{ADJUSTED} /temperature 1 is the highest"]),
    ("anthropic", {"top_k": -1, "max_tokens": 9}, {"top_k": None}, [f"{DROPPED} /top_k -1 stands for no limit"]),
    ("anthropic", {"max_tokens": -1}, {"max_tokens": 128_000},
     [f"{DROPPED} /max_tokens -1 stands for no limit",
      "approximated parameter_added /max_tokens the service insists on it: 128000"]),
    ("anthropic", {"max_tokens": 0}, {"max_tokens": 0}, []),
    ("google", {"stop": SIX}, {"stopSequences": ["A", "B", "C", "D", "E"]}, [f"{ADJUSTED} /stop the first 5 of 6"]),
    ("google", {"temperature": 2.5}, {"temperature": 2.0}, [f"{ADJUSTED} /temperature 2 is the highest"]),
    ("google", {"max_tokens": -1}, {"maxOutputTokens": None}, [f"{DROPPED} /max_tokens -1 stands for no limit"]),
    ("google", {"max_tokens": 0}, {"maxOutputTokens": 1}, [f"{ADJUSTED} /max_tokens 1 is the lowest"]),
    ("google", {"top_k": -1}, {"topK": None}, [f"{DROPPED} /top_k -1 stands for no limit"]),
    ("google", {"top_k": 0}, {"topK": 0}, []),
    ("google", {"seed": 2**40}, {"seed": 2**31 - 1}, [f"{ADJUSTED} /seed 2147483647 is the highest"]),
    ("google", {"logprobs": 21}, {"responseLogprobs": True, "logprobs": 20},
     [f"{ADJUSTED} /logprobs 20 is the highest"]),
    ("google", {"n": 0}, {"candidateCount": 1}, [f"{ADJUSTED} /n 1 is the lowest"]),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "knobs", "sent", "told"), CASES)
def test_the_nearest_value_is_sent_and_told(
    dialect: str, knobs: dict[str, Any], sent: dict[str, Any], told: list[str]
) -> None:
    """Each bound of each service, at its edge and beyond; the strict imitation of that service takes what is sent."""
    target = target_of(dialect)
    asked, body = encoded(dialect, target, **knobs)
    assert {name: body.get(name) for name in sent} == sent
    assert [f"{one.action} {one.code} {one.path} {one.detail}" for one in asked.changes] == told
    path = BASES.get(dialect, "/v1") + asked.path
    headers = (("anthropic-version", "2023-06-01"), *asked.headers)
    assert judge_body(dialect, asked.body, model=target.model, path=path, headers=headers).problems == ()


def test_a_server_without_known_bounds_gets_every_value() -> None:
    """Servers of open models know more stop sequences, higher temperatures and `-1` for no limit."""
    asked, body = encoded("openai-chat", Target(quirks=Quirks()), stop=SIX, temperature=2.5, max_tokens=-1, top_k=-1)
    assert (body["stop"], body["temperature"]) == (list(SIX), 2.5)
    assert (body["max_completion_tokens"], body["top_k"], asked.changes) == (-1, -1, ())


def test_more_choices_than_google_gives_are_refused() -> None:
    """Fewer answers than were asked for are another thing."""
    with pytest.raises(UnsupportedError) as refused:
        encoded("google", target_of("google"), n=9)
    assert str(refused.value) == "google/gemini-3-pro cannot take /n (8 at most)"


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
def test_the_name_of_a_schema_is_one_that_is_taken(dialect: str) -> None:
    """64 letters, digits, underscores and dashes; the model does not see it."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    asked, body = encoded(dialect, target_of(dialect), output_schema=schema, schema_name="Page of towns!")
    form = body["response_format"]["json_schema"] if dialect == "openai-chat" else body["text"]["format"]
    assert form["name"] == "Page_of_towns_bTfoTmZl"
    assert [f"{one.action} {one.code} {one.path} {one.detail}" for one in asked.changes] == [
        f"{ADJUSTED} /schema_name 'Page of towns!' is 'Page_of_towns_bTfoTmZl' on the wire"
    ]
    assert encoded(dialect, Target(), output_schema=schema, schema_name="Page of towns!")[0].changes == ()
