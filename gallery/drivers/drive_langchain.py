"""LangChain: the chat models of its five packages."""

from __future__ import annotations

from typing import Any

from common import ASK, PNG_BASE64, Driver, Trip, Weather, main
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

THINKING: dict[str, dict[str, Any]] = {
    "openai-chat": {"reasoning_effort": "high"},
    "openai-responses": {"reasoning": {"effort": "high", "summary": "auto"}},
    "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 4000},
    "google": {"include_thoughts": True, "thinking_budget": 2000},
    "ollama": {"reasoning": True},
}


class LangChain(Driver):
    """The scenarios, by the chat models themselves."""

    def model(self, model: str, **options: Any) -> Any:
        """A chat model, with options beside those of the lines."""
        chat = self.connect(model)["model"]
        return type(chat)(model=model, **self.kept(), **options) if options else chat

    def kept(self) -> dict[str, Any]:
        """The options of the lines."""
        return {"use_responses_api": True} if self.dialect == "openai-responses" else {}

    def text(self, model: str) -> str:
        return self.model(model).invoke("Hi").text

    def stream(self, model: str) -> list[str]:
        return [chunk.text for chunk in self.model(model).stream("Hi")]

    def loop(self, model: str, weather: Weather) -> str:
        return self.steps(self.model(model), weather, ASK, lambda chat, messages: chat.invoke(messages))[-1].text

    def loop_streamed(self, model: str, weather: Weather) -> str:
        return self.steps(self.model(model), weather, ASK, summed)[-1].text

    def steps(self, chat: Any, weather: Weather, content: str, ask: Any) -> list[AIMessage]:
        """The messages of the model, up to one without calls."""

        @tool
        def get_weather(city: str) -> str:
            """The weather of a city."""
            return weather(city)

        bound, messages, replies = chat.bind_tools([get_weather]), [HumanMessage(content)], []
        while True:
            reply = ask(bound, messages)
            replies.append(reply)
            messages.append(reply)
            if not reply.tool_calls:
                return replies
            messages += [ToolMessage(weather(**call["args"]), tool_call_id=call["id"]) for call in reply.tool_calls]

    def structured(self, model: str) -> Trip:
        return self.model(model).with_structured_output(Trip).invoke("A trip, by Trip.")

    def image(self, model: str) -> str:
        picture = {"type": "image", "base64": PNG_BASE64, "mime_type": "image/png"}
        return self.model(model).invoke([HumanMessage([{"type": "text", "text": "Look."}, picture])]).text

    def thinking(self, model: str, weather: Weather) -> tuple[str, str]:
        chat = self.model(model, **THINKING[self.dialect])
        replies = self.steps(chat, weather, "Use get_weather.", lambda bound, messages: bound.invoke(messages))
        thoughts = [block.get("reasoning", "") for block in replies[0].content_blocks if block["type"] == "reasoning"]
        return (thoughts or [""])[0], replies[-1].text

    def usage(self, model: str) -> tuple[int, int]:
        usage = self.model(model).invoke("Hi").usage_metadata
        return usage["input_tokens"], usage["output_tokens"]


def summed(chat: Any, messages: list[Any]) -> AIMessage:
    """The message that the chunks of a stream add up to."""
    first, *rest = chat.stream(messages)
    for chunk in rest:
        first += chunk
    return first


main(LangChain)
