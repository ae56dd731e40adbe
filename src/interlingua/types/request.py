"""A request: what is asked, without saying of whom."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from interlingua.types.capability import Effort
from interlingua.types.content import Cache, TextPart
from interlingua.types.message import Message
from interlingua.types.tool import OpaqueTool, Tool, ToolChoice

__all__ = ["Request", "ServerState", "ThinkingSummary"]

ThinkingSummary: TypeAlias = Literal["none", "auto", "concise", "detailed"]
"""How much of the thinking is to be shown."""


class ServerState(msgspec.Struct, frozen=True):
    """A conversation, or a part of one, that a provider keeps: its messages are not in the request."""

    dialect: str
    """The dialect whose members `raw` are."""
    raw: dict[str, Any]
    """The wire members, verbatim: `{"previous_response_id": …}`, `{"cachedContent": …}`."""


class Request(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, kw_only=True):
    """One request, immutable and reusable; None means "not said"."""

    messages: tuple[Message, ...] = ()
    """The conversation, oldest first."""
    system: tuple[TextPart, ...] = ()
    """The system text; system messages in the history are accepted too."""
    tools: tuple[Tool | OpaqueTool, ...] = ()
    """The tools that the model may call."""
    tool_choice: ToolChoice | None = None
    """Whether and what it must call."""
    output_schema: dict[str, Any] | None = None
    """JSON Schema of the answer."""
    schema_name: str | None = None
    """The schema's name, where a provider wants one (`response` when not said)."""
    schema_description: str | None = None
    """The purpose of the answer, for the model."""
    schema_strict: bool | None = None
    """Whether the provider must hold the model to the schema; None is not said."""
    json_mode: bool = False
    """Any JSON object will do as the answer; beside a schema: it was asked for in JSON mode."""
    max_tokens: int | None = None
    """Upper bound of output tokens, reasoning included."""
    temperature: float | None = None
    """Sampling temperature."""
    top_p: float | None = None
    """Nucleus sampling: among the likeliest tokens that have this probability together."""
    top_k: int | None = None
    """Sampling among the k likeliest tokens."""
    min_p: float | None = None
    """Sampling among tokens that have at least this share of the likeliest one's probability."""
    stop: tuple[str, ...] = ()
    """Sequences that end the answer."""
    seed: int | None = None
    """Seed for repeatable sampling."""
    presence_penalty: float | None = None
    """Penalty on tokens that appeared at all."""
    frequency_penalty: float | None = None
    """Penalty on tokens by how often they appeared."""
    logit_bias: dict[str, float] | None = None
    """The number added to the logit of a token, by the provider's token id."""
    logprobs: int | None = None
    """Log probabilities wanted: 0 for the chosen token alone, n for n alternatives."""
    n: int | None = None
    """How many choices the answer is to have."""
    effort: Effort | None = None
    """How hard the model should think."""
    thinking: bool | None = None
    """Whether to think at all, without saying how hard."""
    thinking_summary: ThinkingSummary | None = None
    """Whether and how the thinking is to be shown."""
    thinking_budget: int | None = None
    """Tokens for thinking, where a provider takes a budget."""
    parallel_tool_calls: bool | None = None
    """Whether one turn may hold several calls."""
    verbosity: str | None = None
    """How much to say: low, medium or high."""
    service_tier: str | None = None
    """Which class of service to use, in the provider's own word."""
    user: str | None = None
    """A stable id of the end user, for the provider's abuse checks."""
    metadata: dict[str, Any] | None = None
    """Labels stored with the request at the provider."""
    store: bool | None = None
    """Whether the provider may keep the exchange."""
    cache: Cache | None = None
    """Prompt caching for the whole request."""
    cache_key: str | None = None
    """A name shared by requests with the same prompt prefix, for the provider's cache routing."""
    continues: ServerState | None = None
    """The conversation at the provider that this request goes on with."""
    extra: dict[str, dict[str, Any]] = {}
    """Further wire members, by dialect, sent as they are to that dialect only."""
