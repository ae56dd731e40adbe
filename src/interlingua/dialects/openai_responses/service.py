"""The facts of Responses beside its bodies, for a server and a caller.

Source: vendor pages "Responses", "Conversation state", "WebSocket mode", "Error codes"; read in November 2026.
"""

from __future__ import annotations

from typing import Any

from interlingua.dialects._late import late, late_pair
from interlingua.dialects._openai.service import PHRASES
from interlingua.dialects._service import (
    MESSAGE_LIST,
    AnswerStore,
    Count,
    IdPlaces,
    LimitFields,
    Phrase,
    Service,
    ServicePath,
)
from interlingua.errors import ContextWindowExceededError

__all__ = ["SERVICE"]

_FOREIGN = frozenset({"image_url", "tool_use", "tool_result"})
"""Types of parts that only another dialect has; the reader of Responses understands them, its providers do not."""
_SPACES = "interlingua.dialects.openai_responses.spaces"
_PLACES = IdPlaces(("id",), maps=("variables",))


def _is_unusual(node: dict[str, Any]) -> bool:
    """Whether an object of a history has arguments that are no text, or a part of another dialect."""
    if "arguments" in node and type(node["arguments"]) is not str:
        return True
    kind = node.get("type")
    return type(kind) is str and kind in _FOREIGN


SERVICE = Service(
    paths=(
        ServicePath("conversation", "/v1/responses"),
        ServicePath("conversation", "/openai/v1/responses"),
        ServicePath("conversation", "/openai/responses"),
        ServicePath("count", "/v1/responses/input_tokens"),
        ServicePath("compact", "/v1/responses/compact"),
        ServicePath("socket", "/v1/responses", "GET"),
        ServicePath("answer", "/v1/responses/{id}", "GET"),
        ServicePath("answer_delete", "/v1/responses/{id}", "DELETE"),
        ServicePath("answer_cancel", "/v1/responses/{id}/cancel"),
        ServicePath("answer_items", "/v1/responses/{id}/input_items", "GET"),
    ),
    prefixes=("/v1/responses",),
    needs={"input": {"anyOf": [{"type": "string", "minLength": 1}, MESSAGE_LIST]}},
    message_members=("input", "previous_response_id", "conversation", "prompt"),
    kept_objects=("prompt",),
    data=("output_schema",),
    limits=LimitFields(("max_output_tokens",)),
    background="background",
    is_unusual=_is_unusual,
    id_places=_PLACES,
    kept_places=_PLACES,
    id_prefix="resp_",
    phrases={
        **PHRASES,
        ContextWindowExceededError: Phrase(  # LiteLLM and langchain look for the words of Chat here, too
            "Your input exceeds the context window of this model. Input tokens exceed the configured limit:",
            "input tokens exceed the configured limit",
        ),
    },
    store=AnswerStore(
        late(_SPACES, "without_spaces"),
        late_pair(_SPACES, "in_spaces"),
        late_pair(_SPACES, "in_spaces_event"),
    ),
    path="/responses",
    headers=frozenset({"openai-beta"}),
    count=Count("/responses/input_tokens", "input_tokens", {"object": "response.input_tokens"}),
    embeds="openai-chat",
    reranks="openai-chat",
    batches={"vendor": "interlingua.dialects._openai.batches"},
    base_path="/v1",
    vendor="openai",
    sockets=True,
)
"""Responses beside its bodies."""
