"""LlamaIndex: its classes of models, and its `FunctionAgent`."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from common import ASK, PNG_BASE64, Driver, Trip, Weather, main
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool

NAMES = (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"),
         ("prompt_token_count", "candidates_token_count"), ("prompt_eval_count", "eval_count"))  # fmt: skip
LOOP = asyncio.new_event_loop()
"""One for all: a model keeps its HTTP client."""


class LlamaIndex(Driver):
    """The scenarios, by the model itself, and by an agent."""

    def model(self, model: str) -> Any:
        """The model of the lines."""
        return self.connect(model)["model"]

    def text(self, model: str) -> str:
        return self.model(model).chat([ChatMessage(role="user", content="Hi")]).message.content

    def stream(self, model: str) -> list[str]:
        return [piece.delta or "" for piece in self.model(model).stream_chat([ChatMessage(role="user", content="Hi")])]

    def loop(self, model: str, weather: Weather) -> str:
        return self.agent(model, weather, streaming=False)

    def loop_streamed(self, model: str, weather: Weather) -> str:
        return self.agent(model, weather, streaming=True)

    def agent(self, model: str, weather: Weather, *, streaming: bool) -> str:
        """The last text of an agent with the tool."""

        def get_weather(city: str) -> str:
            """The weather of a city."""
            return weather(city)

        async def run() -> str:
            tools = [FunctionTool.from_defaults(get_weather)]
            agent = FunctionAgent(tools=tools, llm=self.model(model), streaming=streaming)
            return str(await agent.run(ASK))

        return LOOP.run_until_complete(run())

    def structured(self, model: str) -> Trip:
        return self.model(model).structured_predict(Trip, PromptTemplate("A trip, by Trip."))

    def image(self, model: str) -> str:
        picture = ImageBlock(image=base64.b64decode(PNG_BASE64), image_mimetype="image/png")
        message = ChatMessage(role="user", blocks=[TextBlock(text="Look."), picture])
        return self.model(model).chat([message]).message.content

    def usage(self, model: str) -> tuple[int, int]:
        reply = self.model(model).chat([ChatMessage(role="user", content="Hi")])
        raw = reply.raw if isinstance(reply.raw, dict) else reply.raw.model_dump()
        usage = raw.get("usage") or raw.get("usage_metadata") or raw
        usage = usage if isinstance(usage, dict) else usage.model_dump()
        return next((usage[a], usage[b]) for a, b in NAMES if usage.get(a) is not None)


main(LlamaIndex)
