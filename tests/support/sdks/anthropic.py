"""The `anthropic` package on Messages, streams through its own helper."""

from __future__ import annotations

import base64
from typing import Any, Unpack

import anthropic

from tests.support.sdks.face import SCHEMA, TOOL, Answer, Call, How, SdkError


class AnthropicMessages:
    """A conversation."""

    def __init__(self, url: str, key: str) -> None:
        """One at a gateway."""
        self._client: Any = anthropic.Anthropic(base_url=url, api_key=key, max_retries=2)
        self._messages: list[Any] = []
        self._tools: Any = anthropic.omit

    def ask(self, model: str, text: str, **how: Unpack[How]) -> Answer:
        """What comes of a text."""
        content: Any = text
        image = how.get("image")
        if image is not None:
            source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(image).decode()}
            content = [{"type": "image", "source": source}, {"type": "text", "text": text}]
        self._messages.append({"role": "user", "content": content})
        more: dict[str, Any] = {"max_tokens": how.get("limit", 400)}
        if how.get("tools"):
            name, description, parameters = TOOL
            self._tools = [{"name": name, "description": description, "input_schema": parameters}]
        if how.get("schema"):
            more["output_config"] = {"format": {"type": "json_schema", "schema": SCHEMA}}
        if how.get("thinking"):
            more |= {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 3000}
        return self._said(model, stream=how.get("stream", False), **more)

    def answer(self, model: str, results: list[str], *, stream: bool = False) -> Answer:
        """What comes of results."""
        calls = [block for block in self._messages[-1]["content"] if block.type == "tool_use"]
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": result}
            for call, result in zip(calls, results, strict=True)
        ]
        self._messages.append({"role": "user", "content": blocks})
        return self._said(model, stream=stream, max_tokens=400)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _said(self, model: str, *, stream: bool, **more: Any) -> Answer:
        asked = {"model": model, "messages": self._messages, "tools": self._tools, **more}
        try:
            whole = self._streamed(asked) if stream else self._client.messages.create(**asked)
        except anthropic.APIError as error:
            raise SdkError(type(error).__name__, getattr(error, "status_code", None), str(error)) from error
        self._messages.append({"role": "assistant", "content": whole.content})
        text = "".join([block.text for block in whole.content if block.type == "text"])
        calls = [Call(block.id, block.name, block.input) for block in whole.content if block.type == "tool_use"]
        shown = "".join([block.thinking for block in whole.content if block.type == "thinking"])
        return Answer(text, calls, whole.stop_reason, (whole.usage.input_tokens, whole.usage.output_tokens), shown)

    def _streamed(self, asked: dict[str, Any]) -> Any:
        with self._client.messages.stream(**asked) as events:
            for _ in events:
                pass
            return events.get_final_message()
