"""What servers and models take of a knob, and the nearest of what they do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import EncodeOptions, Facts, Quirks, Target
from interlingua.dialects.openai_chat import DIALECT as CHAT
from interlingua.dialects.openai_responses import DIALECT as RESPONSES
from interlingua.errors import UnsupportedError
from interlingua.providers.limits import facts_for
from interlingua.providers.rows import ROWS
from interlingua.types.capability import Capability, Effort
from interlingua.types.content import AudioPart, DocumentPart, TextPart
from interlingua.types.message import assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import Tool, ToolChoice
from tests.support.chat import codes, encode, quirky, wire

HI = (user("Hi"),)
PLAIN = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
                          "additionalProperties": False}  # fmt: skip
PROMPT = f"Answer with JSON that fits this JSON Schema, and nothing else:\n{json.dumps(SCHEMA, separators=(',', ':'))}"
ALLOWED: frozenset[Capability] = frozenset({"output_schema"})


def of_row(name: str, model: str = "m") -> Target:
    """A target of a provider's row."""
    row = ROWS[name]
    return Target(model=model, provider=name, quirks=row.quirks, facts=facts_for(name, row.dialects[0], model))


@pytest.mark.parametrize(
    ("provider", "asked", "told"),
    [
        ("groq", "minimal", "low"),
        ("groq", "xhigh", "high"),
        ("groq", "max", "high"),
        ("groq", "none", "none"),
        ("deepseek", "medium", "low"),
        ("deepseek", "minimal", "low"),
        ("deepseek", "xhigh", "high"),
        ("deepseek", "max", "max"),
        ("mistral", "max", "max"),
        ("ollama-compat", "xhigh", "xhigh"),
    ],
)
def test_an_effort_is_the_nearest_that_the_server_takes(provider: str, asked: Effort, told: str) -> None:
    """Itself, else the next lower, else the next higher; `none` stands for nothing else."""
    request = Request(messages=HI, effort=asked)
    assert wire(request, of_row(provider))["reasoning_effort"] == told
    expected = [] if asked == told else ["parameter_adjusted /effort"]
    assert codes(encode(request, of_row(provider)).changes) == expected


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES])
def test_an_effort_is_the_nearest_that_the_model_takes(dialect: Any) -> None:
    """On both dialects; without any it is left out."""
    for known, told in ((frozenset({"low", "high"}), "high"), (frozenset[str](), None), (frozenset({"none"}), None)):
        target = Target(model="m", facts=Facts(efforts=known))
        encoded = dialect.encode_request(Request(messages=HI, effort="max"), EncodeOptions(target=target))
        body = json.loads(encoded.body)
        assert body.get("reasoning_effort", body.get("reasoning", {}).get("effort")) == told
        assert codes(encoded.changes) == [f"parameter_{'unsupported' if told is None else 'adjusted'} /effort"]


def test_the_greatest_effort_of_openai_is_one_lower_on_chat() -> None:
    """`max` is for Responses alone."""
    request = Request(messages=HI, effort="max")
    assert wire(request, of_row("openai-chat", "gpt-6-astra"))["reasoning_effort"] == "xhigh"
    encoded = RESPONSES.encode_request(request, EncodeOptions(target=of_row("openai-responses", "gpt-6-astra")))
    assert json.loads(encoded.body)["reasoning"] == {"effort": "max"}


@pytest.mark.parametrize(
    ("thinking", "effort", "deepseek", "vllm"),
    [
        (True, None, {"thinking": {"type": "enabled"}}, {"enable_thinking": True, "thinking": True}),
        (False, None, {"thinking": {"type": "disabled"}}, {"enable_thinking": False, "thinking": False}),
        (None, "none", {"thinking": {"type": "disabled"}}, {"enable_thinking": False, "thinking": False}),
        (False, "high", {"thinking": {"type": "disabled"}}, {"enable_thinking": False, "thinking": False}),
    ],
)
def test_thinking_has_a_switch(thinking: bool | None, effort: Effort | None, deepseek: Any, vllm: Any) -> None:
    """DeepSeek's own member, the template's variables of vLLM; no effort is sent beside thinking that is off."""
    request = Request(messages=HI, thinking=thinking, effort=effort)
    assert wire(request, of_row("deepseek")) == PLAIN | deepseek
    assert wire(request, of_row("vllm")) == PLAIN | {"chat_template_kwargs": vllm}


