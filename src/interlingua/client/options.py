"""The options of a model and of a call: liberal at the edge, one strict value inside.

Rules
- An option of the model holds for every call; the call's own replaces it; None takes it back to "not said".
- `headers` and `extra` add up, by name and by dialect; everything else replaces.
- A name or a value that is no option is a `UsageError` at once, never passed on in the hope that it means something.
- Functions, classes and schemas among the tools become tools, as in a toolbox; their calls are for the caller to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args

import msgspec

from interlingua.dialects.table import DIALECTS, SPELLINGS, is_dialect
from interlingua.errors import UsageError
from interlingua.routing.retry import MAX_TRIES
from interlingua.transport.base import Timeouts
from interlingua.types.capabilities import FEATURES, Feature
from interlingua.types.capability import CallIds, Capability, Effort, HistoryPolicy, Repair
from interlingua.types.content import Cache, TextPart
from interlingua.types.request import Request, ServerState, ThinkingSummary
from interlingua.types.tool import AllowedTools, NamedTool, OpaqueTool, Tool
from interlingua.wire.http import Headers

if TYPE_CHECKING:
    from interlingua.client.hooks.hook import Hook
    from interlingua.client.timing import Timing
    from interlingua.tools.tool import ToolSource
    from interlingua.transport.base import Carrier

__all__ = ["CONCURRENCY", "Settings", "SystemText", "options_of", "settle", "settled_under"]

SystemText: TypeAlias = str | TextPart | Iterable[str | TextPart]
"""A system text, in one piece or several."""

CONCURRENCY = 16
"""How many calls of a map are under way at once, unless somebody says otherwise."""
MOST_REPAIRS = 10
"""How often the problems of a typed answer may go back to the model at most."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Options, read: the part that goes into the request, and the part that steers the call."""

    request: Request = Request()
    """Every knob, without messages."""
    headers: Headers = ()
    """Further HTTP headers, lower case."""
    timeouts: Timeouts = Timeouts()
    """Deadlines of the call."""
    strict: bool = False
    """Whether whatever would be dropped or approximated is refused."""
    allow: frozenset[Capability] = frozenset()
    """Kinds of content that may be let go."""
    require: frozenset[Feature] = frozenset()
    """Features that a target must take; one that is known not to is passed over."""
    call_ids: CallIds = "keep"
    """The source of call ids: the provider's are kept, or they are our own."""
    history_policy: HistoryPolicy = "refuse"
    """The treatment of calls and results that do not pair."""
    repair: Repair = "off"
    """The treatment of a typed answer that does not fit."""
    max_repairs: int = 2
    """How often its problems go back to the model."""
    retries: int | None = None
    """How often a target is asked again after a failure that may pass; None is 1, and 0 where something stands in."""
    persist: bool = False
    """Whether a chain goes on after a refusal of the request itself."""
    hedge_after_s: float | None = None
    """After how long the next target is asked beside one that has not begun to answer; None for never."""
    hooks: tuple[Hook, ...] = ()
    """Hooks that run before, during and after the call, in this order."""
    carrier: Carrier | None = None
    """The carrier of the requests that leave the process; None for the transport of the process."""
    timing: Timing | None = None
    """The clock of one's own, and what is known of targets by it; None for those of the process."""
    raw: bool = False
    """Whether the provider's own reply is kept beside the answer."""
    warns: bool = True
    """Whether changes to what was set are Python warnings at the caller's line, too; a gateway has no such caller."""


_NOTHING = Request()
_DEFAULTS = Settings()


def settle(settings: Settings, options: Mapping[str, Any]) -> Settings:
    """`settings` with `options` in their places.

    Raises: UsageError for a name that is no option, and for a value that is none of its option's.
    """
    if not options:
        return settings
    knobs: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in options.items():
        if name in _KNOBS:
            knobs[name] = getattr(_NOTHING, name) if value is None else _KNOBS[name](name, value)
        elif name in _STEERING:
            rest.update(_STEERING[name](settings, rest, value))
        elif name in _ELSEWHERE:
            raise UsageError(f"no option {name!r}: {_ELSEWHERE[name]}")
        else:
            from difflib import get_close_matches

            near = get_close_matches(name, [*_KNOBS, *_STEERING, "history", "output"], n=1)
            raise UsageError(f"no option {name!r}{f'; did you mean {near[0]!r}?' if near else ''}")
    if knobs.get("extra"):
        knobs["extra"] = _added(settings.request.extra, knobs["extra"])
    if knobs:
        rest["request"] = msgspec.structs.replace(settings.request, **knobs)
    return msgspec.structs.replace(settings, **rest)


def options_of(request: Request) -> dict[str, Any]:
    """The options that a request says: everything in it but its messages."""
    values = {name: getattr(request, name) for name in _KNOBS}
    return {name: value for name, value in values.items() if value != getattr(_NOTHING, name)}


