"""The `cohere` package on /v2/chat."""

from __future__ import annotations

import base64
import json
from typing import Any, Unpack

import cohere
from cohere.core.api_error import ApiError

from tests.support.sdks.face import SCHEMA, TOOL, Answer, Call, How, SdkError


class CohereChat:
    """A conversation."""

    def __init__(self, url: str, key: str) -> None:
        """One at a gateway."""
        self._client: Any = cohere.ClientV2(api_key=key, base_url=url, max_retries=2)
        self._messages: list[Any] = []
        self._tools: Any = None

    def ask(self, model: str, text: str, **how: Unpack[How]) -> Answer:
        """What comes of a text."""
        content: Any = text
        image = how.get("image")
        if image is not None:
            url = f"data:image/png;base64,{base64.b64encode(image).decode()}"
            content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
        self._messages.append({"role": "user", "content": content})
        if how.get("tools"):
            name, description, parameters = TOOL
            function = {"name": name, "description": description, "parameters": parameters}
            self._tools = [{"type": "function", "function": function}]
        more: dict[str, Any] = {"max_tokens": how.get("limit", 400)}
        if how.get("schema"):
            more["response_format"] = {"type": "json_object", "json_schema": SCHEMA}
        if how.get("thinking"):
            more["thinking"] = {"type": "enabled"}
        return self._said(model, stream=how.get("stream", False), **more)

    def answer(self, model: str, results: list[str], *, stream: bool = False) -> Answer:
        """What comes of results."""
        for call, result in zip(self._messages[-1]["tool_calls"], results, strict=True):
            self._messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return self._said(model, stream=stream)

    def close(self) -> None:
        """Close its connections."""
        self._client._client_wrapper.httpx_client.httpx_client.close()

    def _said(self, model: str, *, stream: bool, **more: Any) -> Answer:
        asked = {"model": model, "messages": self._messages, **more}
        if self._tools is not None:
            asked["tools"] = self._tools
        try:
            message, finish, usage = self._streamed(asked) if stream else self._whole(asked)
        except ApiError as error:
            body: Any = error.body
            raise SdkError(type(error).__name__, error.status_code, str(body.get("message"))) from error
        self._messages.append({name: value for name, value in message.items() if value})
        calls = [
            Call(one["id"], one["function"]["name"], json.loads(one["function"]["arguments"]))
            for one in message["tool_calls"]
        ]
        blocks = message["content"]
        text = "".join([block["text"] for block in blocks if block["type"] == "text"]) + message["tool_plan"]
        thinking = "".join([block["thinking"] for block in blocks if block["type"] == "thinking"])
        return Answer(text, calls, finish, (int(usage.tokens.input_tokens), int(usage.tokens.output_tokens)), thinking)

    def _whole(self, asked: dict[str, Any]) -> tuple[dict[str, Any], str, Any]:
        whole = self._client.chat(**asked)
        said = whole.message.model_dump(exclude_none=True)
        message: dict[str, Any] = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], **said}
        return message, whole.finish_reason, whole.usage

    def _streamed(self, asked: dict[str, Any]) -> tuple[dict[str, Any], str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}
        end: Any = None
        for event in self._client.chat_stream(**asked):
            match event.type:
                case "content-start":
                    message["content"].append(event.delta.message.content.model_dump(exclude_none=True))
                case "content-delta":
                    block, more = message["content"][event.index], event.delta.message.content
                    block[block["type"]] += getattr(more, block["type"])
                case "tool-plan-delta":
                    message["tool_plan"] += event.delta.message.tool_plan
                case "tool-call-start":
                    message["tool_calls"].append(event.delta.message.tool_calls.model_dump(exclude_none=True))
                case "tool-call-delta":
                    function = message["tool_calls"][event.index]["function"]
                    function["arguments"] += event.delta.message.tool_calls.function.arguments
                case "message-end":
                    end = event.delta
                case _:
                    pass
        assert end is not None, "the stream has no end"
        if end.error:
            raise SdkError("message-end", None, end.error)
        return message, end.finish_reason, end.usage
