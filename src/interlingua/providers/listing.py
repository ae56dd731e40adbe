"""Lists of a provider's models: the request for the list of its models, and the names in the answer.

Source: the vendors' pages "List models" (OpenAI, Anthropic, Google) and `GET /api/tags` of Ollama, read 2026-11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlingua.errors import DecodeError
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["list_url", "read_list"]


class _Form(NamedTuple):
    path: str
    """After the address, with the largest page there is."""
    list_name: str
    """The member that holds the list."""
    model_name: str
    """The member of an entry that names its model."""


_CHAT = _Form("/models", "data", "id")
_FORMS: Mapping[str, _Form] = {
    "anthropic": _Form("/models?limit=1000", "data", "id"),
    "google": _Form("/models?pageSize=1000", "models", "name"),
    "ollama": _Form("/api/tags", "models", "name"),
}
"""By dialect; every other one lists as OpenAI does."""


def list_url(dialect: str, base_url: str) -> str:
    """Where a server lists its models."""
    root = base_url.removesuffix("/v1") if dialect == "ollama" else base_url
    return f"{root}{_FORMS.get(dialect, _CHAT).path}"


def read_list(dialect: str, body: bytes) -> list[str]:
    """The names of the models, sorted.

    Raises: DecodeError for what is no list of models; LimitExceededError.
    """
    form = _FORMS.get(dialect, _CHAT)
    value = decode_any(body)
    entries = cast("dict[str, Any]", value).get(form.list_name) if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise DecodeError(f"a list of models has a member {form.list_name}", path=f"/{form.list_name}")
    members = [cast("dict[str, object]", entry) for entry in cast("list[object]", entries) if isinstance(entry, dict)]
    names = [member.get(form.model_name) for member in members]
    return sorted({name.removeprefix("models/") for name in names if isinstance(name, str) and name})