def settled_under(settings: Settings, request: Request) -> Settings:
    """`settings` with what `request` says where they say nothing."""
    ours = settings.request
    options = {
        name: value for name, value in options_of(request).items() if getattr(ours, name) == getattr(_NOTHING, name)
    }
    if request.extra:
        options["extra"] = _added(request.extra, settings.request.extra)
    return settle(settings, options)


_ELSEWHERE = {
    "api_base": "il.model(spec, base_url=…) takes it; LLM_<NAME>='openai://host/v1' makes NAME/model",
    "api_key": "il.model(spec, api_key=…) takes it; else it comes from the environment, see `il providers`",
    "base_url": "il.model(spec, base_url=…) takes it; LLM_<NAME>='openai://host/v1' makes NAME/model",
    "extra_body": "extra={'openai-chat': {…}} sends members to that dialect",
    "extra_headers": "headers={…} sends them",
    "fallbacks": "a chain as the model, 'a/b,c/d', goes on to its next target",
    "function_call": "tool_choice says what must be called",
    "functions": "tools=[…] takes functions",
    "generation_config": "each knob is an option of its own, such as max_tokens and temperature",
    "images": "il.image(…) stands among the parts: generate(['What is this?', il.image('photo.png')])",
    "input": "what to say stands first, without a name",
    "instructions": "the system text is system",
    "key": "il.model(spec, api_key=…) takes it; else it comes from the environment, see `il providers`",
    "max_cost_usd": "il.Agent(…) takes it; il.meter() tells what calls cost",
    "max_completion_tokens": "it is called max_tokens everywhere",
    "max_new_tokens": "it is called max_tokens everywhere",
    "max_retries": "it is called retries",
    "max_output_tokens": "it is called max_tokens everywhere",
    "messages": "what to say stands first, what was said before is history",
    "modalities": "extra={'openai-chat': {…}} sends members to that dialect",
    "model": "il.model('provider/model') names it",
    "num_retries": "it is called retries",
    "num_predict": "it is called max_tokens everywhere",
    "output_format": "output takes a type, output_schema a JSON Schema",
    "output_type": "it is called output",
    "previous_response_id": "history=reply goes on with a reply; continues=… with what the provider keeps",
    "reasoning": "effort says how hard to think",
    "reasoning_effort": "effort says how hard to think",
    "prompt": "what to say stands first, without a name",
    "response_format": "output takes a type, output_schema a JSON Schema",
    "response_model": "output takes a type, output_schema a JSON Schema",
    "result_type": "output takes a type, output_schema a JSON Schema",
    "schema": "output takes a type, output_schema a JSON Schema",
    "stop_sequences": "it is called stop everywhere",
    "stream": "model.stream(…) gives the answer as it comes",
    "stream_options": "model.stream(…) gives the answer as it comes, with its usage at the end",
    "system_prompt": "the system text is system",
    "text_format": "output takes a type, output_schema a JSON Schema",
    "timeout": "timeout_s takes the seconds for the whole call",
    "top_logprobs": "logprobs takes the number of alternatives",
}
"""Names that other libraries taught, and what stands for them here."""


def _added(first: Mapping[str, dict[str, Any]], second: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in {**first, **second}}


# Knobs of the request


def _wrong(name: str, value: object, expected: str) -> UsageError:
    return UsageError(f"{name} takes {expected}, not {value!r:.60}")