def test_an_effort_switches_thinking_on() -> None:
    """Both are said."""
    told = wire(Request(messages=HI, effort="high"), of_row("deepseek"))
    assert told == PLAIN | {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}


def test_openrouter_takes_everything_about_reasoning_as_one_object() -> None:
    """Effort, budget, switch, and that nothing is to be shown."""
    request = Request(messages=HI, thinking=True, thinking_budget=2000, thinking_summary="none", effort="high")
    expected = {"effort": "high", "max_tokens": 2000, "enabled": True, "exclude": True}
    assert wire(request, of_row("openrouter")) == PLAIN | {"reasoning": expected}
    assert encode(request, of_row("openrouter")).changes == ()
    shown = Request(messages=HI, thinking_summary="concise")
    assert wire(shown, of_row("openrouter")) == PLAIN
    assert codes(encode(shown, of_row("openrouter")).changes) == ["parameter_unsupported /thinking_summary"]


def test_json_mode_is_the_schema_of_any_object_where_there_are_schemas_alone() -> None:
    """LM Studio refuses `json_object`."""
    request = Request(messages=HI, json_mode=True)
    told = wire(request, of_row("lmstudio"))["response_format"]
    assert (told["type"], told["json_schema"]["schema"]["type"]) == ("json_schema", "object")
    assert codes(encode(request, of_row("lmstudio")).changes) == ["parameter_adjusted /json_mode"]


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES])
def test_a_loosened_schema_is_told_in_words(dialect: Any) -> None:
    """DeepSeek: JSON mode, which wants the word in the prompt; refused unless that is allowed."""
    target = quirky(output_schema="json_object")
    request = Request(messages=HI, output_schema=SCHEMA)
    with pytest.raises(UnsupportedError, match="/output_schema"):
        dialect.encode_request(request, EncodeOptions(target=target))
    encoded = dialect.encode_request(request, EncodeOptions(target=target, allow=ALLOWED))
    body = json.loads(encoded.body)
    system = body.get("instructions") or body["messages"][0]["content"]
    assert system == PROMPT
    assert body.get("response_format", body.get("text", {}).get("format")) == {"type": "json_object"}
    assert codes(encoded.changes) == ["output_schema_loosened /output_schema"]


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES])
def test_a_schema_beside_tools_is_told_in_words_alone(dialect: Any) -> None:
    """Groq refuses any format together with tools."""
    target = quirky(output_schema_with_tools=False)
    request = Request(messages=HI, tools=(Tool(name="look"),), output_schema=SCHEMA)
    encoded = dialect.encode_request(request, EncodeOptions(target=target, allow=ALLOWED))
    body = json.loads(encoded.body)
    assert (body.get("instructions") or body["messages"][0]["content"]) == PROMPT
    assert not {"response_format", "text"} & body.keys()
    assert codes(encoded.changes) == ["output_schema_prompted /output_schema"]


