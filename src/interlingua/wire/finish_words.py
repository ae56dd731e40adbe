"""The words with which answers end on each wire, what they mean, and who says so: one table.

Rules
- A word that is not here is read as `other`, which is no error.
- A Chat server may stand before another vendor's model and pass its words on: the words of Messages and of Gemini are
  read there, too.
- The judge of exchanges builds its own table from these rows; it has no other knowledge of words.

This module is not responsible for what follows from a reason, nor for the words that are written: that is in `reasons`
of each dialect.
"""

from __future__ import annotations

import msgspec

from interlingua.types.response import FinishReason

__all__ = ["FINISH_WORDS", "FinishWords", "finish_words"]


class FinishWords(msgspec.Struct, frozen=True):
    """Words of one meaning, with their evidence."""

    dialect: str
    """The wire."""
    reason: FinishReason
    """Their meaning."""
    words: tuple[str, ...]
    """The words on the wire; for Responses a status, with the reason of an incomplete one after a slash."""
    source: str
    """The source: a recorded exchange, our notes on a vendor's page or types, or nobody."""


CHAT, RESPONSES, ANTHROPIC, GOOGLE, OLLAMA = "openai-chat", "openai-responses", "anthropic", "google", "ollama"
COHERE = "cohere"
BEDROCK = "bedrock"
CONVERSE_MODEL = "service model of bedrock-runtime, botocore 1.44"
OPENAI_PAGE = "vendor reference 'Create chat completion', our notes"
REPORT = "a user's report, November 2026; neither recorded nor read on a page"
ASSUMED = "assumed of proxies that pass a word on; not recorded on this wire"
BUILDS = "llama.cpp, old builds (our notes)"
GLM_PAGE = "a user's report on GLM, November 2026; the vendor's page was not read"
CLAUDE_PAGE = "vendor page 'Handling stop reasons', our notes"
GEMINI_PAGE = "vendor page 'FinishReason', our notes"
COHERE_TYPES = "Cohere's types, our notes"
COHERE_FIRST = "types of Cohere's first version, our notes"
OPENAI_TYPES = "types of the official client, November 2026"

