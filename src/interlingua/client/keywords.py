"""The keywords that models and calls take, as a type; `options` reads what they hold.

It stands apart because nothing but a type checker needs it: the fields of a TypedDict are compiled one by one where it
is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from interlingua.client.options import SystemText
from interlingua.transport.base import AsyncTransport, LibraryClient, Timeouts, Transport
from interlingua.transport.options import HttpOptions
from interlingua.types.capabilities import Feature
from interlingua.types.capability import CallIds, Capability, Effort, HistoryPolicy, Repair
from interlingua.types.content import Cache
from interlingua.types.request import ServerState, ThinkingSummary
from interlingua.types.tool import OpaqueTool, ToolChoice

if TYPE_CHECKING:
    from interlingua.client.hooks.hook import Hook
    from interlingua.tools.tool import ToolSource

__all__ = ["CallOptions", "Options"]


class CallOptions(TypedDict, total=False):
    """The keyword options that `il.embed` and `il.rerank` share. None is "not said"."""

    user: str | None
    """A stable id of the end user, for the provider's abuse checks."""
    extra: Mapping[str, dict[str, Any]] | None
    """Further wire members, by dialect, sent as they are to that dialect only."""
    headers: Mapping[str, str] | None
    """Further HTTP headers."""
    timeout_s: float | None
    """Seconds for the whole call, its chain included."""
    timeouts: Timeouts | None
    """Seconds for each phase of it."""
    transport: Transport | AsyncTransport | LibraryClient | None
    """The carrier of the requests: an httpx client, or an object with `open` and `close`; keys, retries stay ours."""
    http: HttpOptions | None
    """How our own transport connects: certificate authorities, connections, bounds."""
    clock: Callable[[], float] | None
    """Gives seconds that only grow; the call keeps the health of its targets by it, for itself."""
    strict: bool | None
    """Refuse whatever would be dropped or approximated."""
    allow: Iterable[Capability] | None
    """Kinds of content that may be let go where a target cannot take them."""
    retries: int | None
    """How often a target is asked again after a failure that may pass, 0 to 7; unless said 1, and 0 of a stand-in."""
    persist: bool | None
    """Whether a chain goes on also when a target refuses the request itself."""
    hedge_after_s: float | None
    """Seconds after which a chain asks its next target beside one that has not begun to answer."""
    hooks: Sequence[Hook] | None
    """Hooks that run before and after the call, as layers around it: `il.Hook`."""


class Options(TypedDict, total=False):
    """The keyword options of `il.model`, `with_options`, `generate`, `stream` and `explain`. None is "not said"."""

    system: SystemText | None
    """The system text; it replaces the system messages of a history."""
    tools: Iterable[ToolSource | OpaqueTool] | None
    """Tools that the model may call: an `il.Toolbox`, or a list of tools, functions, classes and schemas."""
    tool_choice: ToolChoice | None
    """`auto`, `none`, `required`, `il.NamedTool(…)` or `il.AllowedTools(…)`."""
    output_schema: dict[str, Any] | None
    """JSON Schema of the answer, for who reads the text alone; `output=T` makes one from a type."""
    schema_name: str | None
    """The schema's name, where a provider wants one."""
    schema_description: str | None
    """The purpose of the answer, for the model."""
    schema_strict: bool | None
    """Whether the provider must hold the model to the schema."""
    json_mode: bool | None
    """Any JSON object will do as the answer."""
    max_tokens: int | None
    """Upper bound of output tokens, reasoning included."""
    temperature: float | None
    """Sampling temperature."""
    top_p: float | None
    """Nucleus sampling."""
    top_k: int | None
    """Top-k sampling."""
    min_p: float | None
    """Minimum-probability sampling."""
    stop: str | Iterable[str] | None
    """Sequences that end the answer."""
    seed: int | None
    """Seed for repeatable sampling."""
    presence_penalty: float | None
    """Penalty on tokens that appeared at all."""
    frequency_penalty: float | None
    """Penalty on tokens by how often they appeared."""
    logit_bias: dict[str, float] | None
    """Bias per token id."""
    logprobs: int | bool | None
    """Log probabilities: True or 0 for the chosen token alone, n for n alternatives."""
    n: int | None
    """How many choices."""
    effort: Effort | None
    """How hard to think."""
    thinking: bool | None
    """Whether to think at all, without saying how hard."""
    thinking_summary: ThinkingSummary | None
    """Whether and how the thinking is to be shown."""
    thinking_budget: int | None
    """Tokens for thinking, where a provider takes a budget."""
    parallel_tool_calls: bool | None
    """Whether one turn may hold several calls."""
    verbosity: str | None
    """low, medium or high."""
    service_tier: str | None
    """The provider's own word."""
    user: str | None
    """A stable id of the end user, for the provider's abuse checks."""
    metadata: dict[str, Any] | None
    """Labels stored with the request at the provider."""
    store: bool | None
    """Whether the provider may keep the exchange."""
    cache: Cache | None
    """Prompt caching for the whole request."""
    cache_key: str | None
    """A name shared by requests with the same prompt prefix, for the provider's cache routing."""
    continues: ServerState | None
    """The conversation at the provider that this call goes on with."""
    extra: Mapping[str, dict[str, Any]] | None
    """Further wire members, by dialect, sent as they are to that dialect only."""
    headers: Mapping[str, str] | None
    """Further HTTP headers."""
    timeout_s: float | None
    """Seconds for the whole call, its chain included."""
    timeouts: Timeouts | None
    """Seconds for each phase of it."""
    transport: Transport | AsyncTransport | LibraryClient | None
    """The carrier of the requests: an httpx client, or an object with `open` and `close`; keys, retries stay ours."""
    http: HttpOptions | None
    """How our own transport connects: certificate authorities, connections, bounds."""
    clock: Callable[[], float] | None
    """Gives seconds that only grow; the model keeps the health of its targets by it, for itself."""
    raw: bool | None
    """Keep the provider's own reply as `reply.raw`: the body, or the frames of a stream, as plain values."""
    strict: bool | None
    """Refuse whatever would be dropped or approximated."""
    allow: Iterable[Capability] | None
    """Kinds of content that may be let go where a target cannot take them."""
    require: Iterable[Feature] | None
    """Features that a target must take: one that is known not to is passed over."""
    call_ids: CallIds | None
    """`keep` a provider's call ids, or give every call an id of our `own`."""
    history_policy: HistoryPolicy | None
    """The treatment of calls and results that do not pair: `refuse` or `mend`."""
    repair: Repair | None
    """The treatment of a typed answer that does not fit: `off`, `safe` or `ask`."""
    max_repairs: int | None
    """How often `ask` sends the problems back, 0 to 10; 2 unless said."""
    retries: int | None
    """How often a target is asked again after a failure that may pass, 0 to 7; unless said 1, and 0 of a stand-in."""
    persist: bool | None
    """Whether a chain goes on also when a target refuses the request itself."""
    hedge_after_s: float | None
    """Seconds after which a chain asks its next target beside one that has not begun to answer."""
    hooks: Sequence[Hook] | None
    """Hooks that run before, during and after the call, as layers around it: `il.Hook`."""
