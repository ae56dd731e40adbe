"""The facts of Cohere's chat API beside its bodies, for a server and a caller.

Source: cohere-python 7.3.1, `core/client_wrapper.py`, `core/http_client.py`, `v2/raw_client.py`, `models`; read in
November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._service import LimitFields, ModelForm, Phrase, Service, ServicePath, bounded_number
from interlingua.errors import AuthenticationError, ContextWindowExceededError

if TYPE_CHECKING:
    from interlingua.dialects._service import ListedModel

__all__ = ["SERVICE"]


def _one(model: ListedModel) -> dict[str, Any]:
    return {"name": model.id, "endpoints": ["chat"], "finetuned": False, "is_deprecated": False}


def _whole(models: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
    size = bounded_number(query, "page_size", 20, most=1_000)
    first = bounded_number(query, "page_token", 0, least=0)
    endpoint = query.get("endpoint", "chat")
    named = [one for one in models if endpoint in one["endpoints"]]
    shown: dict[str, Any] = {"models": named[first : first + size]}
    return shown if first + size >= len(named) else {**shown, "next_page_token": str(first + size)}


SERVICE = Service(
    paths=(
        ServicePath("conversation", "/v2/chat"),
        ServicePath("embed", "/v2/embed"),
        ServicePath("rerank", "/v2/rerank"),
    ),
    prefixes=("/v2/",),
    header="x-fern-sdk-name",
    limits=LimitFields(thinking=(("thinking",), ("token_budget",))),
    data=("data", "document", "json_schema", "parameters", "tool_output"),
    models=ModelForm(_one, _whole),
    path="/chat",
    base_path="/v2",
    phrases={
        ContextWindowExceededError: Phrase("too many tokens:", "too many tokens"),
        AuthenticationError: Phrase("invalid api token:", "invalid api token"),
    },
    embeds="cohere",
    reranks="cohere",
)
"""Cohere's chat API beside its bodies."""
