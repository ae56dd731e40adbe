"""The official SDKs behind one face, so that one test can be played with each of them."""

from __future__ import annotations

from tests.support.sdks.face import SCHEMA, TOOL, Answer, Call, Sdk, SdkError

__all__ = ["SCHEMA", "SDKS", "TOOL", "Answer", "Call", "Sdk", "SdkError", "sdk"]

SDKS = ("openai", "openai-responses", "anthropic", "google", "ollama", "cohere")
"""What `sdk` knows."""


def sdk(name: str, url: str, key: str = "no-key") -> Sdk:
    """A client of an SDK at a gateway; its package is imported here."""
    match name:
        case "openai":
            from tests.support.sdks.openai_chat import OpenaiChat as Kind
        case "openai-responses":
            from tests.support.sdks.openai_responses import OpenaiResponses as Kind
        case "anthropic":
            from tests.support.sdks.anthropic import AnthropicMessages as Kind
        case "google":
            from tests.support.sdks.google import GoogleGenai as Kind
        case "cohere":
            from tests.support.sdks.cohere import CohereChat as Kind
        case _:
            from tests.support.sdks.ollama import OllamaChat as Kind
    return Kind(url, key)