@pytest.mark.parametrize(
    ("tier", "told", "entry"),
    [
        ("flex", "flex", None),
        ("standard_only", "default", "adjusted"),
        ("on_demand", "default", "adjusted"),
        ("performance", "priority", "adjusted"),
        ("turbo", None, "unsupported"),
    ],
)
def test_a_class_of_service_in_the_word_of_another_provider(tier: str, told: str | None, entry: str | None) -> None:
    """The nearest of OpenAI's; where no words are known, any goes."""
    request = Request(messages=HI, service_tier=tier)
    encoded = encode(request, of_row("openai-chat", "gpt-4.1"))
    assert json.loads(encoded.body).get("service_tier") == told
    assert codes(encoded.changes) == ([f"parameter_{entry} /service_tier"] if entry else [])
    assert wire(request, of_row("groq"))["service_tier"] == tier


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_a_choice_without_tools_is_left_out(name: str) -> None:
    """OpenAI: 'tool_choice is only allowed when tools are specified'. The pure codec says what it was told."""
    dialect = CHAT if name == "openai-chat" else RESPONSES
    choices: tuple[tuple[ToolChoice, int], ...] = (("auto", 2), ("required", 2), ("none", 1))
    for choice, entries in choices:
        request = Request(messages=HI, tool_choice=choice, parallel_tool_calls=True)
        encoded = dialect.encode_request(request, EncodeOptions(target=of_row(name, "gpt-4.1")))
        assert not {"tool_choice", "parallel_tool_calls"} & json.loads(encoded.body).keys()
        expected = ["parameter_unsupported /parallel_tool_calls", "parameter_unsupported /tool_choice"]
        assert codes(encoded.changes) == expected[:entries]
        plain = json.loads(dialect.encode_request(request, EncodeOptions(target=Target(model="m"))).body)
        assert (plain["tool_choice"], plain["parallel_tool_calls"]) == (choice, True)


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_json_mode_is_asked_for_in_words_too(name: str) -> None:
    """OpenAI: 'messages must contain the word json'. Later messages do not change the beginning of the prompt."""
    dialect = CHAT if name == "openai-chat" else RESPONSES
    said = "Answer with one JSON object and nothing else."

    def told(*texts: str, **more: Any) -> tuple[Any, list[str]]:
        messages = tuple([user(text) if at % 2 == 0 else assistant(text) for at, text in enumerate(texts)])
        request = Request(messages=messages, json_mode=True, **more)
        encoded = dialect.encode_request(request, EncodeOptions(target=of_row(name, "gpt-4.1")))
        body = json.loads(encoded.body)
        first = body["messages"][0]["content"] if "messages" in body else body.get("instructions")
        return first, codes(encoded.changes)

    assert told("Hi") == (said, ["output_schema_prompted /json_mode"])
    assert told("Hi", "Yes?", "As json.")[0] == said
    assert told("Give me JSON.")[1] == []
    assert told("Hi", system=(TextPart("Speak Json."),)) == ("Speak Json.", [])


def test_responses_has_room_for_16_tokens_at_least() -> None:
    """A lower limit is raised, with an entry; Chat takes it."""
    request = Request(messages=HI, max_tokens=10)
    encoded = RESPONSES.encode_request(request, EncodeOptions(target=of_row("openai", "gpt-4.1")))
    assert json.loads(encoded.body)["max_output_tokens"] == 16
    assert codes(encoded.changes) == ["parameter_adjusted /max_tokens"]
    assert wire(request, of_row("openai-chat", "gpt-4.1"))["max_completion_tokens"] == 10


def test_no_effort_stop_or_sound_where_a_model_takes_none() -> None:
    """gpt-4.1 does not reason, o4 knows three efforts, gpt-5 takes no stop sequences, and Responses holds no sound."""
    asked = Request(messages=HI, effort="high", stop=("x",))
    assert codes(encode(asked, of_row("openai-chat", "gpt-4.1")).changes) == ["parameter_unsupported /effort"]
    assert codes(encode(asked, of_row("openai-chat", "gpt-5.2")).changes) == ["parameter_unsupported /stop"]
    strained = Request(messages=HI, effort="xhigh")
    assert wire(strained, of_row("openai-chat", "o4-mini"))["reasoning_effort"] == "high"
    heard = Request(messages=(user(AudioPart(b"x", "audio/wav")),))
    for name, model in (("openai", "gpt-4.1"), ("openai", "some-other"), ("openai-chat", "gpt-5.2")):
        dialect = RESPONSES if name == "openai" else CHAT
        with pytest.raises(UnsupportedError, match="/messages/0/parts/0"):
            dialect.encode_request(heard, EncodeOptions(target=of_row(name, model)))


def test_a_file_holds_no_video() -> None:
    """OpenAI reads documents; what is none is refused, as a document is where none is taken."""
    film = Request(messages=(user(DocumentPart(b"x", "video/mp4")),))
    for name in ("openai", "openai-chat"):
        dialect = RESPONSES if name == "openai" else CHAT
        with pytest.raises(UnsupportedError, match="no file part holds video/mp4") as caught:
            dialect.encode_request(film, EncodeOptions(target=of_row(name, "gpt-4.1")))
        assert codes(caught.value.changes) == ["documents /messages/0/parts/0"]


