"""The shared facts of OpenAI's two formats beside their bodies: the phrases by which clients tell errors."""

from __future__ import annotations

from interlingua.dialects._service import Phrase
from interlingua.errors import (
    AuthenticationError,
    BillingError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    Error,
    NotFoundError,
    RateLimitError,
    UnknownModelError,
)

__all__ = ["PHRASES", "QUOTA"]

QUOTA = Phrase("You exceeded your current quota, please check your plan and billing details:", "current quota")
"""The sentence of a vendor whose client has to pay first."""
PHRASES: dict[type[Error], Phrase] = {
    ContextWindowExceededError: Phrase(
        "Input tokens exceed the configured limit. This model's maximum context length is exceeded:",
        "input tokens exceed the configured limit",  # langchain-openai looks for nothing else in a message
    ),
    AuthenticationError: Phrase("Incorrect API key provided:", "incorrect api key"),
    RateLimitError: Phrase("Rate limit reached:", "rate limit", wait=True),  # Codex waits for so long
    BillingError: QUOTA,
    ContentPolicyViolationError: Phrase(
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy:",
        "violating our usage policy",
    ),
    **dict.fromkeys(
        (NotFoundError, UnknownModelError), Phrase("The requested model does not exist:", "does not exist")
    ),
}
"""The phrases of Chat; Responses has its own for a context that is too long."""
