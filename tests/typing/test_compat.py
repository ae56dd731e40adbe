"""What type checkers must know about the answers of `interlingua.compat`. Read by pyright and mypy, never run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

from interlingua.compat import (
    AsyncOpenAI,
    AsyncStream,
    ChatCompletion,
    ChatCompletionChunk,
    OpenAI,
    ResponseObject,
    ResponseStreamEvent,
    Stream,
    acompletion,
    completion,
)
from interlingua.types.change import Change


@dataclass
class Trip:
    """A value to ask for."""

    city: str


HI = [{"role": "user", "content": "Hi"}]


def blocking(client: OpenAI, stream: bool) -> None:
    """What is given depends on `stream`, and a type is a value of it."""
    reply = client.chat.completions.create(model="m", messages=HI, temperature=0.5)
    assert_type(reply, ChatCompletion)
    assert_type(reply.choices[0].message.content, str | None)
    assert_type(reply.changes, tuple[Change, ...])
    assert_type(client.chat.completions.create(model="m", messages=HI, stream=True), Stream[ChatCompletionChunk])
    either = client.chat.completions.create(model="m", messages=HI, stream=stream)
    assert_type(either, ChatCompletion | Stream[ChatCompletionChunk])
    parsed = client.chat.completions.parse(model="m", messages=HI, response_format=Trip)
    assert_type(parsed.choices[0].message.parsed, Trip | None)
    assert_type(client.responses.create(model="m", input="Hi"), ResponseObject)
    assert_type(client.responses.create(model="m", input="Hi", stream=True), Stream[ResponseStreamEvent])
    assert_type(client.responses.parse(model="m", input="Hi", text_format=Trip).output_parsed, Trip | None)
    assert_type(completion("m", HI), ChatCompletion)
    for chunk in completion("m", HI, stream=True):
        assert_type(chunk.choices[0].delta.content, str | None)


async def awaited(client: AsyncOpenAI) -> None:
    """The same, awaited."""
    assert_type(await client.chat.completions.create(model="m", messages=HI), ChatCompletion)
    stream = await client.chat.completions.create(model="m", messages=HI, stream=True)
    assert_type(stream, AsyncStream[ChatCompletionChunk])
    parsed = await client.responses.parse(model="m", input="Hi", text_format=Trip)
    assert_type(parsed.output_parsed, Trip | None)
    assert_type(await acompletion("m", HI), ChatCompletion)
    async for chunk in await acompletion("m", HI, stream=True):
        assert_type(chunk, ChatCompletionChunk)
