"""Both faces of the official SDK behind one interface, and its own types as a judge of what it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import openai
from openai.types import ErrorObject
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.support.chat_server import KEY, ChatServer

__all__ = ["MODEL", "Sdk", "judge"]

T = TypeVar("T")
MODEL = "gpt-6-astra"


class Sdk:
    """The blocking or the awaited client of one server, called in the same way."""

    def __init__(self, chat: ChatServer, *, awaited: bool, max_retries: int = 0) -> None:
        """A client that retries only when a test says so."""
        self.awaited = awaited
        self.options: dict[str, Any] = {"base_url": chat.url, "api_key": KEY, "max_retries": max_retries}

    def create(self, **body: Any) -> Any:
        """What `chat.completions.create` gives."""
        if self.awaited:
            return self._run(self._create(body))
        with self._client() as client:
            return client.chat.completions.create(**_asked(body))

    def parse(self, **body: Any) -> Any:
        """What `chat.completions.parse` gives."""
        if self.awaited:
            return self._run(self._parse(body))
        with self._client() as client:
            return client.chat.completions.parse(**_asked(body))

    def chunks(self, **body: Any) -> list[Any]:
        """Every chunk of a stream."""
        if self.awaited:
            return self._run(self._chunks(body))
        with self._client() as client, client.chat.completions.create(**_asked(body), stream=True) as told:
            return list(told)

    def helper(self, **body: Any) -> tuple[list[Any], Any]:
        """Every event of the stream helper, and the completion it adds up to."""
        if self.awaited:
            return self._run(self._helper(body))
        with self._client() as client, client.chat.completions.stream(**_asked(body)) as told:
            return list(told), told.get_final_completion()

    def final(self, **body: Any) -> Any:
        """The completion that the events of the stream helper add up to."""
        return self.helper(**body)[1]

    # Reading the machine's certificates would take longer than everything else, and nothing here is encrypted.

    def _client(self) -> Any:
        return openai.OpenAI(**self.options, http_client=openai.DefaultHttpxClient(verify=False))

    def _async_client(self) -> Any:
        return openai.AsyncOpenAI(**self.options, http_client=openai.DefaultAsyncHttpxClient(verify=False))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    async def _create(self, body: dict[str, Any]) -> Any:
        async with self._async_client() as client:
            return await client.chat.completions.create(**_asked(body))

    async def _parse(self, body: dict[str, Any]) -> Any:
        async with self._async_client() as client:
            return await client.chat.completions.parse(**_asked(body))

    async def _chunks(self, body: dict[str, Any]) -> list[Any]:
        async with self._async_client() as client:
            told = await client.chat.completions.create(**_asked(body), stream=True)
            async with told:
                return [chunk async for chunk in told]

    async def _helper(self, body: dict[str, Any]) -> tuple[list[Any], Any]:
        async with self._async_client() as client, client.chat.completions.stream(**_asked(body)) as told:
            return [event async for event in told], await told.get_final_completion()


def _asked(body: dict[str, Any]) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}], **body}


def judge(chat: ChatServer) -> None:
    """Fail unless everything that the server sent is what the SDK's types say, strictly."""
    for body in chat.bodies:
        ChatCompletion.model_validate(body, strict=True)
    for chunk in chat.chunks:
        if "error" in chunk:
            ErrorObject.model_validate(chunk["error"], strict=True)
        else:
            ChatCompletionChunk.model_validate(chunk, strict=True)
