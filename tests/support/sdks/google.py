"""The `google-genai` package on generateContent."""

from __future__ import annotations

from typing import Any, Unpack

from google import genai
from google.genai import errors, types

from tests.support.sdks.face import SCHEMA, TOOL, Answer, Call, How, SdkError


class GoogleGenai:
    """A conversation."""

    def __init__(self, url: str, key: str) -> None:
        """One at a gateway."""
        self._client: Any = genai.Client(api_key=key, http_options=types.HttpOptions(base_url=url))
        self._contents: list[Any] = []
        self._tools: Any = None
        self._calls: list[Any] = []

    def ask(self, model: str, text: str, **how: Unpack[How]) -> Answer:
        """What comes of a text."""
        parts = [types.Part(text=text)]
        image = how.get("image")
        if image is not None:
            parts.append(types.Part.from_bytes(data=image, mime_type="image/png"))
        self._contents.append(types.Content(role="user", parts=parts))
        more: dict[str, Any] = {"max_output_tokens": how.get("limit", 400)}
        if how.get("tools"):
            name, description, parameters = TOOL
            function = types.FunctionDeclaration(name=name, description=description, parameters_json_schema=parameters)
            self._tools = [types.Tool(function_declarations=[function])]
        if how.get("schema"):
            more |= {"response_mime_type": "application/json", "response_json_schema": SCHEMA}
        if how.get("thinking"):
            more["thinking_config"] = types.ThinkingConfig(include_thoughts=True)
        return self._said(model, stream=how.get("stream", False), **more)

    def answer(self, model: str, results: list[str], *, stream: bool = False) -> Answer:
        """What comes of results."""
        parts = [
            types.Part(
                function_response=types.FunctionResponse(id=call.id, name=call.name, response={"result": result})
            )
            for call, result in zip(self._calls, results, strict=True)
        ]
        self._contents.append(types.Content(role="user", parts=parts))
        return self._said(model, stream=stream, max_output_tokens=400)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _said(self, model: str, *, stream: bool, **more: Any) -> Answer:
        off = types.AutomaticFunctionCallingConfig(disable=True)
        config = types.GenerateContentConfig(tools=self._tools, automatic_function_calling=off, **more)
        asked = {"model": model, "contents": self._contents, "config": config}
        try:
            if stream:
                frames = list(self._client.models.generate_content_stream(**asked))
            else:
                frames = [self._client.models.generate_content(**asked)]
        except errors.APIError as error:
            raise SdkError(type(error).__name__, error.code, str(error)) from error
        parts = [part for frame in frames for part in frame.candidates[0].content.parts or ()]
        self._contents.append(types.Content(role="model", parts=parts))
        self._calls = [part.function_call for part in parts if part.function_call]
        text = "".join([part.text for part in parts if part.text and not part.thought])
        shown = "".join([part.text for part in parts if part.text and part.thought])
        last = frames[-1]
        counts = last.usage_metadata
        written = (counts.candidates_token_count or 0) + (counts.thoughts_token_count or 0)
        calls = [Call(call.id or "", call.name, call.args or {}) for call in self._calls]
        return Answer(text, calls, last.candidates[0].finish_reason.name, (counts.prompt_token_count, written), shown)
