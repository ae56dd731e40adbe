"""The `openai` package on Chat Completions, streams through its own helper."""

from __future__ import annotations

import base64
import json
from typing import Any, Unpack

import openai

from tests.support.sdks.face import SCHEMA, TOOL, Answer, Call, How, SdkError

_PARSED: Any = {"parsed": True, "tool_calls": {"__all__": {"index": True, "function": {"parsed_arguments"}}}}
"""What the helper adds to a message, and no service knows."""


class OpenaiChat:
    """A conversation."""

    def __init__(self, url: str, key: str) -> None:
        """One at a gateway."""
        self._client: Any = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=2)
        self._messages: list[Any] = []
        self._tools: Any = openai.omit

    def ask(self, model: str, text: str, **how: Unpack[How]) -> Answer:
        """What comes of a text."""
        content: Any = text
        image = how.get("image")
        if image is not None:
            url = f"data:image/png;base64,{base64.b64encode(image).decode()}"
            content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
        self._messages.append({"role": "user", "content": content})
        more: dict[str, Any] = {"max_completion_tokens": how.get("limit", 400)}
        if how.get("tools"):
            name, description, parameters = TOOL
            function = {"name": name, "description": description, "parameters": parameters}
            self._tools = [{"type": "function", "function": function}]
        if how.get("schema"):
            described = {"name": "weather", "schema": SCHEMA, "strict": True}
            more["response_format"] = {"type": "json_schema", "json_schema": described}
        if how.get("thinking"):
            more["reasoning_effort"] = "low"
        return self._said(model, stream=how.get("stream", False), **more)

    def answer(self, model: str, results: list[str], *, stream: bool = False) -> Answer:
        """What comes of results."""
        calls = self._messages[-1]["tool_calls"]
        for call, result in zip(calls, results, strict=True):
            self._messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return self._said(model, stream=stream, max_completion_tokens=400)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _said(self, model: str, *, stream: bool, **more: Any) -> Answer:
        asked = {"model": model, "messages": self._messages, "tools": self._tools, **more}
        try:
            whole = self._streamed(asked) if stream else self._client.chat.completions.create(**asked)
        except openai.APIError as error:
            raise SdkError(type(error).__name__, getattr(error, "status_code", None), str(error)) from error
        choice = whole.choices[0]
        message = choice.message.model_dump(exclude_none=True, exclude=_PARSED)
        self._messages.append(message)
        calls = [
            Call(one.id, one.function.name, json.loads(one.function.arguments))
            for one in choice.message.tool_calls or ()
        ]
        tokens = (whole.usage.prompt_tokens, whole.usage.completion_tokens)
        thinking = getattr(choice.message, "reasoning_content", None) or ""
        return Answer(choice.message.content or "", calls, choice.finish_reason, tokens, thinking)

    def _streamed(self, asked: dict[str, Any]) -> Any:
        with self._client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as events:
            try:
                for _ in events:
                    pass
                return events.get_final_completion()
            except openai.LengthFinishReasonError as cut:
                return cut.completion
