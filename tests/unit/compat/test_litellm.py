from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

import interlingua as il
from interlingua.compat import acompletion, completion
from interlingua.compat.litellm_models import PREFIXES
from interlingua.providers.rows import ROWS
from interlingua.testing import FakeModel, tool_call, use


@dataclass
class Trip:
    city: str


HI: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]


def _served(model: str, **body: Any) -> str:
    """Who was asked."""
    with use(FakeModel("Hi")) as fake:
        completion(model, HI, **body)
    return fake.models[-1]


@pytest.mark.filterwarnings("ignore::interlingua.client.call.report.ChangeWarning")
@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("gpt-5.2", "openai-chat/gpt-5.2"),
        ("openai/gpt-5.2", "openai/gpt-5.2"),
        ("claude-opus-5", "anthropic/claude-opus-5"),
        ("gemini/gemini-3-pro", "google/gemini-3-pro"),
        ("together_ai/meta/llama", "together/meta/llama"),
        ("ollama_chat/qwen3", "ollama/qwen3"),
        ("groq/openai/gpt-oss", "groq/openai/gpt-oss"),
        ("bedrock/converse/us.amazon.nova-pro-v1:0", "bedrock/us.amazon.nova-pro-v1:0"),
        (
            "bedrock/llama/arn:aws:bedrock:us-east-1:1:imported-model/m",
            "bedrock/arn:aws:bedrock:us-east-1:1:imported-model/m",
        ),
        ("vertex_ai/gemini-2.5-pro", "vertex/gemini-2.5-pro"),
        ("vertex_ai/claude-sonnet-4@20250514", "vertex-anthropic/claude-sonnet-4@20250514"),
        ("azure_ai/claude-opus-4-1", "azure-anthropic/claude-opus-4-1"),
        ("azure/responses/my-deployment", "azure/my-deployment"),
        ("cohere_chat/command-a-03-2025", "cohere/command-a-03-2025"),
        ("jina_ai/jina-embeddings-v3", "jina/jina-embeddings-v3"),
    ],
)
def test_names_of_models(name: str, spec: str) -> None:
    """LiteLLM's prefixes are read as ours; what follows the first slash is verbatim."""
    assert _served(name) == spec


def test_prefixes_are_those_of_rows() -> None:
    """What LiteLLM calls otherwise is a provider here, and none that has the same name in both."""
    assert set(PREFIXES.values()) <= set(ROWS)
    assert set(PREFIXES) & set(ROWS) == set()


def test_a_region_in_a_name_has_its_place_elsewhere() -> None:
    """A spec has no room for it; the sentence says where it goes."""
    with pytest.raises(
        il.UsageError, match=r"the region eu-west-1 belongs in AWS_REGION, or in a DSN: .*region=eu-west-1"
    ):
        completion("bedrock/eu-west-1/anthropic.claude-v2", HI)


def test_fallbacks_are_names() -> None:
    """A list of settings for each, which LiteLLM takes too, is refused in words."""
    with pytest.raises(il.UsageError, match="fallbacks takes a list of names of models"):
        completion("gpt-5.2", HI, fallbacks=[{"model": "claude-opus-5"}])


def test_the_classic_call() -> None:
    """Items and attributes, counts, thinking where its users look for it."""
    said = il.Response(
        parts=(il.ThinkingPart("Hm."), il.TextPart("Hello")),
        finish_reason="stop",
        usage=il.Usage(input_tokens=3, output_tokens=2),
    )
    with use(FakeModel(said)) as fake:
        reply = completion(model="anthropic/claude-opus-5", messages=HI, max_tokens=50, reasoning_effort="low")
    assert reply["choices"][0]["message"]["content"] == reply.choices[0].message.content == "Hello"
    assert reply.choices[0].message.reasoning_content == "Hm."
    assert reply.usage is not None
    assert reply.usage.total_tokens == 5
    assert (fake.last_request.max_tokens, fake.last_request.effort) == (50, "low")


def test_tools_over_two_turns() -> None:
    """The message goes back as the object that it came as."""
    tool: dict[str, Any] = {
        "type": "function",
        "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}},
    }
    messages: list[Any] = [*HI]
    with use(FakeModel([tool_call("get_weather", city="Oslo"), "4 degrees"])) as fake:
        first = completion("anthropic/claude-opus-5", messages, tools=[tool], tool_choice="auto", max_tokens=9)
        [call] = first.choices[0].message.tool_calls or []
        messages += [first.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "4"}]
        second = completion("anthropic/claude-opus-5", messages, tools=[tool], max_tokens=9)
    assert second.choices[0].message.content == "4 degrees"
    assert [message.role for message in fake.last_request.messages] == ["user", "assistant", "tool"]
    assert fake.last_request.messages[1].tool_calls[0].arguments == {"city": "Oslo"}


