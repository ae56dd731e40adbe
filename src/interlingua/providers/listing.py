"""Lists of a provider's models: the request for the list of its models, and the names in the answer.

Source: the vendors' pages "List models" (OpenAI, Anthropic, Google), `GET /api/tags` of Ollama, cohere-python 7.3.1
(`models/raw_client.py`), read 2026-11.
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
    not_under: str = ""
    """The end of an address that the path does not stand under: a version of the conversations alone."""


_CHAT = _Form("/models", "data", "id")
_FORMS: Mapping[str, _Form] = {
    "anthropic": _Form("/models?limit=1000", "data", "id"),
    "google": _Form("/models?pageSize=1000", "models", "name"),
    "ollama": _Form("/api/tags", "models", "name", not_under="/v1"),
    "cohere": _Form("/v1/models?page_size=1000", "models", "name", not_under="/v2"),
}
"""By dialect; every other one lists as OpenAI does."""


def list_url(dialect: str, base_url: str) -> str:
    """Where a server lists its models."""
    form = _FORMS.get(dialect, _CHAT)
    return f"{base_url.removesuffix(form.not_under)}{form.path}"


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
