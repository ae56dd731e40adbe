"""LiteLLM's functions, answered by any model: `completion` and `embedding`, and both awaited.

Rules
- Names of models are LiteLLM's or ours; a prefix that is called otherwise here is read as ours.
- `fallbacks` makes a chain, `num_retries` says how often each target is asked again; `drop_params=False` refuses what a
  target cannot take; `timeout` is as in the SDK.
- `api_key` goes to the provider of the model; `api_base` and `base_url` say where that is.
- What steers LiteLLM and is not done here is refused in words; everything else is a member of the body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from interlingua.compat.litellm_models import named
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.compat.account import Account
    from interlingua.compat.asking import PreparedCall
    from interlingua.compat.async_streams import AsyncStream
    from interlingua.compat.chat import ChatCompletion, ChatCompletionChunk
    from interlingua.compat.embeddings import CreateEmbeddingResponse
    from interlingua.compat.streams import Stream

__all__ = ["acompletion", "aembedding", "completion", "embedding"]

_STEERING = {
    "api_version": "an api version belongs in the provider's DSN: LLM_WORK='azure://key@host?api_version=…'",
    "cache": "il.ResponseCache among the hooks of il.model keeps answers",
    "caching": "il.ResponseCache among the hooks of il.model keeps answers",
    "context_window_fallback_dict": "a chain as the model goes on to the next target",
    "cooldown_time": "the circuit breaker of a failing target opens by itself, for longer each time",
    "custom_llm_provider": "the model's name says who serves it: 'provider/model'",
    "input_cost_per_token": "prices belong to the provider, not to the call",
    "logger_fn": "il.aio and il.model(…) take no logger",
    "mock_response": "interlingua.testing has FakeModel and use(…)",
    "model_list": "an alias names a chain: LLM_SMART='a/b,c/d'",
    "output_cost_per_token": "prices belong to the provider, not to the call",
    "retry_strategy": "pauses grow by themselves, and what the server asks for is kept to",
}
"""Arguments that steer LiteLLM, and the way out."""


@overload
def completion(
    model: str, messages: Iterable[object], *, stream: Literal[True], **body: Any
) -> Stream[ChatCompletionChunk]: ...


@overload
def completion(
    model: str, messages: Iterable[object], *, stream: Literal[False] | None = None, **body: Any
) -> ChatCompletion: ...


@overload
def completion(
    model: str, messages: Iterable[object], *, stream: bool | None = None, **body: Any
) -> ChatCompletion | Stream[ChatCompletionChunk]: ...


def completion(
    model: str, messages: Iterable[object], *, stream: bool | None = None, **body: Any
) -> ChatCompletion | Stream[ChatCompletionChunk]:
    """The answer to a body of Chat Completions, as a whole or as it comes.

    Raises: whatever `il.Model.generate` and `stream` raise; UsageError for what is not taken here, with the way out.
    """
    from interlingua.compat.calls import answered, streamed
    from interlingua.compat.chat import ChatCompletion, ChatCompletionChunk

    prepared = _prepare(model, {"messages": messages, "stream": stream, **body})
    return streamed(prepared, ChatCompletionChunk) if stream else answered(prepared, ChatCompletion)


@overload
async def acompletion(
    model: str, messages: Iterable[object], *, stream: Literal[True], **body: Any
) -> AsyncStream[ChatCompletionChunk]: ...


@overload
async def acompletion(
    model: str, messages: Iterable[object], *, stream: Literal[False] | None = None, **body: Any
) -> ChatCompletion: ...


@overload
async def acompletion(
    model: str, messages: Iterable[object], *, stream: bool | None = None, **body: Any
) -> ChatCompletion | AsyncStream[ChatCompletionChunk]: ...


async def acompletion(
    model: str, messages: Iterable[object], *, stream: bool | None = None, **body: Any
) -> ChatCompletion | AsyncStream[ChatCompletionChunk]:
    """The answer to a body of Chat Completions, as a whole or as it comes.

    Raises: whatever `il.Model.generate` and `stream` raise; UsageError for what is not taken here, with the way out.
    """
    from interlingua.compat.calls import answered_async, streamed_async
    from interlingua.compat.chat import ChatCompletion, ChatCompletionChunk

    prepared = _prepare(model, {"messages": messages, "stream": stream, **body})
    return await (streamed_async(prepared, ChatCompletionChunk) if stream else answered_async(prepared, ChatCompletion))


def embedding(model: str, input: object = (), **body: Any) -> CreateEmbeddingResponse:
    """The vectors of a text or of several, in their order.

    Raises: whatever `il.embed` raises; UsageError for what is not taken here, with the way out.
    """
    from interlingua.compat.embeddings import embeddings

    return embeddings(_account_of(model, body), {"input": input, **body})


async def aembedding(model: str, input: object = (), **body: Any) -> CreateEmbeddingResponse:
    """`embedding`, awaited.

    Raises: whatever `il.embed` raises; UsageError for what is not taken here, with the way out.
    """
    from interlingua.compat.embeddings import embeddings_async

    return await embeddings_async(_account_of(model, body), {"input": input, **body})


def _prepare(model: str, body: dict[str, Any]) -> PreparedCall:
    from interlingua.compat.calls import asked_of

    account = _account_of(model, body)
    output = body.pop("response_format") if isinstance(body.get("response_format"), type) else None
    return asked_of("openai-chat", account, body, output)


def _account_of(model: str, body: dict[str, Any]) -> Account:
    """The account of a call, whose body gets the model and keeps its own members alone.

    Raises: UsageError for what is not taken here, with the way out.
    """
    for name, way in _STEERING.items():
        if body.pop(name, None):
            raise UsageError(f"{name} is not taken here: {way}")
    from interlingua.compat.account import Account, retries_of
    from interlingua.registry.secret import Secret

    address = body.pop("base_url", None) or body.pop("api_base", None)
    body.pop("api_base", None)
    key = Secret.of_argument(body.pop("api_key", None) or None)  # LiteLLM takes an empty one for none
    strict = body.pop("drop_params", None) is False
    # LiteLLM has two names for how often a target is asked again, and the first one counts.
    first, second = (retries_of(body.pop(name, None), name) for name in ("num_retries", "max_retries"))
    account = Account(
        api_key=key,
        base_url=None if address is None else str(address),
        own=None,
        strict=strict,
        retries=second if first is None else first,
    )
    chain = ",".join([model, *_fallbacks(body.pop("fallbacks", None))])
    body["model"] = model if account.base_url else ",".join([_spec(name.strip()) for name in chain.split(",")])
    if account.base_url and chain != model:
        raise UsageError("fallbacks and api_base together: the fallbacks would be called at that address, too")
    body["extra_headers"] = {**(body.pop("headers", None) or {}), **(body.get("extra_headers") or {})}
    return account


def _fallbacks(names: object) -> list[str]:
    if names is None:
        return []
    if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):  # pyright: ignore[reportUnknownVariableType]  # of what, is asked here
        return [str(name) for name in names]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # the same
    raise UsageError("fallbacks takes a list of names of models")


def _spec(model: str) -> str:
    """LiteLLM's name of a model as a spec; Claude is Anthropic's without being said so."""
    provider, slash, name = model.partition("/")
    if not slash:
        return f"anthropic/{model}" if model.startswith("claude-") else model
    row, name, region = named(provider, name)
    if region:
        raise UsageError(
            f"the region {region} belongs in AWS_REGION, or in a DSN: LLM_WORK='bedrock://?region={region}'"
        )
    return f"{row}/{name}"
