"""pydantic-ai: one model, its direct requests, which are the cheapest way in."""

from __future__ import annotations

from pydantic_ai import direct
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from bench.canned import DESCRIPTION, MAX_TOKENS, PARAMETERS, TEXT, TOOLS, TURNS, tool_name
from bench.peers.libraries import Calls, key, url


def _said() -> list[ModelMessage]:
    first = ModelRequest(parts=[SystemPromptPart(TEXT), UserPromptPart(TEXT)])
    turns = [
        ModelResponse(parts=[TextPart(TEXT)]) if number % 2 else ModelRequest(parts=[UserPromptPart(TEXT)])
        for number in range(1, TURNS)
    ]
    return [first, *turns]


def _count(answer: ModelResponse) -> int:
    return sum(isinstance(part, ToolCallPart) for part in answer.parts)


def _text(event: object) -> int:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return len(event.part.content)
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return len(event.delta.content_delta)
    return 0


def calls(port: int) -> Calls:
    """Its calls; each of its two faces has a client of its own."""
    said, settings = _said(), ModelSettings(max_tokens=MAX_TOKENS)
    offered = [
        ToolDefinition(name=tool_name(number), description=DESCRIPTION, parameters_json_schema=PARAMETERS)
        for number in range(TOOLS)
    ]
    wanted = ModelRequestParameters(function_tools=offered)
    blocking, awaiting = (
        OpenAIChatModel("gpt-test", provider=OpenAIProvider(base_url=url(port, "/v1"), api_key=key)) for _ in range(2)
    )

    def whole() -> int:
        return _count(
            direct.model_request_sync(blocking, said, model_settings=settings, model_request_parameters=wanted)
        )

    def streamed() -> int:
        with direct.model_request_stream_sync(
            blocking, said, model_settings=settings, model_request_parameters=wanted
        ) as stream:
            return sum(_text(event) for event in stream)

    async def awaited() -> int:
        return _count(
            await direct.model_request(awaiting, said, model_settings=settings, model_request_parameters=wanted)
        )

    return Calls(whole, streamed, awaited)
