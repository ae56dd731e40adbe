"""Pydantic AI: an agent over each of its models."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from common import ASK, PNG_BASE64, Driver, Trip, Weather, main
from pydantic_ai import Agent, BinaryContent, NativeOutput
from pydantic_ai.messages import ModelResponse, ThinkingPart

THINKING: dict[str, Any] = {
    "openai-chat": {"openai_reasoning_effort": "high"},
    "openai-responses": {"openai_reasoning_effort": "high", "openai_reasoning_summary": "auto"},
    "anthropic": {"anthropic_thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 4000},
    "google": {"google_thinking_config": {"include_thoughts": True, "thinking_budget": 2000}},
}
"""The settings that ask for a thought, by dialect."""


class PydanticAI(Driver):
    """The scenarios, by `Agent`."""

    def agent(self, model: str, **options: Any) -> Agent[None, Any]:
        """An agent on a model."""
        return Agent(self.connect(model)["model"], **options)

    def text(self, model: str) -> str:
        return self.agent(model).run_sync("Hi").output

    def stream(self, model: str) -> list[str]:
        async def run() -> list[str]:
            async with self.agent(model).run_stream("Hi") as result:
                return [piece async for piece in result.stream_text(delta=True, debounce_by=None)]

        return asyncio.run(run())

    def loop(self, model: str, weather: Weather) -> str:
        return self.with_weather(model, weather).run_sync(ASK).output

    def with_weather(self, model: str, weather: Weather, **options: Any) -> Agent[None, Any]:
        """An agent with the tool."""
        agent = self.agent(model, **options)

        @agent.tool_plain
        def get_weather(city: str) -> str:
            """The weather of a city."""
            return weather(city)

        return agent

    def loop_streamed(self, model: str, weather: Weather) -> str:
        async def run() -> str:
            async with self.with_weather(model, weather).run_stream(ASK) as result:
                return await result.get_output()

        return asyncio.run(run())

    def structured(self, model: str) -> Trip:
        native = self.dialect != "anthropic"  # by the name of the model it does not see that Claude has it
        return (
            self.agent(model, output_type=NativeOutput(Trip) if native else Trip)
            .run_sync("A trip, by final_result.")
            .output
        )

    def image(self, model: str) -> str:
        picture = BinaryContent(base64.b64decode(PNG_BASE64), media_type="image/png")
        return self.agent(model).run_sync(["Look.", picture]).output

    def thinking(self, model: str, weather: Weather) -> tuple[str, str]:
        agent = self.with_weather(model, weather, model_settings=THINKING[self.dialect])
        result = agent.run_sync("Use get_weather.")
        thoughts = [
            part.content
            for message in result.all_messages()
            if isinstance(message, ModelResponse)
            for part in message.parts
            if isinstance(part, ThinkingPart)
        ]
        return (thoughts or [""])[0], result.output

    def usage(self, model: str) -> tuple[int, int]:
        usage = self.agent(model).run_sync("Hi").usage
        usage = usage() if callable(usage) else usage
        return usage.input_tokens, usage.output_tokens


main(PydanticAI)
