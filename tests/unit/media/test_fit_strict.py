"""Fitted pictures, written by every dialect, break no rule of the strict upstreams; also from inside of results."""

from __future__ import annotations

from functools import cache

import pytest

import interlingua as il
from interlingua.dialects._contract import EncodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.media.fit import plan_media
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import judge_body
from interlingua.types.request import Request
from tests.support.cells import cells
from tests.support.pictures import ACCEPTED

pytest.importorskip("pillow_heif")

MADE = {name: make for made in ACCEPTED.values() for name, make in made.items()}
TARGETS = {
    "openai-chat": ("openai-chat/gpt-4.1", "/v1"),
    "openai-responses": ("openai-responses/gpt-4.1", "/v1"),
    "anthropic": ("anthropic/claude-opus-5", "/v1"),
    "google": ("google/gemini-3-pro-preview", "/v1beta"),
    "ollama": ("ollama/llava", ""),
    "cohere": ("cohere/command-a-vision-07-2025", "/v2"),
}
"""Dialect -> a target that speaks it, and the path of its API."""
NAMES = (
    "heic-orientation-6",
    "avif-alpha",
    "tiff-pages",
    "bmp",
    "gif-animated",
    "webp-animated",
    "png-16-bits",
    "jpeg-cmyk",
    "jpeg-orientation-8",
    "png-1x1",
    "jpeg-9000x200",
)
REGISTRY = Registry(environ={})


@cache
def picture(name: str) -> il.ImagePart:
    """A picture, made once."""
    return il.image(MADE[name](), detail="full" if name == "jpeg-9000x200" else None)


@cells("dialect", TARGETS)
@cells("name", NAMES)
def test_r44_strict_upstreams_take_what_was_fitted(dialect: str, name: str) -> None:
    """Beside a text of the user, and in what a tool gave."""
    spec, base = TARGETS[dialect]
    target = REGISTRY.resolve(spec)[0]
    tool = il.Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
    call = il.ToolCall("call_123456", "look", "{}")
    result = il.ToolResult("call_123456", "look", (il.TextPart("This:"), picture(name)))
    messages = (
        il.user("Look.", picture(name)),
        il.assistant(call),
        il.Message("tool", (result,)),
        il.user("And this?", picture(name)),
    )
    request = Request(messages=messages, tools=(tool,), max_tokens=100)
    plan = plan_media(request, target)
    fitted = request if plan is None else plan.run()[0]
    encoded = get_dialect(target.dialect).encode_request(fitted, EncodeOptions(target=target.target))
    headers = (("anthropic-version", "2023-06-01"), *encoded.headers)
    verdict = judge_body(target.dialect, encoded.body, model=target.model, path=base + encoded.path, headers=headers)
    assert list(map(str, verdict.problems)) == []
