"""The compliance checks of llm-comply against the server role, with a small script for a model."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodedRequest
from tests.support.chat_server import KEY, chat_serving

pytestmark = pytest.mark.skipif(find_spec("llm_comply") is None, reason="llm-comply is not installed")

USAGE = il.Usage(input_tokens=12, output_tokens=7, reasoning_tokens=3)
EXAMPLES: dict[str, Any] = {"string": "Oslo", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}


def _model(asked: DecodedRequest) -> il.Response[Any]:
    """Calls the first tool when it must, tells what it sees, and thinks before it counts."""
    request = asked.request
    if not asked.model:  # the dialect reads such a body, for addresses that name the model themselves
        raise il.BadRequestError("no model is named", status=400)
    if request.tool_choice == "required":
        return il.Response(parts=(_call(request),), finish_reason="tool_calls", usage=USAGE)
    seen = [part for message in request.messages for part in message.parts if isinstance(part, il.ImagePart)]
    text = f"{len(seen)} image, {seen[0].media_type}" if seen else "1 2 3 4 5"
    return il.Response(parts=(il.TextPart(text),), finish_reason="stop", usage=USAGE)


def _call(request: il.Request) -> il.ToolCall:
    [tool] = [tool for tool in request.tools if isinstance(tool, il.Tool)]
    arguments = {name: EXAMPLES[schema["type"]] for name, schema in tool.parameters["properties"].items()}
    return il.ToolCall("call_1", tool.name, json.dumps(arguments))


def test_every_check_passes() -> None:
    """All nine checks of Chat Completions against the vendor's OpenAPI file, without a warning."""
    with chat_serving(_model, judged=False) as chat:
        judge = [sys.executable, "-m", "llm_comply.cli", "--format", "openai-chat", "--json"]
        # The checks of reasoning are skipped for models whose names they do not know.
        ran = subprocess.run(
            [*judge, "-u", chat.url, "-k", KEY, "-m", "gpt-5"], capture_output=True, text=True, check=False, timeout=60
        )
    report = json.loads(ran.stdout)
    assert [result for result in report["results"] if result["status"] != "passed" or result.get("warnings")] == []
    assert report["summary"] == {"total": 9, "passed": 9, "failed": 0, "skipped": 0}
    images = [asked.request for asked in chat.requests if len(asked.request.messages[-1].parts) == 2]
    assert [type(request.messages[-1].parts[1]).__name__ for request in images] == ["ImagePart"]