def _number(name: str, value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise _wrong(name, value, "a number")


def _seconds(name: str, value: object) -> float:
    seconds = _number(name, value)
    if seconds > 0:
        return seconds
    raise _wrong(name, value, "seconds above 0")


def _whole(name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _wrong(name, value, "a whole number")


def _times(most: int) -> Callable[[str, object], int]:
    def read(name: str, value: object) -> int:
        times = _whole(name, value)
        if 0 <= times <= most:
            return times
        raise _wrong(name, value, f"a number of times, 0 to {most}")

    return read


def _flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _wrong(name, value, "True or False")


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise _wrong(name, value, "a text")


def _object(name: str, value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise _wrong(name, value, "a dict")


def _one_of(*words: str) -> Callable[[str, object], str]:
    def read(name: str, value: object) -> str:
        if value in words:
            return cast("str", value)
        raise _wrong(name, value, f"one of {', '.join(words)}")

    return read


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable):
        return tuple([_text(name, item) for item in cast("Iterable[object]", value)])
    raise _wrong(name, value, "a text or several")


def _logprobs(name: str, value: object) -> int | None:
    if isinstance(value, bool):
        return 0 if value else None
    return _whole(name, value)


def _system(name: str, value: object) -> tuple[TextPart, ...]:
    if isinstance(value, str):
        return (TextPart(value),) if value else ()
    if isinstance(value, TextPart):
        return (value,)
    if not isinstance(value, Iterable):
        raise _wrong(name, value, "a text or several")
    parts: list[TextPart] = []
    for item in cast("Iterable[object]", value):
        if not isinstance(item, str | TextPart):
            raise _wrong(name, item, "texts and text parts")
        parts.extend(_system(name, item))
    return tuple(parts)


_Tools: TypeAlias = tuple[Tool | OpaqueTool, ...]


def _tools(name: str, value: object) -> _Tools:
    source: object = getattr(value, "tools", value)  # a toolbox keeps them in one tuple
    is_list = type(source) is list or type(source) is tuple  # the usual case, and quicker to see
    if not is_list and (not isinstance(source, Iterable) or isinstance(source, str | bytes | Mapping)):
        raise _wrong(name, value, "an il.Toolbox or a list of tools and functions")
    items = tuple(cast("Iterable[object]", source))
    own = [item for item in items if isinstance(item, Tool)]
    if own:  # what is made here is sound
        from interlingua.schema.validate import check_schemas  # only who has tools pays for it

        check_schemas([tool.parameters for tool in own], where=lambda place: f"tool {own[place].name}")
    tools: _Tools = tuple(own)
    if len(own) < len(items):
        tools = tuple([item if isinstance(item, Tool | OpaqueTool) else _made(item) for item in items])
        own = [tool for tool in tools if isinstance(tool, Tool)]
    names = [tool.name for tool in own]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"two tools are called {twice}; give one of them another name")
    if "" in names:
        raise UsageError("a tool must have a name, and one of them is called ''")
    return tools


def _made(source: object) -> Tool:
    from interlingua.tools.tool import tool, tool_of  # who has tools that are tools needs none of it

    return tool_of(source) if isinstance(source, FunctionType) else tool(cast("ToolSource", source))


def _tool_choice(name: str, value: object) -> object:
    if isinstance(value, NamedTool | AllowedTools) or value in ("auto", "none", "required"):
        return value
    forced: object = value
    if not isinstance(value, str):
        # Another library's form of a choice forces a tool so: `{"type": "function", "function": {"name": …}}`.
        choice = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        inner = choice.get("function", choice)
        forced = cast("dict[str, Any]", inner).get("name") if isinstance(inner, dict) else None
    hint = f"; il.NamedTool({forced!r}) forces one tool" if forced else ""
    raise UsageError(f"{name} takes auto, none, required, il.NamedTool or il.AllowedTools, not {value!r:.60}{hint}")


def _server_state(name: str, value: object) -> ServerState:
    if isinstance(value, ServerState):
        return value
    raise _wrong(name, value, "il.ServerState")


def _schema(name: str, value: object) -> dict[str, Any]:
    from interlingua.schema.validate import check_schema  # only who has a schema pays for it

    schema = _object(name, value)
    check_schema(schema, where=name)
    return schema


def _extra(name: str, value: object) -> dict[str, dict[str, Any]]:
    by_dialect: dict[str, dict[str, Any]] = {}
    for key, members in _object(name, value).items():
        dialect = SPELLINGS.get(key, key)
        if not is_dialect(dialect):
            raise UsageError(
                f"{name} takes the names of dialects, and {key!r} is not one; there are {', '.join(sorted(DIALECTS))}"
            )
        by_dialect[dialect] = _object(f"{name}[{key!r}]", members)
    return by_dialect


_KNOBS: dict[str, Callable[[str, Any], Any]] = {
    "system": _system,
    "tools": _tools,
    "tool_choice": _tool_choice,
    "output_schema": _schema,
    "schema_name": _text,
    "schema_description": _text,
    "schema_strict": _flag,
    "json_mode": _flag,
    "max_tokens": _whole,
    "temperature": _number,
    "top_p": _number,
    "top_k": _whole,
    "min_p": _number,
    "stop": _texts,
    "seed": _whole,
    "presence_penalty": _number,
    "frequency_penalty": _number,
    "logit_bias": _object,
    "logprobs": _logprobs,
    "n": _whole,
    "effort": _one_of(*get_args(Effort)),
    "thinking": _flag,
    "thinking_summary": _one_of(*get_args(ThinkingSummary)),
    "thinking_budget": _whole,
    "parallel_tool_calls": _flag,
    "verbosity": _text,
    "service_tier": _text,
    "user": _text,
    "metadata": _object,
    "store": _flag,
    "cache": _one_of(*get_args(Cache)),
    "cache_key": _text,
    "continues": _server_state,
    "extra": _extra,
}
"""The reader of each field of `Request` that a caller may set."""


# What steers the call


def _headers(settings: Settings, rest: dict[str, Any], value: object) -> dict[str, Any]:
    del rest
    if value is None:
        return {"headers": ()}
    ours = {name.lower(): _text("headers", text) for name, text in _object("headers", value).items()}
    return {"headers": tuple({**dict(settings.headers), **ours}.items())}


def _timeouts(settings: Settings, rest: dict[str, Any], value: object) -> dict[str, Any]:
    del settings, rest
    if value is not None and not isinstance(value, Timeouts):
        raise _wrong("timeouts", value, "il.Timeouts")
    for name in () if value is None else value.__struct_fields__:
        if (seconds := getattr(value, name)) is not None:
            _seconds(f"timeouts.{name}", seconds)
    return {"timeouts": value or _DEFAULTS.timeouts}


def _timeout_s(settings: Settings, rest: dict[str, Any], value: object) -> dict[str, Any]:
    timeouts: Timeouts = rest.get("timeouts", settings.timeouts)
    if value is None:
        return {"timeouts": _DEFAULTS.timeouts}
    seconds = _seconds("timeout_s", value)
    # Where the whole may take longer than its first byte used to, the first byte may, too.
    return {"timeouts": msgspec.structs.replace(timeouts, total_s=seconds, first_byte_s=seconds)}


def _transport(settings: Settings, rest: dict[str, Any], value: object) -> dict[str, Any]:
    del settings
    if value is None:
        return {} if rest.get("carrier") else {"carrier": None}
    from interlingua.transport.handed import handed_in  # only who hands one in pays for it

    return _only_carrier(rest, handed_in(value))


def _http(settings: Settings, rest: dict[str, Any], value: object) -> dict[str, Any]:
    del settings
    if value is None:
        return {} if rest.get("carrier") else {"carrier": None}
    from interlingua.transport.handed import configured  # as above
    from interlingua.transport.options import HttpOptions

    if not isinstance(value, HttpOptions):
        raise _wrong("http", value, "il.HttpOptions")
    return _only_carrier(rest, configured(value))


def _only_carrier(rest: dict[str, Any], carrier: Carrier) -> dict[str, Any]:
    if rest.get("carrier"):
        raise UsageError("transport and http exclude each other: options of a client of one's own are set there")
    return {"carrier": carrier}


def _clock(settings: Settings, rest: dict[str, Any], value: object) -> dict[str, Any]:
    del settings, rest
    if value is None:
        return {"timing": None}
    if not callable(value):
        raise _wrong("clock", value, "a function that gives seconds")
    from interlingua.client.timing import Timing  # as above

    return {"timing": Timing(cast("Callable[[], float]", value))}


def _allow(settings: Settings, rest: dict[str, Any], value: object) -> dict[str, Any]:
    del settings, rest
    kinds = frozenset(_texts("allow", value or ()))
    for kind in sorted(kinds - set(get_args(Capability))):
        raise _wrong("allow", kind, f"kinds among {', '.join(get_args(Capability))}")
    return {"allow": kinds}


def _hooks(name: str, value: object) -> tuple[Hook, ...]:
    from interlingua.client.hooks.run import check_hooks  # who has no hooks pays nothing

    del name
    return check_hooks(value)


def _require(settings: Settings, rest: dict[str, Any], value: object) -> dict[str, Any]:
    del settings, rest
    features = frozenset(_texts("require", value or ()))
    for feature in sorted(features - set(FEATURES)):
        raise _wrong("require", feature, f"features among {', '.join(FEATURES)}")
    return {"require": features}


def _steers(name: str, read: Callable[[str, Any], Any]) -> Callable[[Settings, dict[str, Any], Any], dict[str, Any]]:
    def reader(settings: Settings, rest: dict[str, Any], value: object) -> dict[str, Any]:
        del settings, rest
        return {name: getattr(_DEFAULTS, name) if value is None else read(name, value)}

    return reader


_STEERING: dict[str, Callable[[Settings, dict[str, Any], Any], dict[str, Any]]] = {
    "headers": _headers,
    "timeouts": _timeouts,
    "timeout_s": _timeout_s,
    "transport": _transport,
    "http": _http,
    "clock": _clock,
    "raw": _steers("raw", _flag),
    "strict": _steers("strict", _flag),
    "allow": _allow,
    "require": _require,
    "call_ids": _steers("call_ids", _one_of(*get_args(CallIds))),
    "history_policy": _steers("history_policy", _one_of(*get_args(HistoryPolicy))),
    "repair": _steers("repair", _one_of(*get_args(Repair))),
    "max_repairs": _steers("max_repairs", _times(MOST_REPAIRS)),
    "retries": _steers("retries", _times(MAX_TRIES - 1)),
    "persist": _steers("persist", _flag),
    "hedge_after_s": _steers("hedge_after_s", _seconds),
    "hooks": _steers("hooks", _hooks),
}
"""The reader of each option that steers the call."""
