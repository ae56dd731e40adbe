"""The tables of the strict upstream say what the official clients' request types say, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("openai", reason="the official SDK is not installed")
pytest.importorskip("anthropic", reason="the official SDK is not installed")
pytest.importorskip("google.genai", reason="the official SDK is not installed")
pytest.importorskip("ollama", reason="the official SDK is not installed")

from anthropic.types import message_create_params
from google.genai import types
from ollama import _types as ollama_types
from openai.types.chat import completion_create_params
from openai.types.responses import response_compact_params, response_create_params

from interlingua.testing.upstream.judge import law_of
from interlingua.testing.upstream.shapes import Named
from tests.support.sdk_shapes import SdkShapes, differences

TYPES: tuple[tuple[str, Any, str], ...] = (
    ("openai-chat", completion_create_params.CompletionCreateParams, "Request"),
    ("openai-responses", response_create_params.ResponseCreateParams, "Request"),
    ("openai-responses", response_compact_params.ResponseCompactParams, "CompactRequest"),
    ("anthropic", message_create_params.MessageCreateParams, "Request"),
    ("google", types.Content, "Content"),
    ("google", types.Tool, "Tool"),
    ("google", types.ToolConfig, "ToolConfig"),
    ("google", types.SafetySetting, "SafetySetting"),
    ("google", types.GenerationConfig, "GenerationConfig"),
    ("ollama", ollama_types.ChatRequest, "ChatRequest"),
    ("ollama", ollama_types.GenerateRequest, "GenerateRequest"),
)

STREAM = "the types have one class for whole and one for streamed answers"
GO = "a struct of the server that the client's types do not have"
REQUIRED = "the server says that it is missing"
NAMED_DIFFERENCES: dict[tuple[str, str], str] = {
    ("openai-chat", "Assistant.annotations: only in judge"): "recorded: answers are taken back with their annotations",
    ("openai-chat", "Assistant.parsed: only in judge"): "recorded: openai-chat beefb0e5e89f",
    ("openai-chat", "Called.parsed_arguments: only in judge"): "recorded: openai-chat beefb0e5e89f",
    ("openai-chat", "CallFunction.index: only in judge"): "recorded: openai-chat beefb0e5e89f",
    ("openai-chat", "ToolFunction.name: only in judge"): "recorded: openai-chat 9a8f443b6776",
    ("openai-chat", "Request.response_format: null only in judge"): "recorded: openai-chat 633f363dcceb",
    ("openai-chat", "Request.stream: required only in types"): STREAM,
    ("openai-chat", "ToolMessage.name: only in judge"): "recorded: openai-chat d2d989c43070",
    ("openai-responses", "FunctionTool.parameters: required only in types"): "recorded: openai-responses 897d7e7b0ac2",
    ("openai-responses", "FunctionTool.strict: required only in types"): "recorded: openai-responses 897d7e7b0ac2",
    ("openai-responses", "Message.id: only in judge"): "a compacted conversation goes back as it came",
    ("openai-responses", "InputImage.detail: required only in types"): "recorded: openai-responses 225fe4cab7b0",
    ("openai-responses", "CompactRequest.input[]: EasyAnswer only in judge"): "as in a request",
    ("openai-responses", "Request.input[]: EasyAnswer only in judge"): "recorded: openai-responses f81449002d34",
    (
        "openai-responses",
        "ReasoningItem.id: required only in types",
    ): "OpenAI Responses, Reasoning items: taken without",
    ("openai-responses", "Request.model: required only in judge"): REQUIRED,
    ("openai-responses", "Request.stream: required only in types"): STREAM,
    ("openai-responses", "SearchAction.sources: null only in judge"): "recorded: openai-responses b60a9f8952a3",
    ("anthropic", "Request.stream: required only in types"): STREAM,
    ("anthropic", "Request.temperature: only in judge"): "left out of the client's 2.x types; families take it",
    ("anthropic", "Request.top_k: only in judge"): "left out of the client's 2.x types; families take it",
    ("anthropic", "Request.top_p: only in judge"): "left out of the client's 2.x types; families take it",
    ("google", "FunctionDeclaration.name: required only in judge"): REQUIRED,
    ("google", "GenerationConfig.imageConfig: only in judge"): "GenerateContentConfig.image_config goes there",
    ("google", "Interval.endTime: datetime only in types"): "a moment is text on the wire",
    ("google", "Interval.endTime: text only in judge"): "a moment is text on the wire",
    ("google", "Interval.startTime: datetime only in types"): "a moment is text on the wire",
    ("google", "Interval.startTime: text only in judge"): "a moment is text on the wire",
    **{
        ("ollama", f"{kind}Request.{name}: only in judge"): GO
        for kind in ("Chat", "Generate")
        for name in ("debug_render_only", "shift", "truncate")
    },
    ("ollama", "ChatRequest.model: required only in judge"): REQUIRED,
    ("ollama", "GenerateRequest.model: required only in judge"): REQUIRED,
    ("ollama", "GenerateRequest.images[]: Image only in types"): "an image is base64 text on the wire",
    ("ollama", "GenerateRequest.images[]: text only in judge"): "an image is base64 text on the wire",
    ("ollama", "Function.name: null only in types"): REQUIRED,
    ("ollama", "Function.name: required only in judge"): REQUIRED,
    ("ollama", "Tool.function: null only in types"): REQUIRED,
    ("ollama", "Tool.function: required only in judge"): REQUIRED,
    ("ollama", "Parameters.type: null only in types"): GO,
    ("ollama", "Parameters.type: text only in judge"): GO,
    **{("ollama", f"Property.{name}: only in judge"): GO for name in ("anyOf", "properties", "required")},
}
"""Where the judge differs from the types, and why."""


def _found(dialect: str, kind: Any, name: str) -> set[str]:
    shapes = SdkShapes()
    shape = shapes.shape(kind)
    found = differences((shapes.grammar, shape), (law_of(dialect).reading.grammar, Named(name)))
    # Proto JSON takes null for every member.
    return {line for line in found if not (dialect == "google" and line.endswith(": null only in types"))}


def _is_named(dialect: str, line: str) -> bool:
    # Recorded: openai-responses ffcbad2fb777 has a null status and was answered.
    is_status = dialect == "openai-responses" and line.endswith(".status: null only in judge")
    return is_status or (dialect, line) in NAMED_DIFFERENCES


@pytest.mark.parametrize(("dialect", "kind", "name"), TYPES, ids=[f"{row[0]}-{row[2]}" for row in TYPES])
def test_the_judge_knows_what_the_types_know(dialect: str, kind: Any, name: str) -> None:
    """Every member, word and requirement of a type is in the table, and nothing else but what is named here."""
    assert [line for line in sorted(_found(dialect, kind, name)) if not _is_named(dialect, line)] == []


def test_every_named_difference_is_one() -> None:
    """No exception outlives its reason."""
    found = {(dialect, line) for dialect, kind, name in TYPES for line in _found(dialect, kind, name)}
    assert set(NAMED_DIFFERENCES) - found == set()


def test_the_comparison_finds_differences() -> None:
    """A member, a word and a requirement too many are found on either side."""
    chat = SdkShapes()
    theirs = chat.shape(completion_create_params.CompletionCreateParams)
    ours = law_of("openai-responses").reading.grammar
    found = differences((chat.grammar, theirs), (ours, Named("Request")))
    assert "Request.messages: only in types" in found
    assert "Request.input: only in judge" in found
    assert "Request.service_tier: ['ultrafast'] only in judge" in found
