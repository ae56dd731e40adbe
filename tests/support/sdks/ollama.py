"""The `ollama` package on /api/chat."""

from __future__ import annotations

from typing import Any, Unpack

import ollama

from tests.support.sdks.face import SCHEMA, TOOL, Answer, Call, How, SdkError


class OllamaChat:
    """A conversation."""

    def __init__(self, url: str, key: str) -> None:
        """One at a gateway."""
        self._client: Any = ollama.Client(host=url, headers={"authorization": f"Bearer {key}"})
        self._messages: list[Any] = []
        self._tools: Any = None

    def ask(self, model: str, text: str, **how: Unpack[How]) -> Answer:
        """What comes of a text."""
        message: dict[str, Any] = {"role": "user", "content": text}
        image = how.get("image")
        if image is not None:
            message["images"] = [image]
        self._messages.append(message)
        if how.get("tools"):
            name, description, parameters = TOOL
            function = {"name": name, "description": description, "parameters": parameters}
            self._tools = [{"type": "function", "function": function}]
        more: dict[str, Any] = {"options": {"num_predict": how.get("limit", 400)}}
        if how.get("schema"):
            more["format"] = SCHEMA
        if how.get("thinking"):
            more["think"] = True
        return self._said(model, stream=how.get("stream", False), **more)

    def answer(self, model: str, results: list[str], *, stream: bool = False) -> Answer:
        """What comes of results."""
        for call, result in zip(self._messages[-1]["tool_calls"], results, strict=True):
            self._messages.append({"role": "tool", "tool_name": call.function.name, "content": result})
        return self._said(model, stream=stream)

    def close(self) -> None:
        """Close its connections."""
        self._client._client.close()

    def _said(self, model: str, *, stream: bool, **more: Any) -> Answer:
        try:
            frames = self._client.chat(model=model, messages=self._messages, tools=self._tools, stream=stream, **more)
            lines = list(frames) if stream else [frames]
        except ollama.ResponseError as error:
            raise SdkError(type(error).__name__, error.status_code, error.error) from error
        calls = [call for line in lines for call in line.message.tool_calls or ()]
        text = "".join([line.message.content or "" for line in lines])
        shown = "".join([line.message.thinking or "" for line in lines])
        self._messages.append({"role": "assistant", "content": text, "tool_calls": calls})
        last = lines[-1]
        told = [Call("", call.function.name, dict(call.function.arguments)) for call in calls]
        return Answer(text, told, last.done_reason or "", (last.prompt_eval_count or 0, last.eval_count or 0), shown)
