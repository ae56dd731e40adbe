"""Cards of servers, which describe their models: the request for it, and what the answer says.

Rules
- A row names the form of its card; the forms are those of Ollama, llama.cpp, Google and OpenRouter.
- What a card does not say stays unknown. Where a card lists what there is, what it does not list is not there.
- A card is a peer's word: what has the wrong type counts as not said.

Source: the vendors' pages on these answers ("Show model details", "GET /props", "models.get", "List available models"),
read 2026-11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.errors import DecodeError
from interlingua.types.capabilities import Capabilities
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from interlingua.providers.row import CardForm

__all__ = ["CardRequest", "card_request", "read_card"]

_MAX_TOKENS = 1_000_000_000


class CardRequest(msgspec.Struct, frozen=True):
    """The request for the card of a model."""

    method: str
    """GET or POST."""
    url: str
    """The address."""
    body: bytes = b""
    """The body of a POST."""


def card_request(form: CardForm, base_url: str, model: str) -> CardRequest | None:
    """The request for the card of a model; None where the server has none."""
    root = base_url.removesuffix("/v1")
    match form:
        case "ollama":
            return CardRequest("POST", f"{root}/api/show", encode({"model": model}))
        case "llamacpp":
            return CardRequest("GET", f"{root}/props")
        case "google":
            from urllib.parse import quote  # only who asks needs it

            return CardRequest("GET", f"{base_url}/models/{quote(model.removeprefix('models/'), safe='')}")
        case "openrouter":
            return CardRequest("GET", f"{base_url}/models")
        case "none":
            return None


def read_card(form: CardForm, model: str, body: bytes) -> Capabilities:
    """The capabilities on the card of a model.

    Raises: DecodeError for what is no JSON object, and for a list that does not have the model; LimitExceededError.
    """
    value = decode_any(body)
    if not isinstance(value, dict):
        raise DecodeError("the card of a model is no JSON object")
    return _READERS[form](cast("dict[str, Any]", value), model)


def _members(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _words(value: Any) -> frozenset[str] | None:
    """The words of a list; None where there is no list."""
    if not isinstance(value, list):
        return None
    return frozenset([word for word in cast("list[Any]", value) if isinstance(word, str)])


def _has(words: Collection[str] | None, *any_of: str) -> bool | None:
    return None if words is None else any(word in words for word in any_of)


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MAX_TOKENS
    return value if is_count else None


def _read_nothing(card: dict[str, Any], model: str) -> Capabilities:
    del card, model
    return Capabilities()


def _read_ollama(card: dict[str, Any], model: str) -> Capabilities:
    """Shape: `capabilities` lists completion, tools, vision, thinking, audio; `model_info` has the trained context."""
    del model
    words, info = _words(card.get("capabilities")), _members(card.get("model_info"))
    context = info.get(f"{info.get('general.architecture')}.context_length")
    return Capabilities(
        text=_has(words, "completion"),
        images=_has(words, "vision"),
        audio=True if _has(words, "audio") else None,  # older servers do not list it
        tools=_has(words, "tools"),
        thinking=_has(words, "thinking"),
        context_tokens=_count(context),
    )


def _read_llamacpp(card: dict[str, Any], model: str) -> Capabilities:
    """Shape: `modalities` has vision and audio, `chat_template_caps` says tools, the settings have `n_ctx`."""
    del model
    senses, template = _members(card.get("modalities")), _members(card.get("chat_template_caps"))
    return Capabilities(
        text=True,
        images=_flag(senses.get("vision")),
        audio=_flag(senses.get("audio")),
        tools=_flag(template.get("supports_tools")),
        parallel_tool_calls=_flag(template.get("supports_parallel_tool_calls")),
        context_tokens=_count(_members(card.get("default_generation_settings")).get("n_ctx")),
    )


def _read_google(card: dict[str, Any], model: str) -> Capabilities:
    """Shape: one model with `inputTokenLimit`, `outputTokenLimit` and `thinking`."""
    del model
    methods = _words(card.get("supportedGenerationMethods"))
    return Capabilities(
        text=_has(methods, "generateContent"),
        thinking=_flag(card.get("thinking")),
        context_tokens=_count(card.get("inputTokenLimit")),
        max_output_tokens=_count(card.get("outputTokenLimit")),
    )


def _read_openrouter(card: dict[str, Any], model: str) -> Capabilities:
    """Shape: `data` lists the models, each with its `architecture`, `supported_parameters` and `context_length`."""
    listed = [_members(entry) for entry in cast("list[Any]", card.get("data") or [])]
    own = next((entry for entry in listed if entry.get("id") == model), None)
    if own is None:
        raise DecodeError(f"the list of models does not have {model:.100}")
    senses = _words(_members(own.get("architecture")).get("input_modalities"))
    knobs = _words(own.get("supported_parameters"))
    return Capabilities(
        text=_has(senses, "text"),
        images=_has(senses, "image"),
        audio=_has(senses, "audio"),
        documents=_has(senses, "file"),
        tools=_has(knobs, "tools"),
        forced_choice=_has(knobs, "tool_choice"),
        output_schema=_has(knobs, "structured_outputs", "response_format"),
        thinking=_has(knobs, "reasoning", "include_reasoning"),
        logprobs=_has(knobs, "logprobs", "top_logprobs"),
        context_tokens=_count(own.get("context_length")),
        max_output_tokens=_count(_members(own.get("top_provider")).get("max_completion_tokens")),
    )


_READERS: dict[CardForm, Callable[[dict[str, Any], str], Capabilities]] = {
    "none": _read_nothing,
    "ollama": _read_ollama,
    "llamacpp": _read_llamacpp,
    "google": _read_google,
    "openrouter": _read_openrouter,
}
