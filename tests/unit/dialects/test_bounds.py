"""Knobs beyond what a target takes: the nearest value is sent and told, and its provider takes that one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import DecodeOptions, Encoded, EncodeOptions, Quirks, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import UnsupportedError, UsageError
from interlingua.providers.limits import facts_for
from interlingua.providers.rows import ROWS
from interlingua.testing.upstream import judge_body
from interlingua.types.content import TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.support.cells import cells

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
PAIRS = {chr(ord("a") + place): "v" * 512 for place in range(15)} | {"k" * 64: "v"}
"""As much metadata as there can be."""
LONG_KEY = "k" * 55 + "_0c8RIAaJ"
"""What a key of 65 characters is sent as."""
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
    ("openai-chat", {"n": 128}, {"n": 128}, []),
    ("openai-chat", {"logit_bias": {"5": 200.0, "6": -101.0, "7": 100.0}},
     {"logit_bias": {"5": 100.0, "6": -100.0, "7": 100.0}},
     [f"{ADJUSTED} /logit_bias/5 100 is the highest", f"{ADJUSTED} /logit_bias/6 -100 is the lowest"]),
    ("openai-chat", {"metadata": PAIRS}, {"metadata": PAIRS}, []),
    ("openai-chat", {"metadata": {**PAIRS, "q/": "one more"}}, {"metadata": PAIRS},
     [f"{DROPPED} /metadata/q~1 there are 16 pairs at most"]),
    ("openai-chat", {"metadata": {"k" * 65: "v", "a": "v" * 513}}, {"metadata": {"a": "v" * 512}},
     [f"{DROPPED} /metadata/{'k' * 65} a name has 64 characters at most",
      f"{ADJUSTED} /metadata/a the first 512 of 513 characters"]),
    ("openai-chat", {"cache_key": "k" * 64}, {"prompt_cache_key": "k" * 64}, []),
    ("openai-chat", {"cache_key": "k" * 64 + "1"}, {"prompt_cache_key": LONG_KEY},
     [f"{ADJUSTED} /cache_key sent as {LONG_KEY!r}, of 64 characters"]),
    ("openai-responses", {"metadata": {"a": "v" * 513}}, {"metadata": {"a": "v" * 512}},
     [f"{ADJUSTED} /metadata/a the first 512 of 513 characters"]),
    ("openai-responses", {"cache_key": "k" * 64 + "1"}, {"prompt_cache_key": LONG_KEY},
     [f"{ADJUSTED} /cache_key sent as {LONG_KEY!r}, of 64 characters"]),
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


@cells(("dialect", "knobs", "sent", "told"), CASES)
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


@pytest.mark.parametrize(("dialect", "most"), [("google", 8), ("openai-chat", 128)])
def test_more_choices_than_a_vendor_gives_are_refused(dialect: str, most: int) -> None:
    """Fewer answers than were asked for are another thing."""
    target = target_of(dialect)
    with pytest.raises(UnsupportedError) as refused:
        encoded(dialect, target, n=most + 1)
    assert str(refused.value) == f"{dialect}/{target.model} cannot take /n ({most} at most)"


def test_more_tools_than_google_takes_are_refused() -> None:
    """512 function declarations are taken; which of more could be left out is nobody's guess, so nothing allows it."""
    tools = tuple([Tool(name=f"f{number}", description="A tool.") for number in range(513)])
    target = target_of("google")
    encoded("google", target, tools=tools[:512])
    request, options = Request(messages=HELLO, tools=tools), EncodeOptions(target=target, allow=frozenset({"tools"}))
    with pytest.raises(UnsupportedError) as refused:
        get_dialect("google").encode_request(request, options)
    assert str(refused.value) == "google/gemini-3-pro cannot take /tools/512 (tool 513 of 513, where 512 are taken)"
    encoded("google", Target(), tools=tools)


SEARCH = OpaqueTool("anthropic", "web_search_20250305", {"type": "web_search_20250305", "name": "search"})


@pytest.mark.parametrize(
    ("dialect", "tools", "places"),
    [
        ("anthropic", (Tool(name="search"), Tool(name="look"), Tool(name="search")), "tools[0] and tools[2]"),
        ("anthropic", (Tool(name="look"), SEARCH, Tool(name="search")), "tools[1] and tools[2]"),
        ("google", (Tool(name="search"), Tool(name="search")), "tools[0] and tools[1]"),
    ],
)
def test_id_17_two_tools_of_one_name_are_refused_before_they_are_sent(
    dialect: str, tools: tuple[Tool | OpaqueTool, ...], places: str
) -> None:
    """Claude and Gemini take a name once; the error names both places."""
    with pytest.raises(UsageError) as refused:
        encoded(dialect, target_of(dialect), tools=tools)
    assert str(refused.value) == f"{places} are both called 'search', and the service takes a name once"


def test_known_tools_of_one_name_are_refused_each_time() -> None:
    """However often the same bytes come."""
    tool: Any = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    told: Any = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "tools": [tool, tool]}
    http = HttpRequest(method="POST", url="/v1/chat/completions", body=encode(told))
    for _ in range(4):
        asked = get_dialect("openai-chat").decode_request(http, DecodeOptions()).request
        with pytest.raises(UsageError):
            get_dialect("anthropic").encode_request(asked, EncodeOptions(target=target_of("anthropic")))
        get_dialect("openai-chat").encode_request(asked, EncodeOptions())


def test_other_names_of_tools_may_be_the_same_elsewhere() -> None:
    """What a server does with them is its own affair where nothing is known."""
    asked, _ = encoded(
        "openai-chat",
        target_of("openai-chat"),
        tools=(Tool(name="f", description="A tool."), Tool(name="f", description="A tool.")),
    )
    assert asked.changes == ()


def test_tools_that_a_provider_runs_have_names_of_their_own() -> None:
    """One without a name is no namesake of another."""
    plain = OpaqueTool("anthropic", "mcp_toolset", {"type": "mcp_toolset", "mcp_server_name": "s"})
    other = OpaqueTool("anthropic", "mcp_toolset", {"type": "mcp_toolset", "mcp_server_name": "t"})
    _, body = encoded(
        "anthropic", target_of("anthropic"), tools=(Tool(name="look"), SEARCH, plain, other), max_tokens=9
    )
    assert len(body["tools"]) == 4


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
