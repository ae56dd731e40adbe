"""What an official SDK hears of one answer through a gateway, as plain values that can be compared between SDKs.

A listener asks one question, whole or streamed by the SDK's own helper, and says what its user would have: the text as
far as it came, the calls, why it ended, the counts, and whether the SDK raised an error of its own. Anything else that
an SDK raises (a `TypeError` of its helper, say) is not caught.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from typing import Any, NamedTuple

import anthropic
import cohere
import httpx
import ollama
import openai
from cohere.core.api_error import ApiError
from google import genai
from google.genai import errors, types

from tests.support.converse import botocore

__all__ = ["Access", "Heard", "listener"]

boto3: Any = import_module("boto3")  # which has no types
_TEXT = "Weather?"
_FINISHES = {
    "end_turn": "stop", "STOP": "stop", "completed": "stop", "tool_use": "tool_calls",
    "max_tokens": "length", "MAX_TOKENS": "length", "incomplete": "length",
    "COMPLETE": "stop", "TOOL_CALL": "tool_calls",
}  # fmt: skip


class Access(NamedTuple):
    """How a gateway is asked."""

    key: str = "k"
    """The credential."""
    headers: dict[str, str] = {}
    """Headers beside those of the SDK."""
    timeout_s: float = 60.0
    """How long an SDK waits for the next piece of an answer."""
    errors: list[str] | None = None
    """Takes the words of each error that the SDK raises."""
    google_version: str | None = None
    """The version in the paths of Google's SDK; None for its own."""


class Heard(NamedTuple):
    """One answer as a user of an SDK has it."""

    text: str
    """Its text, as far as it came."""
    calls: list[tuple[str, Any]]
    """Its calls, by name and arguments; none where it failed."""
    finish: str
    """Why it ended, in Chat's words; empty where it failed."""
    tokens: tuple[int, int]
    """Tokens in and out; cached ones are in."""
    raised: bool
    """Whether the SDK raised its own error."""


def _heard(text: str, calls: list[tuple[str, Any]], finish: str | None, tokens: tuple[int, int]) -> Heard:
    word = _FINISHES.get(finish or "", finish or "")
    return Heard(text, calls, "tool_calls" if calls and word == "stop" else word, tokens, raised=False)


def _failed(text: str, access: Access, error: object) -> Heard:
    if access.errors is not None:
        access.errors.append(f"{type(error).__name__}: {error}")
    return Heard(text, [], "", (0, 0), raised=True)


def listener(dialect: str, url: str, access: Access | None = None) -> Callable[[str, bool], Heard]:
    """Asks a model at a gateway, streamed or not, through the SDK of a dialect; close it by `.close()`."""
    return _LISTENERS[dialect](url, access or Access())


def _options(access: Access) -> dict[str, Any]:
    """What the SDKs of OpenAI and Anthropic take alike."""
    timeout_s = access.timeout_s
    return {"api_key": access.key, "default_headers": access.headers, "timeout": timeout_s, "max_retries": 0}


class _Chat:
    def __init__(self, url: str, access: Access) -> None:
        self._access = access
        self._client: Any = openai.OpenAI(base_url=f"{url}/v1", **_options(access))

    def __call__(self, model: str, stream: bool) -> Heard:
        asked = {"model": model, "messages": [{"role": "user", "content": _TEXT}]}
        said: list[str] = []
        try:
            whole = self._streamed(asked, said) if stream else self._client.chat.completions.create(**asked)
        except openai.APIError as error:
            return _failed("".join(said), self._access, error)
        choice = whole.choices[0]
        calls = [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls or ()]
        usage = whole.usage
        tokens = (usage.prompt_tokens, usage.completion_tokens) if usage is not None else (0, 0)
        return _heard(choice.message.content or "", calls, choice.finish_reason, tokens)

    def _streamed(self, asked: dict[str, Any], said: list[str]) -> Any:
        with self._client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as events:
            try:
                said.extend(event.delta for event in events if event.type == "content.delta")
                return events.get_final_completion()
            except openai.LengthFinishReasonError as cut:
                return cut.completion

    def close(self) -> None:
        self._client.close()


class _Responses:
    def __init__(self, url: str, access: Access) -> None:
        self._access = access
        self._client: Any = openai.OpenAI(base_url=f"{url}/v1", **_options(access))

    def __call__(self, model: str, stream: bool) -> Heard:
        asked = {"model": model, "input": _TEXT, "store": False}
        said: list[str] = []
        try:
            whole = self._streamed(asked, said) if stream else self._client.responses.create(**asked)
        except openai.APIError as error:
            return _failed("".join(said), self._access, error)
        if whole.status == "failed":
            return _failed("".join(said), self._access, whole.error)
        calls = [(item.name, json.loads(item.arguments)) for item in whole.output if item.type == "function_call"]
        usage = whole.usage
        tokens = (usage.input_tokens, usage.output_tokens) if usage is not None else (0, 0)
        return _heard(whole.output_text, calls, whole.status, tokens)

    def _streamed(self, asked: dict[str, Any], said: list[str]) -> Any:
        with self._client.responses.stream(**asked) as events:
            for event in events:
                if event.type == "response.output_text.delta":
                    said.append(event.delta)
                if event.type in ("response.incomplete", "response.failed"):  # the helper knows complete ones alone
                    return event.response
            return events.get_final_response()

    def close(self) -> None:
        self._client.close()


