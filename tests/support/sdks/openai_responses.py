"""The `openai` package on Responses, streams through its own helper."""

from __future__ import annotations

import base64
import json
from typing import Any, Unpack

import openai

from tests.support.sdks.face import SCHEMA, TOOL, Answer, Call, How, SdkError


class OpenaiResponses:
    """A conversation, told anew each time."""

    def __init__(self, url: str, key: str) -> None:
        """One at a gateway."""
        self._client: Any = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=2)
        self._input: list[Any] = []
        self._tools: Any = openai.omit
        self._calls: list[Any] = []

    def ask(self, model: str, text: str, **how: Unpack[How]) -> Answer:
        """What comes of a text."""
        content: Any = text
        image = how.get("image")
        if image is not None:
            url = f"data:image/png;base64,{base64.b64encode(image).decode()}"
            content = [
                {"type": "input_text", "text": text},
                {"type": "input_image", "detail": "auto", "image_url": url},
            ]
        self._input.append({"role": "user", "content": content})
        more: dict[str, Any] = {"max_output_tokens": how.get("limit", 400)}
        if how.get("tools"):
            name, description, parameters = TOOL
            tool = {"type": "function", "name": name, "description": description, "parameters": parameters}
            self._tools = [{**tool, "strict": True}]
        if how.get("schema"):
            more["text"] = {"format": {"type": "json_schema", "name": "weather", "schema": SCHEMA, "strict": True}}
        if how.get("thinking"):
            more["reasoning"] = {"effort": "low", "summary": "auto"}
            more["include"] = ["reasoning.encrypted_content"]
        return self._said(model, stream=how.get("stream", False), **more)

    def answer(self, model: str, results: list[str], *, stream: bool = False) -> Answer:
        """What comes of results."""
        for call, result in zip(self._calls, results, strict=True):
            self._input.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
        return self._said(model, stream=stream, max_output_tokens=400)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _said(self, model: str, *, stream: bool, **more: Any) -> Answer:
        asked = {"model": model, "input": self._input, "tools": self._tools, "store": False, **more}
        try:
            whole = self._streamed(asked) if stream else self._client.responses.create(**asked)
        except openai.APIError as error:
            raise SdkError(type(error).__name__, getattr(error, "status_code", None), str(error)) from error
        self._input += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in whole.output]
        self._calls = [item for item in whole.output if item.type == "function_call"]
        calls = [Call(item.call_id, item.name, json.loads(item.arguments)) for item in self._calls]
        shown = [part.text for item in whole.output if item.type == "reasoning" for part in item.summary]
        return Answer(
            whole.output_text,
            calls,
            whole.status,
            (whole.usage.input_tokens, whole.usage.output_tokens),
            "".join(shown),
        )

    def _streamed(self, asked: dict[str, Any]) -> Any:
        with self._client.responses.stream(**asked) as events:
            for event in events:
                if event.type == "response.incomplete":  # the helper knows complete ones alone
                    return event.response
            return events.get_final_response()
