"""About how many tokens a request has: by script, by family, with tools, calls and media."""

from __future__ import annotations

import pytest

from interlingua.routing.estimate import estimate_body, estimate_text, estimate_tokens
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, Part, user
from interlingua.types.request import Request
from interlingua.types.tool import OpaqueTool, Tool

CLAUDE, GPT, GEMINI, OTHER = "claude-opus-5", "gpt-5.6", "gemini-3-pro", "qwen3"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x03\0\x08\2\0\0\0"
"""The head of an image of 1,024 by 768 pixels."""


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0.0),
        ("hello world", 0.19 * 11),
        ("3.14!", 0.6 * 5),
        ("погода", 0.7 * 6),
        ("天気は", 0.9 * 3),
        ("🙂", 2.0),
        ("é\ud800", 0.7 + 0.6),
    ],
)
def test_a_text_counts_by_its_script(text: str, tokens: float) -> None:
    """Letters are a fifth of a token, signs and digits more than half, a syllable nearly one; half a pair is a sign."""
    assert estimate_text(text) == pytest.approx(tokens)


@pytest.mark.parametrize(("model", "tokens"), [(CLAUDE, 10), (GPT, 9), (GEMINI, 3), (OTHER, 13), ("", 13)])
def test_services_add_tokens_of_their_own(model: str, tokens: int) -> None:
    """The same eleven letters by family."""
    assert estimate_tokens(Request(messages=(user("hello world"),)), model) == tokens


@pytest.mark.parametrize(
    ("model", "is_of"),
    [
        ("anthropic/claude-haiku-4-5", CLAUDE),
        ("openai/gpt-oss-120b", OTHER),
        ("o3-mini", GPT),
        ("openai/o4-mini", GPT),
        ("models/gemma-3", GEMINI),
        ("command-r", OTHER),
    ],
)
def test_a_family_is_known_by_the_name(model: str, is_of: str) -> None:
    """Wherever it is served; open weights of a vendor are not its services."""
    request = Request(messages=(user("hi"),), tools=(Tool(name="t"),))
    assert estimate_tokens(request, model) == estimate_tokens(request, is_of)


def _parts(*parts: Part) -> int:
    return estimate_tokens(Request(messages=(Message("user", parts),)), GPT) - 7


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        (ToolCall("call_1", "get_weather", '{"city":"Oslo"}'), 8 + 0.19 * 26),
        (ToolResult("call_1", "get_weather", "four degrees"), 8 + 0.19 * 12),
        (ToolResult("call_1", "get_weather", Json({"c": 4})), 8 + 0.19 * 7),
        (ToolResult("call_1", "get_weather", (TextPart("four"), Json([1]))), 8 + 0.19 * 4 + 0.19 * 3),
        (ThinkingPart("a long thought that nobody counts"), 0),
        (ImagePart(PNG, "image/png"), 85 + 1_024 * 768 / 1_542),
        (ImagePart(b"?", "image/png"), 1_445),
        (AudioPart(b"x" * 5_000, "audio/mpeg"), 10),
        (DocumentPart(b"x" * 80_000, "application/pdf"), 2_000),
        (DocumentPart(b"%PDF", "application/pdf"), 1_500),
        (DocumentPart(b"hello world", "text/plain"), 0.19 * 11),
        (OpaquePart("anthropic", "server_tool_use", {"a": 1}), 0.19 * 7),
    ],
)
def test_every_kind_of_part_counts(part: Part, tokens: float) -> None:
    """Calls and results by their text, media by pixels and bytes, thinking not at all."""
    assert _parts(part) == round(tokens)


def test_tools_and_schemas_count() -> None:
    """Having tools costs, each one costs, and so does the schema of the answer."""
    tool = Tool(name="get_weather", description="The weather.", parameters={"type": "object"})
    base = Request(messages=(user("hi"),))
    with_tools = Request(messages=base.messages, tools=(tool, OpaqueTool("anthropic", "web_search", {})))
    added = estimate_tokens(with_tools, CLAUDE) - estimate_tokens(base, CLAUDE)
    assert added == pytest.approx(480 + 30 + 0.28 * (11 + 12 + 17) + 300, abs=1)
    with_schema = Request(messages=base.messages, output_schema={"type": "object"})
    assert estimate_tokens(with_schema, CLAUDE) - estimate_tokens(base, CLAUDE) == round(100 + 0.28 * 17)
    assert estimate_tokens(with_schema, GEMINI) == estimate_tokens(base, GEMINI)


def test_nothing_is_one_token() -> None:
    """No service takes less."""
    assert estimate_tokens(Request(), GEMINI) == 1


IMAGE = b"data:image/png;base64,iVBORw0KGgo" + b"A" * 1_000_000
PDF = b"JVBERi0" + b"A" * 400_000
SPEECH = b"SUQz" + b"A" * 66_663


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        (b"", 1),
        (b'{"a":1}', 2),
        (b'{"content":"' + b"word " * 7_000 + b'"}', 10_004),
        (b'{"content":"' + "語".encode() * 7_000 + b'"}', 6_004),
        (b'{"url":"' + IMAGE + b'"}', 1_603),
        (b'{"a":"' + IMAGE + b'","b":"' + IMAGE.replace(b"iVBORw0KGgo", b"/9j/") + b'"}', 3_204),
        (b'{"data":"' + PDF + b'"}', 3 + round((7 + 400_000) * 0.75 / 40)),
        (b'{"data":"' + SPEECH + b'"}', 3 + 100),
        (b'{"id":"' + b"A" * 4_096 + b'"}', round((4_096 + 9) / 3.5)),
    ],
)
def test_a_body_that_nobody_reads_counts_by_its_size_and_by_the_files_in_it(body: bytes, tokens: int) -> None:
    """Text by its bytes; an image as an image, a document and a recording by their own bytes, not by their base64."""
    assert estimate_body(body) == tokens
