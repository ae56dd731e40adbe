"""The facts of Messages beside its bodies, for a server and a caller.

Source: vendor pages "Messages", "Count tokens", "List models", "Rate limits", "Errors", "Beta headers"; type
`ModelInfo` of the official client; read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._late import late_pair
from interlingua.dialects._service import (
    MESSAGE_LIST,
    Count,
    IdPlaces,
    LimitFields,
    ModelForm,
    Pauses,
    Phrase,
    Service,
    ServicePath,
    bounded_number,
    passed_on,
)
from interlingua.errors import (
    AuthenticationError,
    BillingError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    NotFoundError,
    RateLimitError,
    UnknownModelError,
)

if TYPE_CHECKING:
    from interlingua.dialects._service import ListedModel

__all__ = ["SERVICE"]

_EPOCH = "1970-01-01T00:00:00Z"
"""When a model was made, of which nobody knows; the official type says that an unknown date is this one."""
_THINKING = frozenset({"thinking", "redacted_thinking"})
_CONTAINERS = "interlingua.dialects._containers"


def _is_foreign(node: dict[str, Any]) -> bool:
    """Whether Messages wrote this for another dialect's model: thinking or a source of which nobody signed anything."""
    return node.get("signature") == "" or node.get("encrypted_index") == ""


def _is_unusual(node: dict[str, Any]) -> bool:
    """Whether an object of a history is thinking with a cache mark, or an empty text."""
    kind = node.get("type")
    if type(kind) is str and kind in _THINKING:
        return "cache_control" in node
    return kind == "text" and node.get("text") == ""


def _keep_alive(path: str, model: str) -> bytes:  # noqa: ARG001 - the form of `keep_alive`
    """The vendor's own sign of life."""
    return b'event: ping\ndata: {"type": "ping"}\n\n'


def _one(model: ListedModel) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "type": "model",
        "id": model.id,
        "display_name": model.title,
        "created_at": _EPOCH,
        "lifecycle": "active",
    }
    most = model.max_output_tokens
    return shown if most is None else {**shown, "max_tokens": most}


def _whole(models: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
    names = [model["id"] for model in models]
    first, last = 0, len(models)
    limit = bounded_number(query, "limit", 20, most=1_000)
    if query.get("before_id") in names:
        last = names.index(query["before_id"])
        first = max(0, last - limit)
    elif query.get("after_id") in names:
        first = names.index(query["after_id"]) + 1
    shown = models[first:last][:limit]
    ends = (shown[0]["id"], shown[-1]["id"]) if shown else (None, None)
    more = first > 0 if "before_id" in query else first + len(shown) < len(models)
    return {"data": shown, "has_more": more, "first_id": ends[0], "last_id": ends[1]}


SERVICE = Service(
    paths=(
        ServicePath("conversation", "/v1/messages"),
        ServicePath("conversation", "/messages"),
        ServicePath("count", "/v1/messages/count_tokens"),
        ServicePath("count", "/messages/count_tokens"),
        *[
            ServicePath("hosted", f"/{version}/projects/{{place:path}}/models/{{model:path}}:{method}")
            for version in ("v1", "v1beta1")
            for method in ("rawPredict", "streamRawPredict")
        ],
        *passed_on([("POST", "/v1/messages/batches")], "unread"),
        *passed_on([("GET", "/v1/messages/batches"), ("GET POST DELETE", "/v1/messages/batches/{rest:path}")]),
    ),
    prefixes=("/v1/messages", "/messages"),
    header="anthropic-version",
    needs={"max_tokens": {"type": "integer", "minimum": 1}, "messages": MESSAGE_LIST},
    data=("input", "input_schema", "input_examples"),
    limits=LimitFields(("max_tokens",), thinking=(("thinking",), ("budget_tokens",))),
    is_foreign=_is_foreign,
    is_unusual=_is_unusual,
    id_places=IdPlaces(("container.id",), data=("input",)),
    kept_places=IdPlaces((".id", "data.id", "container.id"), data=("input",)),
    id_prefix="msg_",
    keep_alive=_keep_alive,
    counts_first=True,
    limit_header="anthropic-ratelimit-{word}-{what}",
    limit_resets_at=True,
    phrases={
        ContextWindowExceededError: Phrase("prompt is too long:", "prompt is too long"),
        AuthenticationError: Phrase("invalid x-api-key:", "invalid x-api-key"),
        RateLimitError: Phrase("This request would exceed your organization's rate limit:", "rate limit"),
        BillingError: Phrase("Your credit balance is too low to access the API:", "credit balance is too low"),
        ContentPolicyViolationError: Phrase("Output blocked by content filtering policy:", "content filtering policy"),
        **dict.fromkeys((NotFoundError, UnknownModelError), Phrase("model:", "model:")),
    },
    thoughts="unasked",
    pauses=Pauses(late_pair(_CONTAINERS, "in_container"), late_pair(_CONTAINERS, "with_container")),
    models=ModelForm(_one, _whole),
    path="/messages",
    headers=frozenset({"anthropic-beta", "anthropic-version"}),
    default_headers=(("anthropic-version", "2023-06-01"),),
    passed_headers=("anthropic-",),
    limit_prefixes=("anthropic-ratelimit-",),
    beta_members=frozenset({"container", "context_management", "mcp_servers", "output_format", "speed"}),
    beta_header="anthropic-beta",
    count=Count("/messages/count_tokens", "input_tokens"),
    batches={"vendor": "interlingua.dialects.anthropic.batch"},
    base_path="/v1",
)
"""Messages beside its bodies."""
