"""Facts of the services beside their bodies, to the letter: paths, signs of life, names of limits."""

from __future__ import annotations

import pytest

from interlingua.dialects.table import get_service, services

ASKED_AT = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/{model}:generateContent",
    "ollama": "/api/chat",
    "cohere": "/v2/chat",
    "bedrock": "/model/{model}/converse",
    "unified": "/unified/v1/generate",
}
"""Dialect -> the path of a conversation."""
FOREIGN_LIMITS = frozenset({
    "n_predict", "num_predict", "max_new_tokens", "max_output_tokens", "max_completion_tokens", "max_tokens",
    "max_length", "max_gen_len", "max_tokens_to_sample", "maxOutputTokens", "maxTokenCount",
})  # fmt: skip
"""Names by which some server limits an answer."""


def test_each_conversation_has_its_path() -> None:
    """A model stands in it where the body does not name one."""
    assert {name: service.asked_at for name, service in services().items()} == ASKED_AT


def test_each_request_of_ours_has_its_path() -> None:
    """The base path of a provider's address, and the path behind it; empty where the path names the model."""
    assert {name: (service.base_path, service.path) for name, service in services().items()} == {
        "openai-chat": ("/v1", "/chat/completions"),
        "openai-responses": ("/v1", "/responses"),
        "anthropic": ("/v1", "/messages"),
        "google": ("/v1beta", ""),
        "ollama": ("", ""),
        "cohere": ("/v2", "/chat"),
        "bedrock": ("", ""),
        "unified": ("", ""),
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/api/chat", b'"message":{"role":"assistant","content":""}'),
        ("/api/generate", b'"response":""'),
    ],
)
def test_a_sign_of_life_of_ollama_is_a_piece_without_content(path: str, line: bytes) -> None:
    """In the form of the path: its clients read every line as JSON."""
    keep_alive = get_service("ollama").keep_alive
    assert keep_alive(path, "m") == b'{"model":"m","created_at":"1970-01-01T00:00:00Z",%b,"done":false}\n' % line


@pytest.mark.parametrize("name", [name for name in ASKED_AT if name != "unified"])
def test_every_name_of_a_limit_is_looked_at(name: str) -> None:
    """A budget would not see a limit under another server's name, which the target may take all the same."""
    limits = get_service(name).limits
    assert limits.names[: len(limits.limits)] == limits.limits
    assert set(limits.names) == {*limits.limits, *FOREIGN_LIMITS}
    assert len(limits.names) == len(set(limits.names))
