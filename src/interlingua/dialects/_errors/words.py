"""Words of compatible servers for their errors, where the status alone would mislead; every dialect reads them.

Rules
- A word stands here only when the status that comes with it says less, or something else: 429 for an empty account,
  400 for a key that is wrong.
- A phrase stands here only for a server that has no word for it, and is read only when nothing structured says more
  than that the request is bad; one of money also where it was refused (403) or limited (429). The sentence is never
  looked at otherwise.
- Each line has a body in `tests/golden/error_bodies`.
Source: the documentation of each service, public reports with whole bodies, recorded answers; November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.errors import (
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
)

if TYPE_CHECKING:
    from interlingua.errors import Error
    from interlingua.types.capabilities import Feature

__all__ = ["BOUND_THINKING", "LACKS", "PHRASES", "WORDS"]

WORDS: dict[str, type[Error]] = {
    "context_length_exceeded": ContextWindowExceededError,  # OpenAI's word at servers of other dialects, 400
    "insufficient_quota": BillingError,  # the same, 429
    "content_filter": ContentPolicyViolationError,  # the same, 400
    "model_not_found": NotFoundError,  # the same, 400
    "exceed_context_size_error": ContextWindowExceededError,  # llama.cpp, 400; older builds 500
    "param:input_tokens": ContextWindowExceededError,  # vLLM, 400
    "tokens_limit_reached": ContextWindowExceededError,  # GitHub Models, 413
    "model_max_prompt_tokens_exceeded": ContextWindowExceededError,  # GitHub Copilot, 400
    "1261": ContextWindowExceededError,  # Z.ai, 400
    "1113": BillingError,  # Z.ai, 429
    "1309": BillingError,  # Z.ai, 429
    "1211": NotFoundError,  # Z.ai, 400
    "1301": ContentPolicyViolationError,  # Z.ai, 400
    "1305": OverloadedError,  # Z.ai, 429
    "1312": OverloadedError,  # Z.ai, 429
    "exceeded_current_quota_error": BillingError,  # Moonshot, 429
    "engine_overloaded_error": OverloadedError,  # Moonshot, 429
    "Arrearage": BillingError,  # DashScope, 400
    "data_inspection_failed": ContentPolicyViolationError,  # DashScope, 400
    "DataInspectionFailed": ContentPolicyViolationError,  # DashScope, 400
    "30001": BillingError,  # SiliconFlow, 403
    "AccountOverdueError": BillingError,  # Volcengine, 403
    "NOT_ENOUGH_BALANCE": BillingError,  # Novita, 403
    "insufficient_user_quota": BillingError,  # New API, 403
    "INSUFFICIENT_BALANCE": BillingError,  # Sub2API, 403
    "flagged_input": ContentPolicyViolationError,  # OpenRouter, 403
    "token_limit_exceeded": BillingError,  # OpenRouter, 400: a cap by the credit that is left
    "provider_overloaded": OverloadedError,  # OpenRouter, in a stream
    "payload_too_large": RequestTooLargeError,  # OpenRouter, in a stream
    "API_KEY_INVALID": AuthenticationError,  # Google behind its compatible face, 400
    "BILLING_DISABLED": BillingError,  # Google behind its compatible face, 403
    "INVALID_ARGUMENT": BadRequestError,  # Google behind a router, in a stream
    "RESOURCE_EXHAUSTED": RateLimitError,  # Google behind a router, in a stream
    "UNAVAILABLE": OverloadedError,  # Google behind a router, in a stream
    "capacity_exceeded": OverloadedError,  # Groq, 498: the flex tier is full
    "base_resp:1001": APITimeoutError,  # MiniMax, in a 200, as all of these: a time-out
    "base_resp:1002": RateLimitError,  # requests
    "base_resp:1004": AuthenticationError,  # a wrong or missing key
    "base_resp:1008": BillingError,  # an empty account
    "base_resp:1026": ContentPolicyViolationError,  # of what was asked
    "base_resp:1027": ContentPolicyViolationError,  # of what would be answered
    "base_resp:1039": RateLimitError,  # tokens
    "base_resp:1041": RateLimitError,  # connections
    "base_resp:1042": BadRequestError,  # too many characters that are not seen
    "base_resp:2013": BadRequestError,
    "base_resp:2045": RateLimitError,  # a rise of requests
    "base_resp:2049": AuthenticationError,
    "base_resp:2056": RateLimitError,  # what a plan allows in five hours
}
"""Structured word -> class."""
PHRASES: tuple[tuple[str, type[Error]], ...] = (
    (r"credit balance is too low", BillingError),  # Anthropic
    (r"reached your specified (workspace )?API usage limits", BillingError),  # Anthropic
    (r"used all available credits or reached its monthly spending limit", BillingError),  # xAI, 429 and 403
    (r"is suspended, possibly due to reaching the monthly spending limit", BillingError),  # Fireworks, 412
    (r"prompt is too long", ContextWindowExceededError),  # Anthropic, and Fireworks as "The prompt is …"
    (r"exceeds? (the )?context (limit|window)", ContextWindowExceededError),  # Anthropic
    (r"[Ii]nput is too long for requested model", ContextWindowExceededError),  # Claude on Bedrock
    (r"Output blocked by content filtering policy", ContentPolicyViolationError),  # Anthropic
    (r"input token count .*exceeds the maximum number of tokens", ContextWindowExceededError),  # Google
    (r"input token count is \d+ but (the )?model (only )?supports up to", ContextWindowExceededError),  # Vertex AI
    (r"Request payload size exceeds the limit", RequestTooLargeError),  # Google
    (r"User location is not supported", PermissionDeniedError),  # Google
    (r"exceeds the context length", ContextWindowExceededError),  # Ollama
    (r"prompt too long; exceeded (max )?context length", ContextWindowExceededError),  # Ollama
    (r"maximum context length", ContextWindowExceededError),  # older vLLM, DeepSeek, Mistral
    (r"longer than the maximum model length", ContextWindowExceededError),  # vLLM, where it reads the prompt
    (r"longer than the model's context length", ContextWindowExceededError),  # SGLang
    (r"^Input length .*exceeds the maximum allowed length", ContextWindowExceededError),  # SGLang
    (r"context length of only \d+ tokens", ContextWindowExceededError),  # LM Studio
    (r"initial prompt is greater than the context length", ContextWindowExceededError),  # LM Studio
    (r"exceeded model token limit", ContextWindowExceededError),  # Moonshot
    (r"Range of input length should be", ContextWindowExceededError),  # DashScope
    (r"context window exceeds limit", ContextWindowExceededError),  # MiniMax
    (r"`inputs` tokens \+ `max_new_tokens` must be <=", ContextWindowExceededError),  # TGI, Together
    (r"`inputs` must have less than \d+ tokens", ContextWindowExceededError),  # TGI
    (r"sum of prompt length .*should not exceed max_num_tokens", ContextWindowExceededError),  # TensorRT-LLM
    (r"length \(?\d+\)? exceeds maximum (input|sequence) length", ContextWindowExceededError),  # the same, DeepInfra
    (r"number of input tokens \d+ cannot exceed the total tokens limit", ContextWindowExceededError),  # watsonx.ai
    (r"^(400 Bad Request: )?Too many input tokens\. Max input tokens: ", ContextWindowExceededError),  # Bedrock
    (r"maximum prompt length is", ContextWindowExceededError),  # xAI
    (r"^too many tokens: ", ContextWindowExceededError),  # Cohere
    (r"^Incorrect API key provided", AuthenticationError),  # xAI, 400
)
"""Phrases of bad requests where the server has no code for them, as regular expressions.