def test_streams() -> None:
    """Pieces as they come, blocking and awaited."""

    async def main() -> str:
        stream = await acompletion("gemini/gemini-3-pro", HI, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    with use(FakeModel(["one two", "three four"])):
        chunks = list(completion("gpt-5.2", HI, stream=True))
        assert asyncio.run(main()) == "three four"
    assert "".join([chunk.choices[0].delta.content or "" for chunk in chunks]) == "one two"
    assert [chunk.choices[0].finish_reason for chunk in chunks][-1] == "stop"
    assert len(chunks) > 3


def test_awaited() -> None:
    """The twin gives the same."""
    with use(FakeModel("Hi")):
        assert asyncio.run(acompletion("gpt-5.2", HI)).choices[0].message.content == "Hi"


def test_fallbacks_are_a_chain() -> None:
    """The second model answers where the first is busy, and the answer says so."""
    with use(FakeModel([il.RateLimitError("busy", status=429), "Hi"])):
        reply = completion("gpt-5.2", HI, fallbacks=["claude-opus-5"], max_tokens=9)
    assert reply.interlingua is not None
    assert [(attempt.model, attempt.outcome) for attempt in reply.interlingua.attempts] == [
        ("openai-chat/gpt-5.2", "failed"),
        ("anthropic/claude-opus-5", "served"),
    ]


def test_dropped_parameters() -> None:
    """Dropping is said; `drop_params=False` refuses it."""
    with use(FakeModel("Hi")):
        with pytest.warns(il.ChangeWarning, match="seed"):
            completion("claude-opus-5", HI, seed=7, max_tokens=9)
        with pytest.raises(il.UnsupportedError, match="seed"):
            completion("claude-opus-5", HI, seed=7, max_tokens=9, drop_params=False)


def test_a_type_is_a_schema() -> None:
    """`response_format` may be a type; the answer's text is the value as JSON, as LiteLLM gives it."""
    with use(FakeModel('{"city":"Oslo"}')) as fake:
        reply = completion("gpt-5.2", HI, response_format=Trip)
    assert reply.choices[0].message.content == '{"city":"Oslo"}'
    assert (fake.last_request.output_schema or {})["properties"] == {"city": {"type": "string"}}


def test_keys_and_addresses() -> None:
    """A key is for the model's provider; a chain of several is refused; an address takes the name as it stands."""
    with pytest.raises(il.UsageError, match="the chain has several providers"):
        completion("gpt-5.2", HI, fallbacks=["claude-opus-5"], api_key="sk-1")
    with pytest.raises(il.UsageError, match="fallbacks and api_base together"):
        completion("gpt-5.2", HI, fallbacks=["claude-opus-5"], api_base="http://localhost:1/v1")
    assert _served("org/model", api_base="http://localhost:1/v1") == "openai-compatible/org/model"
    assert _served("claude-opus-5", api_key="sk-1", max_tokens=9) == "anthropic/claude-opus-5"


@pytest.mark.parametrize("name", ["num_retries", "max_retries"])
def test_retries_are_ours(name: str) -> None:
    """Both of LiteLLM's names say how often a target is asked again, before its fallback is."""
    busy = il.OverloadedError("busy")
    with use(FakeModel([busy, busy, busy, "Hello"])) as fake:
        reply = completion("gpt-5.2", HI, fallbacks=["claude-opus-5"], max_tokens=9, stream=None, **{name: 2})
    assert reply.choices[0].message.content == "Hello"
    assert fake.models == ["openai-chat/gpt-5.2"] * 3 + ["anthropic/claude-opus-5"]
    with pytest.raises(il.UsageError, match=f"^{name} takes a number of times, 0 to 7, not -1$"):
        completion("gpt-5.2", HI, stream=None, **{name: -1})


@pytest.mark.parametrize("name", ["retry_strategy", "mock_response", "caching", "custom_llm_provider", "api_version"])
def test_what_steers_litellm_is_refused_in_words(name: str) -> None:
    """Never ignored in silence, never sent to a provider."""
    with pytest.raises(il.UsageError, match=f"^{name} is not taken here: "):
        completion("gpt-5.2", HI, stream=None, **{name: "something"})
