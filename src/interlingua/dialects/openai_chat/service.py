"""The facts of Chat beside its bodies, for a server and a caller.

Source: vendor pages "Chat Completions", "Rate limits", "Error codes"; OpenRouter "App Attribution" (its own clients
insist on `provider`); read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._openai.service import PHRASES
from interlingua.dialects._service import IdPlaces, LimitFields, ModelForm, Service, ServicePath, passed_on

if TYPE_CHECKING:
    from interlingua.dialects._service import ListedModel

__all__ = ["SERVICE"]

_FOREIGN = frozenset({"image", "document", "tool_use", "tool_result", "input_text", "input_image"})
"""Types of parts that only another dialect has; the reader of Chat understands them, its providers do not."""


def _is_unusual(node: dict[str, Any]) -> bool:
    """Whether an object of a history has arguments that are no text, or a part of another dialect."""
    if "arguments" in node and type(node["arguments"]) is not str:
        return True
    kind = node.get("type")
    return type(kind) is str and kind in _FOREIGN


def _one(model: ListedModel) -> dict[str, Any]:
    return {"id": model.id, "object": "model", "created": 0, "owned_by": model.owner}


def _whole(models: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
    del query  # the list has no pages
    return {"object": "list", "data": models}


SERVICE = Service(
    paths=(
        ServicePath("conversation", "/v1/chat/completions"),
        ServicePath("conversation", "/api/v1/chat/completions"),
        ServicePath("conversation", "/openai/v1/chat/completions"),
        ServicePath("conversation", "/openai/deployments/{deployment:path}/chat/completions"),
        ServicePath("embed", "/v1/embeddings"),
        ServicePath("rerank", "/v1/rerank"),
        ServicePath("embed", "/openai/v1/embeddings"),
        ServicePath("embed", "/openai/deployments/{deployment:path}/embeddings"),
        *passed_on([("POST", "/v1/completions")], "prompt"),
        *passed_on([("POST", "/v1/images/{rest}"), ("POST", "/v1/audio/{rest}"), ("POST", "/v1/batches")], "unread"),
        *passed_on(
            [
                ("POST", "/v1/moderations"),
                ("POST", "/v1/uploads"),
                ("POST", "/v1/uploads/{rest:path}"),
                ("GET", "/v1/batches"),
                ("GET POST", "/v1/batches/{rest:path}"),
                ("POST", "/v1/conversations"),
                ("GET POST DELETE", "/v1/conversations/{rest:path}"),
                ("GET POST", "/v1/vector_stores"),
                ("GET POST DELETE", "/v1/vector_stores/{rest:path}"),
                ("GET POST", "/v1/containers"),
                ("GET POST DELETE", "/v1/containers/{rest:path}"),
            ]
        ),
    ),
    prefixes=("/api/v1/",),
    provider_paths=("/api/v1/",),
    provider_headers=("http-referer", "x-title", "x-openrouter-title"),
    data=("reasoning_details",),
    limits=LimitFields(("max_completion_tokens", "max_tokens"), choices=("n", "n_cmpl", "best_of"), by_quirk=True),
    usage_if_asked=True,
    media_names=frozenset({"wav", "mp3", "flac", "ogg", "opus", "aac", "aiff", "m4a", "webm", "pcm16"}),
    is_unusual=_is_unusual,
    id_places=IdPlaces(("audio.id",)),
    kept_places=IdPlaces(("id",), maps=("variables",)),
    id_prefix="chatcmpl-",
    phrases=PHRASES,
    thoughts="unasked",
    models=ModelForm(_one, _whole),
    path="/chat/completions",
    headers=frozenset({"openai-beta"}),
    passed_headers=("openai-beta",),
    embeds="openai-chat",
    reranks="openai-chat",
    batches={
        "vendor": "interlingua.dialects._openai.batches",
        "jobs": "interlingua.dialects.openai_chat.batch_jobs",
    },
    upstream_dialects=("openai-chat", "openai-responses"),
    base_path="/v1",
    scheme="openai-compatible",
    vendor="openai",
)
"""Chat beside its bodies."""
