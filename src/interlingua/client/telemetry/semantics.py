"""The names under which OpenTelemetry knows what observers are told: spans, attributes, metrics.

Source: the GenAI semantic conventions of OpenTelemetry, status "development", as of autumn 2026 (spans, agent spans,
metrics, the JSON shapes of messages); `error.type`, `server.*` of its general conventions. What they have no name for
stands under `interlingua.`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ANSWER", "METRICS", "NAMES", "PARAMETERS", "PROVIDERS", "SECONDS", "TOKENS", "USAGE", "Metric"]

NAMES = {
    "operation": "gen_ai.operation.name",
    "provider": "gen_ai.provider.name",
    "model": "gen_ai.request.model",
    "stream": "gen_ai.request.stream",
    "output": "gen_ai.output.type",
    "finish_reasons": "gen_ai.response.finish_reasons",
    "response_model": "gen_ai.response.model",
    "error": "error.type",
    "host": "server.address",
    "port": "server.port",
    "status": "http.response.status_code",
    "tool": "gen_ai.tool.name",
    "tool_type": "gen_ai.tool.type",
    "tool_call_id": "gen_ai.tool.call.id",
    "token_type": "gen_ai.token.type",
    "arguments": "gen_ai.tool.call.arguments",
    "result": "gen_ai.tool.call.result",
    "instructions": "gen_ai.system_instructions",
    "input": "gen_ai.input.messages",
    "answer": "gen_ai.output.messages",
    "tools": "gen_ai.tool.definitions",
    "target": "interlingua.target",
    "dialect": "interlingua.dialect",
    "number": "interlingua.attempt",
    "attempts": "interlingua.attempts",
    "changes": "interlingua.changes",
    "closed": "interlingua.closed",
    "cost_usd": "interlingua.cost_usd",
    "stop_reason": "interlingua.stop_reason",
    "steps": "interlingua.steps",
    "message": "interlingua.message",
    "reason": "interlingua.reason",
    "delay_s": "interlingua.delay_s",
    "for_s": "interlingua.for_s",
    "tag": "interlingua.tag.",
}
"""Attributes, by what they are called here."""

PARAMETERS = {
    "max_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "top_k": "gen_ai.request.top_k",
    "stop": "gen_ai.request.stop_sequences",
    "seed": "gen_ai.request.seed",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "n": "gen_ai.request.choice.count",
}
"""Attributes of the settings of a request."""

ANSWER = {
    "wire_model": NAMES["response_model"],
    "response_id": "gen_ai.response.id",
    "first_content_s": "gen_ai.response.time_to_first_chunk",
    "request_id": "interlingua.request_id",
    "cost_usd": NAMES["cost_usd"],
    "error": NAMES["error"],
    "status": NAMES["status"],
}
"""Attributes of how a call ended."""

USAGE = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
}
"""Attributes of token counts."""

PROVIDERS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "azure": "azure.ai.openai",
    "google": "gcp.gemini",
    "gemini-compat": "gcp.gemini",
    "vertex": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "xai": "x_ai",
}
"""Providers that have another name there; all others keep their own."""


class Metric(NamedTuple):
    """A histogram."""

    name: str
    """Its name."""
    unit: str
    """Its unit."""
    description: str
    """Its description: the thing that it counts."""
    boundaries: tuple[float, ...]
    """Where its buckets end."""


SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""Buckets of durations."""
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
"""Buckets of token counts."""

METRICS = {
    "tokens": Metric("gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.", TOKENS),
    "duration": Metric("gen_ai.client.operation.duration", "s", "GenAI operation duration.", SECONDS),
    "first_content": Metric(
        "gen_ai.client.operation.time_to_first_chunk", "s", "Time to receive the first chunk.", SECONDS
    ),
    "agent": Metric("gen_ai.invoke_agent.duration", "s", "Duration of a run of an agent.", SECONDS),
    "tool": Metric("gen_ai.execute_tool.duration", "s", "Duration of the execution of a tool.", SECONDS),
}
"""The histograms."""
