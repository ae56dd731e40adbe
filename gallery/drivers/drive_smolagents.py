"""smolagents: its model class, with tools called as its agents call them."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

from common import ASK, PNG_BASE64, Driver, Trip, Weather, main
from smolagents import ChatMessage, MessageRole, Tool
from smolagents.models import agglomerate_stream_deltas


class WeatherTool(Tool):
    """The tool, as its agents hold it."""

    name = "get_weather"
    description = "The weather of a city."
    inputs = {"city": {"type": "string", "description": "Name of the city."}}
    output_type = "string"

    def forward(self, city: str) -> str:
        raise NotImplementedError


class Smolagents(Driver):
    """The scenarios, by `generate` and `generate_stream`."""

    def ask(self, model: str, messages: list[Any], **options: Any) -> ChatMessage:
        """The answer to a conversation."""
        return self.connect(model)["model"].generate(messages, **options)

    def text(self, model: str) -> str:
        return self.ask(model, [user("Hi")]).content

    def stream(self, model: str) -> list[str]:
        return [delta.content or "" for delta in self.connect(model)["model"].generate_stream([user("Hi")])]

    def loop(self, model: str, weather: Weather) -> str:
        return self.steps(weather, lambda messages, **options: self.ask(model, messages, **options))

    def loop_streamed(self, model: str, weather: Weather) -> str:
        chat = self.connect(model)["model"]
        return self.steps(
            weather, lambda messages, **options: agglomerate_stream_deltas(chat.generate_stream(messages, **options))
        )

    def steps(self, weather: Weather, ask: Any) -> str:
        """The last text of a conversation with the tool."""
        messages = [user(ASK)]
        while True:
            reply = ask(messages, tools_to_call_from=[WeatherTool()], tool_choice="auto")
            if not reply.tool_calls:
                return reply.content
            calls = [call.function for call in reply.tool_calls]
            told = "\n".join(f"Calling {call.name} with {call.arguments}" for call in calls)
            arguments = [json.loads(a) if isinstance(a, str) else a for a in (call.arguments for call in calls)]
            results = "\n".join([weather(**each) for each in arguments])
            messages.append(ChatMessage(role=MessageRole.TOOL_CALL, content=[{"type": "text", "text": told}]))
            messages.append(ChatMessage(role=MessageRole.TOOL_RESPONSE, content=[{"type": "text", "text": results}]))

    def structured(self, model: str) -> Trip:
        form = {"type": "json_schema", "json_schema": {"name": "trip", "schema": Trip.model_json_schema()}}
        return Trip.model_validate_json(self.ask(model, [user("A trip")], response_format=form).content)

    def fail(self, model: str) -> None:
        chat = self.connect(model)["model"]
        type(chat)(model, retry=False).generate([user("Hi")])  # it would wait for a minute after a rate limit

    def image(self, model: str) -> str:
        import PIL.Image

        picture = PIL.Image.open(io.BytesIO(base64.b64decode(PNG_BASE64)))
        content = [{"type": "text", "text": "Look."}, {"type": "image", "image": picture}]
        return self.ask(model, [ChatMessage(role=MessageRole.USER, content=content)]).content

    def usage(self, model: str) -> tuple[int, int]:
        usage = self.ask(model, [user("Hi")]).token_usage
        return usage.input_tokens, usage.output_tokens


def user(text: str) -> ChatMessage:
    """A user's message."""
    return ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": text}])


main(Smolagents)