class _Messages:
    def __init__(self, url: str, access: Access) -> None:
        self._access = access
        self._client: Any = anthropic.Anthropic(base_url=url, **_options(access))

    def __call__(self, model: str, stream: bool) -> Heard:
        asked = {"model": model, "messages": [{"role": "user", "content": _TEXT}], "max_tokens": 400}
        said: list[str] = []
        try:
            whole = self._streamed(asked, said) if stream else self._client.messages.create(**asked)
        except (anthropic.APIError, ValueError) as error:  # its helper's own word for arguments that are no JSON
            return _failed("".join(said), self._access, error)
        text = "".join([block.text for block in whole.content if block.type == "text"])
        calls = [(block.name, block.input) for block in whole.content if block.type == "tool_use"]
        usage = whole.usage
        read = usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        return _heard(text, calls, whole.stop_reason, (read, usage.output_tokens))

    def _streamed(self, asked: dict[str, Any], said: list[str]) -> Any:
        with self._client.messages.stream(**asked) as events:
            said.extend(event.text for event in events if event.type == "text")
            return events.get_final_message()

    def close(self) -> None:
        self._client.close()


class _Google:
    def __init__(self, url: str, access: Access) -> None:
        self._access = access
        timeout_ms = int(access.timeout_s * 1000)
        options = types.HttpOptions(
            base_url=url, headers=access.headers, timeout=timeout_ms, api_version=access.google_version
        )
        self._client: Any = genai.Client(api_key=access.key, http_options=options)

    def __call__(self, model: str, stream: bool) -> Heard:
        off = types.AutomaticFunctionCallingConfig(disable=True)
        config = types.GenerateContentConfig(automatic_function_calling=off)
        asked = {"model": model, "contents": _TEXT, "config": config}
        frames: list[Any] = []
        try:
            if stream:
                frames.extend(self._client.models.generate_content_stream(**asked))
            else:
                frames.append(self._client.models.generate_content(**asked))
        except errors.APIError as error:
            return _failed(_google_text(frames), self._access, error)
        parts = _google_parts(frames)
        made: list[Any] = [part.function_call for part in parts if part.function_call]
        calls: list[tuple[str, Any]] = [(call.name, dict(call.args or ())) for call in made]
        reasons = [one.finish_reason.name for frame in frames for one in frame.candidates or () if one.finish_reason]
        usage = frames[-1].usage_metadata
        written = 0 if usage is None else (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        read = 0 if usage is None else usage.prompt_token_count or 0
        return _heard(_google_text(frames), calls, reasons[-1] if reasons else None, (read, written))

    def close(self) -> None:
        self._client.close()


def _google_parts(frames: list[Any]) -> list[Any]:
    contents = [candidate.content for frame in frames for candidate in frame.candidates or ()]
    return [part for content in contents if content is not None for part in content.parts or ()]


def _google_text(frames: list[Any]) -> str:
    return "".join([part.text for part in _google_parts(frames) if part.text and not part.thought])


class _Ollama:
    def __init__(self, url: str, access: Access) -> None:
        self._access = access
        self._client: Any = ollama.Client(
            host=url, headers={"authorization": f"Bearer {access.key}", **access.headers}, timeout=access.timeout_s
        )

    def __call__(self, model: str, stream: bool) -> Heard:
        lines: list[Any] = []
        try:
            told = self._client.chat(model=model, messages=[{"role": "user", "content": _TEXT}], stream=stream)
            if stream:
                lines.extend(told)
            else:
                lines.append(told)
        except ollama.ResponseError as error:
            return _failed(_ollama_text(lines), self._access, error)
        calls = [call.function for line in lines for call in line.message.tool_calls or ()]
        told_calls = [(call.name, dict(call.arguments)) for call in calls]
        last = lines[-1]
        tokens = (last.prompt_eval_count or 0, last.eval_count or 0)
        return _heard(_ollama_text(lines), told_calls, last.done_reason, tokens)

    def close(self) -> None:
        self._client._client.close()


def _ollama_text(lines: list[Any]) -> str:
    return "".join([line.message.content or "" for line in lines])


class _Cohere:
    """The SDK hands on what it can read: that an answer failed or was cut, its user sees by the last event."""

    def __init__(self, url: str, access: Access) -> None:
        self._access = access
        self._carrier = httpx.Client(timeout=access.timeout_s, headers=access.headers)
        self._client: Any = cohere.ClientV2(api_key=access.key, base_url=url, httpx_client=self._carrier, max_retries=0)

    def __call__(self, model: str, stream: bool) -> Heard:
        asked = {"model": model, "messages": [{"role": "user", "content": _TEXT}]}
        said: list[str] = []
        try:
            if stream:
                return self._streamed(self._client.chat_stream(**asked), said)
            whole = self._client.chat(**asked)
        except (ApiError, httpx.TransportError) as error:
            return _failed("".join(said), self._access, error)
        text = "".join([block.text for block in whole.message.content or () if block.type == "text"])
        calls = [(call.function.name, call.function.arguments) for call in whole.message.tool_calls or ()]
        return self._whole(text, calls, whole)

    def _streamed(self, events: Any, said: list[str]) -> Heard:
        calls: list[tuple[str, str]] = []
        last: Any = None
        for last in events:
            message: Any = getattr(getattr(last, "delta", None), "message", None)
            match last.type:
                case "content-delta":
                    said.append(message.content.text or "")
                case "tool-call-start":
                    calls.append((message.tool_calls.function.name, message.tool_calls.function.arguments))
                case "tool-call-delta":
                    name, text = calls.pop()
                    calls.append((name, text + message.tool_calls.function.arguments))
                case _:
                    pass
        if last is None or last.type != "message-end" or last.delta.finish_reason == "ERROR":
            return _failed("".join(said), self._access, getattr(getattr(last, "delta", None), "error", "it was cut"))
        return self._whole("".join(said), calls, last.delta)

    def _whole(self, text: str, calls: list[tuple[str, str]], ended: Any) -> Heard:
        counts = ended.usage.tokens if ended.usage is not None else None
        tokens = (int(counts.input_tokens), int(counts.output_tokens)) if counts is not None else (0, 0)
        return _heard(text, [(name, json.loads(said)) for name, said in calls], ended.finish_reason, tokens)

    def close(self) -> None:
        self._carrier.close()


class _Bedrock:
    """The SDK hands on what it can read: that a stream was cut, its user sees by the last event."""

    def __init__(self, url: str, access: Access) -> None:
        self._access = access
        config = botocore("config").Config(retries={"total_max_attempts": 1}, read_timeout=access.timeout_s)
        self._client: Any = boto3.session.Session().client(
            "bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config, aws_access_key_id="nobody",
            aws_secret_access_key="nothing",
        )  # fmt: skip
        self._client.meta.events.register("before-sign.bedrock-runtime.*", self._add_headers)

    def _add_headers(self, request: Any, **_: Any) -> None:
        for name, value in {"x-api-key": self._access.key, **self._access.headers}.items():
            request.headers[name] = value

    def __call__(self, model: str, stream: bool) -> Heard:
        asked = {"modelId": model, "messages": [{"role": "user", "content": [{"text": _TEXT}]}]}
        said: list[str] = []
        errors = botocore("exceptions")
        try:
            if stream:
                with closing(self._client.converse_stream(**asked)["stream"]) as events:
                    return self._streamed(events, said)
            whole = self._client.converse(**asked)
        except (errors.ClientError, errors.BotoCoreError, botocore("eventstream").ParserError) as error:
            return _failed("".join(said), self._access, error)
        blocks = whole["output"]["message"]["content"]
        calls = [(block["toolUse"]["name"], block["toolUse"]["input"]) for block in blocks if "toolUse" in block]
        text = "".join([block.get("text", "") for block in blocks])
        return _heard(text, calls, whole["stopReason"], _bedrock_tokens(whole["usage"]))

    def _streamed(self, events: Any, said: list[str]) -> Heard:
        calls: list[tuple[str, str]] = []
        reason, usage = "", dict[str, int]()
        for event in events:
            delta = event.get("contentBlockDelta", {}).get("delta", {})
            said.append(delta.get("text", ""))
            if "contentBlockStart" in event:
                calls.append((event["contentBlockStart"]["start"]["toolUse"]["name"], ""))
            if "toolUse" in delta:
                name, text = calls.pop()
                calls.append((name, text + delta["toolUse"]["input"]))
            reason = event.get("messageStop", {}).get("stopReason", reason)
            usage = event.get("metadata", {}).get("usage", usage)
        if not reason:
            return _failed("".join(said), self._access, "it was cut")
        made = [(name, json.loads(text or "{}")) for name, text in calls]
        return _heard("".join(said), made, reason, _bedrock_tokens(usage))

    def close(self) -> None:
        self._client.close()


def _bedrock_tokens(usage: dict[str, int]) -> tuple[int, int]:
    cached = usage.get("cacheReadInputTokens", 0) + usage.get("cacheWriteInputTokens", 0)
    return usage.get("inputTokens", 0) + cached, usage.get("outputTokens", 0)


_LISTENERS: dict[str, Callable[[str, Access], Any]] = {
    "openai-chat": _Chat,
    "openai-responses": _Responses,
    "anthropic": _Messages,
    "google": _Google,
    "ollama": _Ollama,
    "cohere": _Cohere,
    "bedrock": _Bedrock,
}