They are compiled when the first error asks for them: whoever only imports a dialect does not pay for that.
"""
_MMPROJ = r"( by this server| - hint: if this is unexpected, you may need to provide the mmproj)?"
LACKS: tuple[tuple[str, Feature], ...] = (
    (r"(registry\.ollama\.ai/library/)?\S+ does not support tools", "tools"),  # Ollama, 400
    (r'"\S+" does not support thinking', "thinking"),  # Ollama, 400
    (r"this model does not support image input( \(ref: [\w-]+\))?", "images"),  # Ollama's cloud, 400
    (r"image input is not supported" + _MMPROJ, "images"),  # llama.cpp, 500
    (r"audio input is not supported" + _MMPROJ, "audio"),  # llama.cpp, 500
    (r"No endpoints found that support image input", "images"),  # OpenRouter, 404
    (
        (
            r'No endpoints found that support tool use\. Try disabling "[^"]*"\.'
            r"( To learn more about provider routing, visit: https://\S+)?"
        ),
        "tools",
    ),  # OpenRouter, 404
    (r"Invalid content type\. image_url is only supported by certain models\.", "images"),  # OpenAI, 400
    (
        (
            r"Failed to deserialize the JSON body into the target type: messages\[\d+\]: unknown variant `image_url`, "
            r"expected `text` at line \d+ column \d+"
        ),
        "images",
    ),  # DeepSeek, 400
    (r"\S+ is not a multimodal model( None)?", "images"),  # vLLM, 400
    (
        r'"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "tools",
    ),  # vLLM, 400
)
"""Phrases of servers for features that they lack, as regular expressions of the whole sentence, with the feature.

A sentence counts as a whole only: what a client wrote may stand in the middle of another one.
"""
BOUND_THINKING = (
    r"(The model returned the following errors: )?(messages\.\d+\.content\.\d+: )?"
    r"Invalid `\w+` in `(redacted_)?thinking` block\. The block is bound to a different conversation\."
)  # Anthropic, 400; Bedrock puts words of its own before it
"""The sentences by which a server refuses thinking of a history whose prefix has changed, from the first word on.

Others may follow, which name the change. Source: "Fix a thinking block bound to a different conversation", vendor page,
read 2026-11-29.
"""