FINISH_WORDS: tuple[FinishWords, ...] = (
    FinishWords(CHAT, "stop", ("stop",), OPENAI_PAGE),
    FinishWords(CHAT, "stop", ("eos",), "Together, 57b8e74fdedf"),
    FinishWords(CHAT, "stop", ("eos_token", "stop_token"), REPORT),
    FinishWords(CHAT, "stop", ("completed",), ASSUMED + "; OpenRouter, native, edea29bc5b48"),
    FinishWords(CHAT, "stop", ("COMPLETE", "STOP_SEQUENCE"), ASSUMED + "; Cohere's own wire, 627fbed3a981"),
    FinishWords(CHAT, "length", ("length",), OPENAI_PAGE),
    FinishWords(CHAT, "length", ("model_length",), "Mistral's types, our notes"),
    FinishWords(CHAT, "length", ("max_length", "max_output_tokens"), ASSUMED),
    FinishWords(CHAT, "tool_calls", ("tool_calls", "function_call"), OPENAI_PAGE + "; 0e9809d49d23"),
    FinishWords(CHAT, "tool_calls", ("tool", "tool_call", "TOOL_CALL"), BUILDS + "; Cohere's own wire, 1402583f1e46"),
    FinishWords(CHAT, "content_filter", ("content_filter",), OPENAI_PAGE + "; 8d1636105bef"),
    FinishWords(CHAT, "content_filter", ("content-filter", "guardrail_intervened"), REPORT + "; Bedrock, 4729fde383ab"),
    FinishWords(CHAT, "content_filter", ("sensitive",), GLM_PAGE),
    FinishWords(CHAT, "error", ("network_error",), GLM_PAGE),
    FinishWords(CHAT, "error", ("error",), "Mistral's types; OpenRouter's page 'Errors', our notes"),
    FinishWords(CHAT, "error", ("insufficient_system_resource",), "DeepSeek's page 'Chat completion', our notes"),
    FinishWords(CHAT, "error", ("abort",), REPORT),
    FinishWords(CHAT, "error", ("ERROR", "TIMEOUT"), "Cohere's types, our notes"),
    FinishWords(RESPONSES, "stop", ("completed",), OPENAI_TYPES),
    FinishWords(RESPONSES, "stop", ("complete",), "servers of other vendors, November 2026"),
    FinishWords(RESPONSES, "length", ("incomplete/max_output_tokens",), OPENAI_TYPES),
    FinishWords(RESPONSES, "content_filter", ("incomplete/content_filter",), OPENAI_TYPES),
    FinishWords(RESPONSES, "error", ("failed", "cancelled"), OPENAI_TYPES),
    FinishWords(RESPONSES, "error", ("queued", "in_progress"), OPENAI_TYPES + "; of an answer that was awaited"),
    FinishWords(ANTHROPIC, "stop", ("end_turn", "stop_sequence"), CLAUDE_PAGE + "; 1b06b0cac272, 733e04480735"),
    FinishWords(ANTHROPIC, "length", ("max_tokens",), CLAUDE_PAGE + "; a31e374fed07"),
    FinishWords(ANTHROPIC, "length", ("model_context_window_exceeded",), CLAUDE_PAGE + "; " + GLM_PAGE),
    FinishWords(ANTHROPIC, "tool_calls", ("tool_use",), CLAUDE_PAGE + "; 6424776218f8"),
    FinishWords(ANTHROPIC, "pause", ("pause_turn",), CLAUDE_PAGE),
    FinishWords(ANTHROPIC, "refusal", ("refusal",), CLAUDE_PAGE + "; 8a318eff2c94"),
    FinishWords(GOOGLE, "stop", ("STOP",), GEMINI_PAGE + "; 83db21139ae0"),
    FinishWords(GOOGLE, "length", ("MAX_TOKENS", "CONTINUATION"), GEMINI_PAGE + "; 5b26d049eec4"),
    FinishWords(GOOGLE, "content_filter", ("SAFETY", "RECITATION", "BLOCKLIST"), GEMINI_PAGE + "; 04444824dcdc"),
    FinishWords(GOOGLE, "content_filter", ("PROHIBITED_CONTENT", "SPII", "ESCALATION"), GEMINI_PAGE),
    FinishWords(GOOGLE, "content_filter", ("IMAGE_SAFETY", "IMAGE_RECITATION"), GEMINI_PAGE),
    FinishWords(GOOGLE, "content_filter", ("IMAGE_PROHIBITED_CONTENT",), GEMINI_PAGE),
    FinishWords(GOOGLE, "content_filter", ("MODEL_ARMOR",), "e53e307f3b6d"),
    FinishWords(GOOGLE, "error", ("MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE"), GEMINI_PAGE),
    FinishWords(GOOGLE, "error", ("UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"), GEMINI_PAGE + "; 4d4fa60a0632"),
    FinishWords(GOOGLE, "error", ("MISSING_THOUGHT_SIGNATURE", "PUP_LIMITED_DISABLED"), GEMINI_PAGE),
    # Clients may ask for reasons as numbers; the first five have one meaning everywhere.
    FinishWords(GOOGLE, "stop", ("1",), "c8c86d19c3f6"),
    FinishWords(GOOGLE, "length", ("2",), "f002507b199a"),
    FinishWords(GOOGLE, "content_filter", ("3", "4"), GEMINI_PAGE),
    FinishWords(OLLAMA, "stop", ("stop",), "b5790b023fb6"),
    FinishWords(OLLAMA, "length", ("length",), "7322dfc72620"),
    FinishWords(OLLAMA, "stop", ("load", "unload"), "server source, routes, August 2026"),
    FinishWords(COHERE, "stop", ("COMPLETE", "STOP_SEQUENCE"), COHERE_TYPES + "; c960696ddf6d, eb247bda8e12"),
    FinishWords(COHERE, "length", ("MAX_TOKENS",), COHERE_TYPES + "; 773ac5e1a0a1"),
    FinishWords(COHERE, "tool_calls", ("TOOL_CALL",), COHERE_TYPES + "; 1402583f1e46"),
    FinishWords(COHERE, "error", ("ERROR", "TIMEOUT"), COHERE_TYPES),
    FinishWords(COHERE, "length", ("ERROR_LIMIT",), COHERE_FIRST),
    FinishWords(COHERE, "content_filter", ("ERROR_TOXIC",), COHERE_FIRST),
    FinishWords(BEDROCK, "stop", ("end_turn", "stop_sequence"), CONVERSE_MODEL + "; d7f729d581d9"),
    FinishWords(BEDROCK, "tool_calls", ("tool_use",), CONVERSE_MODEL + "; 7a31e4c07eae"),
    FinishWords(BEDROCK, "length", ("max_tokens",), CONVERSE_MODEL + "; ead00e9becfd"),
    FinishWords(BEDROCK, "length", ("model_context_window_exceeded",), CONVERSE_MODEL),
    FinishWords(BEDROCK, "content_filter", ("guardrail_intervened",), CONVERSE_MODEL + "; 4729fde383ab"),
    FinishWords(BEDROCK, "content_filter", ("content_filtered",), CONVERSE_MODEL),
    FinishWords(BEDROCK, "error", ("malformed_model_output", "malformed_tool_use"), CONVERSE_MODEL),
)  # fmt: skip
"""Every word that somebody is known to say."""

PASSED_ON = {CHAT: (ANTHROPIC, GOOGLE)}
"""The dialects whose words a dialect's servers pass on."""


def finish_words(dialect: str) -> dict[str, FinishReason]:
    """The canonical reason of every word that a server of the dialect may say; its own words come before others'."""
    reasons: dict[str, FinishReason] = {}
    for wire in (dialect, *PASSED_ON.get(dialect, ())):
        rows = [row for row in FINISH_WORDS if row.dialect == wire]
        reasons |= {word: row.reason for row in rows for word in row.words if word not in reasons}
    return reasons
