"""The OpenAI Agents SDK: `Runner`, over Responses and over Chat."""

from __future__ import annotations

import asyncio
from typing import Any

from common import ASK, PNG_BASE64, Driver, Trip, Weather, main
from openai.types.shared import Reasoning

LOOP = asyncio.new_event_loop()
"""One for all: the SDK keeps its HTTP client for the process."""


class Agents(Driver):
    """The scenarios, by `Runner`."""

    def agent(self, model: str, weather: Weather | None = None, **options: Any) -> Any:
        """An agent on a model."""
        from agents import Agent, function_tool

        def get_weather(city: str) -> str:
            """The weather of a city."""
            assert weather is not None
            return weather(city)

        tools = [function_tool(get_weather)] if weather is not None else []
        return Agent(name="gallery", model=self.connect(model)["model"], tools=tools, **options)

    def run(self, agent: Any, content: Any) -> Any:
        """The result of an agent."""
        from agents import Runner

        return LOOP.run_until_complete(Runner.run(agent, content))

    def text(self, model: str) -> str:
        return self.run(self.agent(model), "Hi").final_output

    def stream(self, model: str) -> list[str]:
        return LOOP.run_until_complete(self.streamed(self.agent(model), "Hi"))[0]

    async def streamed(self, agent: Any, content: str) -> tuple[list[str], str]:
        """The pieces of the text, and the last output."""
        from agents import Runner

        result = Runner.run_streamed(agent, content)
        events = [event async for event in result.stream_events()]
        raw = [event.data for event in events if event.type == "raw_response_event"]
        return [data.delta for data in raw if data.type == "response.output_text.delta"], result.final_output

    def loop(self, model: str, weather: Weather) -> str:
        return self.run(self.agent(model, weather), ASK).final_output

    def loop_streamed(self, model: str, weather: Weather) -> str:
        return LOOP.run_until_complete(self.streamed(self.agent(model, weather), ASK))[1]

    def structured(self, model: str) -> Trip:
        return self.run(self.agent(model, output_type=Trip), "A trip").final_output

    def image(self, model: str) -> str:
        picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG_BASE64}", "detail": "auto"}
        content = [{"type": "input_text", "text": "Look."}, picture]
        return self.run(self.agent(model), [{"role": "user", "content": content}]).final_output

    def thinking(self, model: str, weather: Weather) -> tuple[str, str]:
        from agents import ModelSettings

        settings = ModelSettings(reasoning=Reasoning(effort="high", summary="auto"))
        result = self.run(self.agent(model, weather, model_settings=settings), "Use get_weather.")
        items = [item.raw_item for item in result.new_items if item.type == "reasoning_item"]
        parts = [part.text for item in items for part in (item.summary or item.content or [])]
        return (parts or [""])[0], result.final_output

    def usage(self, model: str) -> tuple[int, int]:
        usage = self.run(self.agent(model), "Hi").context_wrapper.usage
        return usage.input_tokens, usage.output_tokens


main(Agents)