def test_what_may_be_let_go_is_not_sent() -> None:
    """Sound and films go where the caller allows it; what stands beside them stays."""
    parts = (TextPart("Hear this."), AudioPart(b"x", "audio/wav"), DocumentPart(b"x", "video/mp4"))
    request = Request(messages=(user(*parts),))
    allow: frozenset[Capability] = frozenset({"audio", "documents"})
    options = EncodeOptions(target=of_row("openai", "gpt-6-astra"), allow=allow)
    encoded = RESPONSES.encode_request(request, options)
    assert json.loads(encoded.body)["input"] == [{"role": "user", "content": "Hear this."}]
    assert [(change.action, change.code, change.path) for change in encoded.changes] == [
        ("dropped", "audio", "/messages/0/parts/1"),
        ("dropped", "documents", "/messages/0/parts/2"),
    ]


@pytest.mark.parametrize(
    ("model", "cache", "members", "entries"),
    [
        ("gpt-6-astra", "1h", {"prompt_cache_options": {"ttl": "30m"}}, ["parameter_adjusted /cache"]),
        ("gpt-5.2", "1h", {"prompt_cache_retention": "24h"}, ["parameter_adjusted /cache"]),
        ("gpt-6-astra", "5m", {}, []),
        ("gpt-6-astra", "auto", {}, []),
        ("gpt-4o", "5m", {}, ["cache_unsupported /cache"]),
        ("gpt-4o", "auto", {}, []),
    ],
)
def test_cached_prompts_live_longer(model: str, cache: Any, members: dict[str, Any], entries: list[str]) -> None:
    """What OpenAI does by itself is not asked for; a longer life is, in the words of the model's generation."""
    request = Request(messages=HI, cache=cache, cache_key="agent-7")
    for dialect, name in ((CHAT, "openai-chat"), (RESPONSES, "openai-responses")):
        encoded = dialect.encode_request(request, EncodeOptions(target=of_row(name, model)))
        body = json.loads(encoded.body)
        assert {key: value for key, value in body.items() if key.startswith("prompt_cache")} == {
            "prompt_cache_key": "agent-7",
            **members,
        }
        assert codes(encoded.changes) == entries


def test_several_choices_are_refused_where_there_is_one() -> None:
    """A single one needs not be said."""
    with pytest.raises(UnsupportedError, match="/n"):
        encode(Request(messages=HI, n=2), of_row("groq"))
    assert wire(Request(messages=HI, n=1), of_row("groq")) == PLAIN
    assert wire(Request(messages=HI, n=2))["n"] == 2


def test_gpt_5_6_takes_tools_on_chat_when_it_does_not_reason() -> None:
    """Otherwise they are refused, and the place is named."""
    request = Request(messages=HI, tools=(Tool(name="look"),))
    with pytest.raises(UnsupportedError, match="/tools/0"):
        encode(request, of_row("openai-chat", "gpt-5.6"))
    calm = Request(messages=HI, tools=(Tool(name="look"),), effort="none")
    told = wire(calm, of_row("openai-chat", "gpt-5.6"))
    assert (told["tools"][0]["function"]["name"], told["reasoning_effort"]) == ("look", "none")


def test_every_server_but_openai_gets_functions_alone() -> None:
    """Only OpenAI's own endpoints are known to take freeform tools."""
    native = {name for name, row in ROWS.items() if row.dialects[0].startswith("openai") and row.quirks.freeform_tools}
    assert native == {"openai", "openai-chat", "openai-responses", "azure", "azure-deployments", "fake"}


def test_a_quirk_is_nothing_by_default() -> None:
    """A pure codec says what it was told."""
    assert Quirks() == quirky().quirks
    request = Request(messages=HI, effort="max", thinking=True)
    assert wire(request) == PLAIN | {"reasoning_effort": "max"}
    assert codes(encode(request).changes) == ["parameter_unsupported /thinking"]
