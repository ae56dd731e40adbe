"""Coming from somewhere else: the bodies that the OpenAI SDK and LiteLLM taught everyone, answered by any model.

```python
from interlingua.compat import OpenAI, completion

OpenAI().chat.completions.create(model="anthropic/claude-opus-5", messages=[{"role": "user", "content": "Hi"}])
completion("anthropic/claude-opus-5", [{"role": "user", "content": "Hi"}])
```

Neither package is needed. The errors of `interlingua` are here under the names that the SDK has for them, so that an
`except` stays as it is: `APIConnectionError` is every failure on the way there and back, time-outs included, and
`APIStatusError` every error that the provider answered with. Importing this module loads nothing.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua.compat.async_streams import AsyncStream
    from interlingua.compat.chat import ChatCompletion, ChatCompletionChunk
    from interlingua.compat.embeddings import CreateEmbeddingResponse
    from interlingua.compat.litellm import acompletion, aembedding, completion, embedding
    from interlingua.compat.openai import AsyncOpenAI, OpenAI
    from interlingua.compat.responses import ResponseObject, ResponseStreamEvent
    from interlingua.compat.streams import Stream
    from interlingua.errors import (
        APITimeoutError,
        AuthenticationError,
        BadRequestError,
        ContentPolicyViolationError,
        ContextWindowExceededError,
        InternalServerError,
        NotFoundError,
        PermissionDeniedError,
        RateLimitError,
    )
    from interlingua.errors import Error as APIError
    from interlingua.errors import Error as OpenAIError
    from interlingua.errors import TransportError as APIConnectionError
    from interlingua.errors import UpstreamError as APIStatusError

__all__ = [
    "APIConnectionError",
    "APIError",
    "APIStatusError",
    "APITimeoutError",
    "AsyncOpenAI",
    "AsyncStream",
    "AuthenticationError",
    "BadRequestError",
    "ChatCompletion",
    "ChatCompletionChunk",
    "ContentPolicyViolationError",
    "ContextWindowExceededError",
    "CreateEmbeddingResponse",
    "InternalServerError",
    "NotFoundError",
    "OpenAI",
    "OpenAIError",
    "PermissionDeniedError",
    "RateLimitError",
    "ResponseObject",
    "ResponseStreamEvent",
    "Stream",
    "acompletion",
    "aembedding",
    "completion",
    "embedding",
]

_NAMES = {
    "compat.async_streams": "AsyncStream",
    "compat.chat": "ChatCompletion ChatCompletionChunk",
    "compat.embeddings": "CreateEmbeddingResponse",
    "compat.litellm": "acompletion aembedding completion embedding",
    "compat.openai": "AsyncOpenAI OpenAI",
    "compat.responses": "ResponseObject ResponseStreamEvent",
    "compat.streams": "Stream",
    "errors": (
        "APITimeoutError AuthenticationError BadRequestError ContentPolicyViolationError ContextWindowExceededError "
        "InternalServerError NotFoundError PermissionDeniedError RateLimitError"
    ),
}
_PLACES = {name: (module, name) for module, names in _NAMES.items() for name in names.split()} | {
    "APIConnectionError": ("errors", "TransportError"),
    "APIError": ("errors", "Error"),
    "APIStatusError": ("errors", "UpstreamError"),
    "OpenAIError": ("errors", "Error"),
}
"""Every public name: the module that defines it, and what it is called there."""


def __getattr__(name: str) -> object:
    """The public thing of that name, imported when it is asked for the first time."""
    from importlib import import_module

    if name not in _PLACES:
        from interlingua.compat.words import word_for  # only who errs needs it

        instead = word_for(__name__, name)
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}{instead}", name=name, obj=sys.modules[__name__]
        )
    module, own_name = _PLACES[name]
    value = getattr(import_module(f"interlingua.{module}"), own_name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
