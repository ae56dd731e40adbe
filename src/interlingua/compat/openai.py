"""`OpenAI` and `AsyncOpenAI`: the SDK's chat completions, responses and embeddings, answered by any model.

```python
from interlingua.compat import OpenAI

client = OpenAI()
reply = client.chat.completions.create(model="anthropic/claude-opus-5", messages=[{"role": "user", "content": "Hi"}])
print(reply.choices[0].message.content)
```

Rules
- The members of the body are the SDK's; `timeout`, `extra_headers` and `extra_body` are taken as the SDK takes them.
- Answers are small objects over the JSON; `.interlingua` is the canonical answer, `.changes` what translation changed.
- A client holds no connection, so closing it does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType
    from typing import Self

    from interlingua.compat.account import Account, Key
    from interlingua.compat.asking import PreparedCall
    from interlingua.compat.async_streams import AsyncStream
    from interlingua.compat.chat import ChatCompletion, ChatCompletionChunk, ParsedChatCompletion
    from interlingua.compat.embeddings import CreateEmbeddingResponse
    from interlingua.compat.responses import ParsedResponse, ResponseObject, ResponseStreamEvent
    from interlingua.compat.streams import Stream

__all__ = [
    "AsyncChat",
    "AsyncCompletions",
    "AsyncEmbeddings",
    "AsyncOpenAI",
    "AsyncResponses",
    "Chat",
    "Completions",
    "Embeddings",
    "OpenAI",
    "Responses",
]

CHAT = "openai-chat"
RESPONSES = "openai-responses"

T = TypeVar("T")


class _Unsaid:
    """The stand-in for an argument that was not given, where None says something."""


_UNSAID = _Unsaid()


class _Named:
    """Says what there is to whoever asks for something else."""

    _has = ""

    if not TYPE_CHECKING:  # type checkers are to know what there is alone

        def __getattr__(self, name: str) -> Any:
            there = f"; there is {self._has}" if not name.startswith("_") else ""
            raise AttributeError(f"{type(self).__name__} of interlingua has no {name!r}{there}", name=name, obj=self)


class _Client(_Named):
    """The shared half of both clients."""

    _has = "chat.completions, responses and embeddings, and il.model(…) does more"

    def __init__(
        self,
        *,
        api_key: Key | None = None,
        base_url: object = None,
        timeout: object = _UNSAID,
        default_headers: Mapping[str, str] | None = None,
        max_retries: int | None = None,
        **others: object,
    ) -> None:
        """A client; what is not given comes from the environment, as for `il.model`.

        Raises: UsageError for an argument that is not taken here, with the way out.
        """
        from interlingua.compat.account import account_of, refuse

        refuse(others)
        self._options: dict[str, Any] = {
            "api_key": api_key,
            "base_url": base_url,
            "timeout": timeout,
            "default_headers": default_headers,
            "max_retries": max_retries,
        }
        self._account: Account = account_of(
            api_key=api_key,
            base_url=base_url,
            timeout=timeout,
            default_headers=default_headers,
            max_retries=max_retries,
            has_timeout=not (timeout is _UNSAID or type(timeout).__name__ in {"NotGiven", "Omit"}),
        )

    def with_options(self, **options: Any) -> Self:
        """A copy with other arguments.

        Raises: UsageError for an argument that is not taken here.
        """
        return type(self)(**{**self._options, **options})

    def copy(self, **options: Any) -> Self:
        """`with_options` under its other name.

        Raises: UsageError for an argument that is not taken here.
        """
        return self.with_options(**options)


class Completions(_Named):
    """`chat.completions` of a client."""

    _has = "create and parse"

    def __init__(self, account: Account) -> None:
        """The resource of one client."""
        self._account = account

    @overload
    def create(
        self, *, model: str, messages: Iterable[object], stream: Literal[True], **body: Any
    ) -> Stream[ChatCompletionChunk]: ...

    @overload
    def create(
        self, *, model: str, messages: Iterable[object], stream: Literal[False] | None = None, **body: Any
    ) -> ChatCompletion: ...

    @overload
    def create(
        self, *, model: str, messages: Iterable[object], stream: bool | None = None, **body: Any
    ) -> ChatCompletion | Stream[ChatCompletionChunk]: ...

    def create(
        self, *, model: str, messages: Iterable[object], stream: bool | None = None, **body: Any
    ) -> ChatCompletion | Stream[ChatCompletionChunk]:
        """The answer to a body of Chat Completions, as a whole or as it comes.

        Raises: whatever `il.Model.generate` and `stream` raise; DecodeError with the place for a bad body.
        """
        from interlingua.compat.calls import answered, streamed
        from interlingua.compat.chat import ChatCompletion, ChatCompletionChunk

        prepared = _prepare(CHAT, self._account, {"model": model, "messages": messages, **body}, stream=stream)
        return streamed(prepared, ChatCompletionChunk) if stream else answered(prepared, ChatCompletion)

    def parse(
        self, *, model: str, messages: Iterable[object], response_format: type[T], **body: Any
    ) -> ParsedChatCompletion[T]:
        """The answer as a value of the type `response_format`: `choices[0].message.parsed`.

        Raises: the same; OutputError for an answer that is cut or not of that type.
        """
        from interlingua.compat.calls import asked_of, parsed_chat

        members = {"model": model, "messages": messages, **body}
        return parsed_chat(asked_of(CHAT, self._account, members, response_format), response_format)


class AsyncCompletions(_Named):
    """`chat.completions` of an awaited client."""

    _has = "create and parse"

    def __init__(self, account: Account) -> None:
        """The resource of one client."""
        self._account = account

    @overload
    async def create(
        self, *, model: str, messages: Iterable[object], stream: Literal[True], **body: Any
    ) -> AsyncStream[ChatCompletionChunk]: ...

    @overload
    async def create(
        self, *, model: str, messages: Iterable[object], stream: Literal[False] | None = None, **body: Any
    ) -> ChatCompletion: ...

    @overload
    async def create(
        self, *, model: str, messages: Iterable[object], stream: bool | None = None, **body: Any
    ) -> ChatCompletion | AsyncStream[ChatCompletionChunk]: ...

    async def create(
        self, *, model: str, messages: Iterable[object], stream: bool | None = None, **body: Any
    ) -> ChatCompletion | AsyncStream[ChatCompletionChunk]:
        """The answer to a body of Chat Completions, as a whole or as it comes.

        Raises: whatever `il.Model.generate` and `stream` raise; DecodeError with the place for a bad body.
        """
        from interlingua.compat.calls import answered_async, streamed_async
        from interlingua.compat.chat import ChatCompletion, ChatCompletionChunk

        prepared = _prepare(CHAT, self._account, {"model": model, "messages": messages, **body}, stream=stream)
        return await (
            streamed_async(prepared, ChatCompletionChunk) if stream else answered_async(prepared, ChatCompletion)
        )

    async def parse(
        self, *, model: str, messages: Iterable[object], response_format: type[T], **body: Any
    ) -> ParsedChatCompletion[T]:
        """The answer as a value of the type `response_format`: `choices[0].message.parsed`.

        Raises: the same; OutputError for an answer that is cut or not of that type.
        """
        from interlingua.compat.calls import asked_of, parsed_chat_async

        members = {"model": model, "messages": messages, **body}
        prepared = asked_of(CHAT, self._account, members, response_format)
        return await parsed_chat_async(prepared, response_format)


class Responses(_Named):
    """`responses` of a client."""

    _has = "create and parse"

    def __init__(self, account: Account) -> None:
        """The resource of one client."""
        self._account = account

    @overload
    def create(self, *, model: str, stream: Literal[True], **body: Any) -> Stream[ResponseStreamEvent]: ...

    @overload
    def create(self, *, model: str, stream: Literal[False] | None = None, **body: Any) -> ResponseObject: ...

    @overload
    def create(
        self, *, model: str, stream: bool | None = None, **body: Any
    ) -> ResponseObject | Stream[ResponseStreamEvent]: ...

    def create(
        self, *, model: str, stream: bool | None = None, **body: Any
    ) -> ResponseObject | Stream[ResponseStreamEvent]:
        """The answer to a body of Responses, as a whole or as it comes.

        Raises: whatever `il.Model.generate` and `stream` raise; DecodeError with the place for a bad body.
        """
        from interlingua.compat.calls import answered, streamed
        from interlingua.compat.responses import ResponseObject, ResponseStreamEvent

        prepared = _prepare(RESPONSES, self._account, {"model": model, **body}, stream=stream)
        return streamed(prepared, ResponseStreamEvent) if stream else answered(prepared, ResponseObject)

    def parse(self, *, model: str, text_format: type[T], **body: Any) -> ParsedResponse[T]:
        """The answer as a value of the type `text_format`: `output_parsed`.

        Raises: the same; OutputError for an answer that is cut or not of that type.
        """
        from interlingua.compat.calls import asked_of, parsed_response

        prepared = asked_of(RESPONSES, self._account, {"model": model, **body}, text_format)
        return parsed_response(prepared, text_format)


class AsyncResponses(_Named):
    """`responses` of an awaited client."""

    _has = "create and parse"

    def __init__(self, account: Account) -> None:
        """The resource of one client."""
        self._account = account

    @overload
    async def create(self, *, model: str, stream: Literal[True], **body: Any) -> AsyncStream[ResponseStreamEvent]: ...

    @overload
    async def create(self, *, model: str, stream: Literal[False] | None = None, **body: Any) -> ResponseObject: ...

    @overload
    async def create(
        self, *, model: str, stream: bool | None = None, **body: Any
    ) -> ResponseObject | AsyncStream[ResponseStreamEvent]: ...

    async def create(
        self, *, model: str, stream: bool | None = None, **body: Any
    ) -> ResponseObject | AsyncStream[ResponseStreamEvent]:
        """The answer to a body of Responses, as a whole or as it comes.

        Raises: whatever `il.Model.generate` and `stream` raise; DecodeError with the place for a bad body.
        """
        from interlingua.compat.calls import answered_async, streamed_async
        from interlingua.compat.responses import ResponseObject, ResponseStreamEvent

        prepared = _prepare(RESPONSES, self._account, {"model": model, **body}, stream=stream)
        return await (
            streamed_async(prepared, ResponseStreamEvent) if stream else answered_async(prepared, ResponseObject)
        )

    async def parse(self, *, model: str, text_format: type[T], **body: Any) -> ParsedResponse[T]:
        """The answer as a value of the type `text_format`: `output_parsed`.

        Raises: the same; OutputError for an answer that is cut or not of that type.
        """
        from interlingua.compat.calls import asked_of, parsed_response_async

        prepared = asked_of(RESPONSES, self._account, {"model": model, **body}, text_format)
        return await parsed_response_async(prepared, text_format)


class Embeddings(_Named):
    """`embeddings` of a client."""

    _has = "create"

    def __init__(self, account: Account) -> None:
        """The resource of one client."""
        self._account = account

    def create(self, *, model: str, input: object, **body: Any) -> CreateEmbeddingResponse:
        """The vectors of a text or of several, in their order; a list of numbers each, unless base64 is asked for.

        Raises: whatever `il.embed` raises; DecodeError with the place for a bad body.
        """
        from interlingua.compat.embeddings import embeddings

        return embeddings(self._account, {"model": model, "input": input, **body})


class AsyncEmbeddings(_Named):
    """`embeddings` of an awaited client."""

    _has = "create"

    def __init__(self, account: Account) -> None:
        """The resource of one client."""
        self._account = account

    async def create(self, *, model: str, input: object, **body: Any) -> CreateEmbeddingResponse:
        """The vectors of a text or of several, in their order; a list of numbers each, unless base64 is asked for.

        Raises: whatever `il.embed` raises; DecodeError with the place for a bad body.
        """
        from interlingua.compat.embeddings import embeddings_async

        return await embeddings_async(self._account, {"model": model, "input": input, **body})


def _prepare(name: str, account: Account, members: dict[str, Any], *, stream: bool | None) -> PreparedCall:
    from interlingua.compat.calls import asked_of

    return asked_of(name, account, {**members, "stream": stream})


class Chat(_Named):
    """`chat` of a client."""

    _has = "completions"

    def __init__(self, account: Account) -> None:
        """The resource of one client."""
        self.completions: Completions = Completions(account)
        """Chat Completions."""


class AsyncChat(_Named):
    """`chat` of an awaited client."""

    _has = "completions"

    def __init__(self, account: Account) -> None:
        """The resource of one client."""
        self.completions: AsyncCompletions = AsyncCompletions(account)
        """Chat Completions."""


class OpenAI(_Client):
    """The SDK's blocking client, for any model; it may be shared by threads."""

    @property
    def chat(self) -> Chat:
        """Chat Completions."""
        return Chat(self._account)

    @property
    def responses(self) -> Responses:
        """Responses."""
        return Responses(self._account)

    @property
    def embeddings(self) -> Embeddings:
        """Vectors of texts."""
        return Embeddings(self._account)

    def close(self) -> None:
        """Nothing: a client holds no connection."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncOpenAI(_Client):
    """The SDK's awaited client, for any model."""

    @property
    def chat(self) -> AsyncChat:
        """Chat Completions."""
        return AsyncChat(self._account)

    @property
    def responses(self) -> AsyncResponses:
        """Responses."""
        return AsyncResponses(self._account)

    @property
    def embeddings(self) -> AsyncEmbeddings:
        """Vectors of texts."""
        return AsyncEmbeddings(self._account)

    async def close(self) -> None:
        """Nothing: a client holds no connection."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
