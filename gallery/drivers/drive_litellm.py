"""LiteLLM as a client: `completion` with each of its prefixes."""

from __future__ import annotations

import json
from typing import Any

from common import ASK, PNG_BASE64, WEATHER, Driver, Trip, Weather, main

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}


class LiteLLM(Driver):
    """The scenarios, by `completion`."""

    def ask(self, model: str, content: Any, **options: Any) -> Any:
        """The answer to a user's message, or to a conversation."""
        names = self.connect(model)
        if self.dialect == "anthropic":
            options["max_tokens"] = 4000
        messages = content if isinstance(content, list) and "role" in content[0] else [user(content)]
        return names["completion"](model=names["model"], messages=messages, **options)

    def text(self, model: str) -> str:
        return self.ask(model, "Hi").choices[0].message.content

    def stream(self, model: str) -> list[str]:
        return [chunk.choices[0].delta.content or "" for chunk in self.ask(model, "Hi", stream=True) if chunk.choices]

    def loop(self, model: str, weather: Weather, content: str = ASK, **options: Any) -> str:
        return self.steps(model, weather, [user(content)], **options)[-1].content

    def steps(self, model: str, weather: Weather, messages: list[Any], **options: Any) -> list[Any]:
        """The messages of the model, up to one without calls."""
        replies = []
        while True:
            message = self.ask(model, messages, tools=[TOOL], **options).choices[0].message
            replies.append(message)
            messages.append(message)
            if not message.tool_calls:
                return replies
            for call in message.tool_calls:
                result = weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def loop_streamed(self, model: str, weather: Weather) -> str:
        import litellm

        messages: list[Any] = [user(ASK)]
        while True:
            chunks = list(self.ask(model, messages, tools=[TOOL], stream=True))
            message = litellm.stream_chunk_builder(chunks, messages=messages).choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def structured(self, model: str) -> Trip:
        reply = self.ask(model, "A trip, by json_tool_call.", response_format=Trip)
        return Trip.model_validate_json(reply.choices[0].message.content)

    def image(self, model: str) -> str:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG_BASE64}"}}
        return self.ask(model, [{"type": "text", "text": "Look."}, picture]).choices[0].message.content

    def thinking(self, model: str, weather: Weather) -> tuple[str, str]:
        options: dict[str, Any] = {"reasoning_effort": "high", "allowed_openai_params": ["reasoning_effort"]}
        if self.dialect == "anthropic":
            options = {"thinking": {"type": "enabled", "budget_tokens": 2000}}
        replies = self.steps(model, weather, [user("Use get_weather.")], **options)
        return getattr(replies[0], "reasoning_content", None) or "", replies[-1].content

    def usage(self, model: str) -> tuple[int, int]:
        usage = self.ask(model, "Hi").usage
        return usage.prompt_tokens, usage.completion_tokens


def user(content: Any) -> dict[str, Any]:
    """A user's message."""
    return {"role": "user", "content": content}


main(LiteLLM)
