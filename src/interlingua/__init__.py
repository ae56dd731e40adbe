"""One language for every model: messages, tools, structured output, media and streams in one shape.

```python no-run
import interlingua as il

model = il.model("anthropic/claude-opus-5,openai/gpt-5.6")
print(model.generate("One line on Oslo, please.").text)
```

`interlingua.aio` holds the same names, awaited. Importing this module loads nothing: every name is looked up in a fixed
table when it is used for the first time.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua import aio
    from interlingua.agent.agent import Agent
    from interlingua.agent.events import (
        ApprovalNeeded,
        RunEvent,
        RunFinished,
        StepFinished,
        ToolFinished,
        ToolProgress,
        ToolStarted,
    )
    from interlingua.agent.run import Run
    from interlingua.agent.setup import AgentOptions
    from interlingua.client.batch.batch import Batch
    from interlingua.client.call.report import ChangeWarning
    from interlingua.client.capabilities import capabilities
    from interlingua.client.cluster.cluster import Cluster
    from interlingua.client.embed import embed, rerank
    from interlingua.client.health import health
    from interlingua.client.hooks.cache import ResponseCache
    from interlingua.client.hooks.hook import Hook, HookContext
    from interlingua.client.hooks.webhook import Webhook
    from interlingua.client.item import Input, Item
    from interlingua.client.keywords import CallOptions, Options
    from interlingua.client.meter import Meter, meter
    from interlingua.client.model import Model, model
    from interlingua.client.observe import (
        AgentFinished,
        AgentStarted,
        AttemptFailed,
        AttemptStarted,
        CallFinished,
        CallStarted,
        FirstContent,
        Observation,
        Observed,
        Observer,
        RetryScheduled,
        TargetBenched,
        TargetSkipped,
        ToolCalled,
        ToolReturned,
        on_event,
    )
    from interlingua.client.plan import Plan, PlannedTarget
    from interlingua.client.prompt import History, Prompt
    from interlingua.client.setup import (
        load_config,
        load_env,
        register_alias,
        register_provider,
        register_resolver,
        register_scheme,
    )
    from interlingua.client.state import limit, use_state
    from interlingua.client.stream import ModelStream
    from interlingua.client.telemetry.instrument import Instrumentation, instrument
    from interlingua.client.web.chat import WebChat, web_chat
    from interlingua.client.websockets import websockets
    from interlingua.errors import (
        APIConnectionError,
        APITimeoutError,
        AuthenticationError,
        BadRequestError,
        BillingError,
        ChainExhaustedError,
        ConfigError,
        ContentPolicyViolationError,
        ContextWindowExceededError,
        DecodeError,
        Error,
        HistoryError,
        IncompleteStreamError,
        InternalServerError,
        LimitExceededError,
        MalformedArgumentsError,
        NotFoundError,
        OutputError,
        OverloadedError,
        PermissionDeniedError,
        RateLimitError,
        RequestTooLargeError,
        RunStoppedError,
        SchemaError,
        ToolError,
        TransportError,
        UnknownModelError,
        UnsupportedError,
        UpstreamError,
        UsageError,
        WireError,
    )
    from interlingua.media.fetch import fetch
    from interlingua.media.files import InputFile, files
    from interlingua.media.parts import audio, document, file, image
    from interlingua.media.rows import InputRow, rows
    from interlingua.providers.code import CodeProvider, ProviderCall
    from interlingua.providers.price import Price
    from interlingua.providers.row import Provider
    from interlingua.registry.dsn import Dsn
    from interlingua.registry.resolve import Registry
    from interlingua.routing.health import TargetHealth
    from interlingua.stream.fold import fold
    from interlingua.stream.unfold import unfold
    from interlingua.tools.mcp import McpTools, mcp
    from interlingua.tools.progress import progress
    from interlingua.tools.serving import serve_mcp
    from interlingua.tools.tool import tool
    from interlingua.tools.toolbox import Toolbox
    from interlingua.transport.base import Timeouts
    from interlingua.transport.options import HttpOptions
    from interlingua.types.capabilities import Capabilities, Feature
    from interlingua.types.capability import CallIds, Capability, Effort, HistoryPolicy, ToolRules
    from interlingua.types.change import Change
    from interlingua.types.content import (
        AudioPart,
        BrokenReason,
        BrokenToolCall,
        Cache,
        Citation,
        DocumentPart,
        ImagePart,
        Json,
        OpaquePart,
        Part,
        RefusalPart,
        Sealed,
        ServerToolPart,
        ServerToolStatus,
        Source,
        TextPart,
        ThinkingPart,
        ToolCall,
        ToolResult,
    )
    from interlingua.types.context import Context
    from interlingua.types.dump import dump, load
    from interlingua.types.event import (
        Annotation,
        BlockEnd,
        BlockKind,
        BlockStart,
        DataDelta,
        Delta,
        Event,
        Extra,
        RefusalDelta,
        Seal,
        StreamEnd,
        StreamError,
        StreamStart,
        TextDelta,
        ThinkingDelta,
        ToolCallDelta,
        ToolCallReady,
        UsageUpdate,
    )
    from interlingua.types.limit import RateLimit
    from interlingua.types.message import Message, Role, assistant, system, user
    from interlingua.types.request import Request, ServerState
    from interlingua.types.response import Alternative, Attempt, FinishReason, RawReply, Response
    from interlingua.types.run import RunRecord, Step, StopReason
    from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool, ToolChoice
    from interlingua.types.usage import Usage
    from interlingua.types.vectors import Embeddings, EmbedRequest, InputType, Ranked, Ranking, RerankRequest

    __version__: str
    """The installed version."""

__all__ = [
    "APIConnectionError",
    "APITimeoutError",
    "Agent",
    "AgentFinished",
    "AgentOptions",
    "AgentStarted",
    "AllowedTools",
    "Alternative",
    "Annotation",
    "ApprovalNeeded",
    "Attempt",
    "AttemptFailed",
    "AttemptStarted",
    "AudioPart",
    "AuthenticationError",
    "BadRequestError",
    "Batch",
    "BillingError",
    "BlockEnd",
    "BlockKind",
    "BlockStart",
    "BrokenReason",
    "BrokenToolCall",
    "Cache",
    "CallFinished",
    "CallIds",
    "CallOptions",
    "CallStarted",
    "Capabilities",
    "Capability",
    "ChainExhaustedError",
    "Change",
    "ChangeWarning",
    "Citation",
    "Cluster",
    "CodeProvider",
    "ConfigError",
    "ContentPolicyViolationError",
    "Context",
    "ContextWindowExceededError",
    "DataDelta",
    "DecodeError",
    "Delta",
    "DocumentPart",
    "Dsn",
    "Effort",
    "EmbedRequest",
    "Embeddings",
    "Error",
    "Event",
    "Extra",
    "Feature",
    "FinishReason",
    "FirstContent",
    "Freeform",
    "History",
    "HistoryError",
    "HistoryPolicy",
    "Hook",
    "HookContext",
    "HttpOptions",
    "ImagePart",
    "IncompleteStreamError",
    "Input",
    "InputFile",
    "InputRow",
    "InputType",
    "Instrumentation",
    "InternalServerError",
    "Item",
    "Json",
    "LimitExceededError",
    "MalformedArgumentsError",
    "McpTools",
    "Message",
    "Meter",
    "Model",
    "ModelStream",
    "NamedTool",
    "NotFoundError",
    "Observation",
    "Observed",
    "Observer",
    "OpaquePart",
    "OpaqueTool",
    "Options",
    "OutputError",
    "OverloadedError",
    "Part",
    "PermissionDeniedError",
    "Plan",
    "PlannedTarget",
    "Price",
    "Prompt",
    "Provider",
    "ProviderCall",
    "Ranked",
    "Ranking",
    "RateLimit",
    "RateLimitError",
    "RawReply",
    "RefusalDelta",
    "RefusalPart",
    "Registry",
    "Request",
    "RequestTooLargeError",
    "RerankRequest",
    "Response",
    "ResponseCache",
    "RetryScheduled",
    "Role",
    "Run",
    "RunEvent",
    "RunFinished",
    "RunRecord",
    "RunStoppedError",
    "SchemaError",
    "Seal",
    "Sealed",
    "ServerState",
    "ServerToolPart",
    "ServerToolStatus",
    "Source",
    "Step",
    "StepFinished",
    "StopReason",
    "StreamEnd",
    "StreamError",
    "StreamStart",
    "TargetBenched",
    "TargetHealth",
    "TargetSkipped",
    "TextDelta",
    "TextPart",
    "ThinkingDelta",
    "ThinkingPart",
    "Timeouts",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallReady",
    "ToolCalled",
    "ToolChoice",
    "ToolError",
    "ToolFinished",
    "ToolProgress",
    "ToolResult",
    "ToolReturned",
    "ToolRules",
    "ToolStarted",
    "Toolbox",
    "TransportError",
    "UnknownModelError",
    "UnsupportedError",
    "UpstreamError",
    "Usage",
    "UsageError",
    "UsageUpdate",
    "WebChat",
    "Webhook",
    "WireError",
    "aio",
    "assistant",
    "audio",
    "capabilities",
    "document",
    "dump",
    "embed",
    "fetch",
    "file",
    "files",
    "fold",
    "health",
    "image",
    "instrument",
    "limit",
    "load",
    "load_config",
    "load_env",
    "mcp",
    "meter",
    "model",
    "on_event",
    "progress",
    "register_alias",
    "register_provider",
    "register_resolver",
    "register_scheme",
    "rerank",
    "rows",
    "serve_mcp",
    "system",
    "tool",
    "unfold",
    "use_state",
    "user",
    "web_chat",
    "websockets",
]

_NAMES = {
    "agent.agent": "Agent",
    "agent.events": "ApprovalNeeded RunEvent RunFinished StepFinished ToolFinished ToolProgress ToolStarted",
    "agent.run": "Run",
    "agent.setup": "AgentOptions",
    "client.batch.batch": "Batch",
    "client.capabilities": "capabilities",
    "client.cluster.cluster": "Cluster",
    "client.embed": "embed rerank",
    "client.health": "health",
    "client.hooks.cache": "ResponseCache",
    "client.hooks.hook": "Hook HookContext",
    "client.hooks.webhook": "Webhook",
    "client.item": "Item Input",
    "client.meter": "Meter meter",
    "client.model": "Model model",
    "client.observe": (
        "AgentFinished AgentStarted AttemptFailed AttemptStarted CallFinished CallStarted FirstContent Observation "
        "Observed Observer RetryScheduled TargetBenched TargetSkipped ToolCalled ToolReturned on_event"
    ),
    "client.keywords": "CallOptions Options",
    "client.plan": "Plan PlannedTarget",
    "client.prompt": "History Prompt",
    "client.call.report": "ChangeWarning",
    "client.setup": "load_config load_env register_alias register_provider register_resolver register_scheme",
    "client.state": "limit use_state",
    "client.stream": "ModelStream",
    "client.telemetry.instrument": "Instrumentation instrument",
    "client.web.chat": "WebChat web_chat",
    "client.websockets": "websockets",
    "errors": (
        "APIConnectionError APITimeoutError AuthenticationError BadRequestError BillingError "
        "ChainExhaustedError ConfigError ContentPolicyViolationError ContextWindowExceededError DecodeError "
        "Error HistoryError IncompleteStreamError InternalServerError LimitExceededError "
        "MalformedArgumentsError NotFoundError OutputError OverloadedError PermissionDeniedError "
        "RateLimitError RequestTooLargeError RunStoppedError SchemaError ToolError TransportError "
        "UnknownModelError UnsupportedError UpstreamError UsageError WireError"
    ),
    "media.fetch": "fetch",
    "media.files": "InputFile files",
    "media.rows": "InputRow rows",
    "media.parts": "audio document file image",
    "providers.code": "CodeProvider ProviderCall",
    "providers.price": "Price",
    "providers.row": "Provider",
    "registry.dsn": "Dsn",
    "registry.resolve": "Registry",
    "routing.health": "TargetHealth",
    "stream.fold": "fold",
    "stream.unfold": "unfold",
    "tools.mcp": "McpTools mcp",
    "tools.progress": "progress",
    "tools.serving": "serve_mcp",
    "tools.tool": "tool",
    "tools.toolbox": "Toolbox",
    "transport.base": "Timeouts",
    "transport.options": "HttpOptions",
    "types.capabilities": "Capabilities Feature",
    "types.capability": "CallIds Capability Effort HistoryPolicy ToolRules",
    "types.change": "Change",
    "types.content": (
        "AudioPart BrokenReason BrokenToolCall Cache Citation DocumentPart ImagePart Json OpaquePart Part RefusalPart "
        "Sealed ServerToolPart ServerToolStatus Source TextPart ThinkingPart ToolCall ToolResult"
    ),
    "types.context": "Context",
    "types.dump": "dump load",
    "types.event": (
        "Annotation BlockEnd BlockKind BlockStart DataDelta Delta Event Extra RefusalDelta Seal StreamEnd "
        "StreamError StreamStart TextDelta ThinkingDelta ToolCallDelta ToolCallReady UsageUpdate"
    ),
    "types.limit": "RateLimit",
    "types.message": "Message Role assistant system user",
    "types.request": "Request ServerState",
    "types.response": "Alternative Attempt FinishReason RawReply Response",
    "types.run": "RunRecord Step StopReason",
    "types.tool": "AllowedTools Freeform NamedTool OpaqueTool Tool ToolChoice",
    "types.usage": "Usage",
    "types.vectors": "EmbedRequest Embeddings InputType Ranked Ranking RerankRequest",
}
"""Every public name, by the module that defines it."""
_ROOMS = frozenset({"codec", "compat", "errors", "gateway", "testing"})
"""Public modules that are not loaded before somebody imports them."""
_PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """The public thing of that name, imported when it is asked for the first time."""
    from importlib import import_module

    if name in _PLACES:
        value = getattr(import_module(f"interlingua.{_PLACES[name]}"), name)
    elif name == "aio":
        value = import_module("interlingua.aio")
    elif name == "__version__":
        value = import_module("importlib.metadata").version("interlingua")
    elif name in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r} yet: `import {__name__}.{name}` loads it")
    else:
        # With both facts Python itself proposes the name that was meant.
        from interlingua.compat.words import word_for  # only who errs needs it

        instead = word_for(__name__, name)
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}{instead}", name=name, obj=sys.modules[__name__]
        )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
