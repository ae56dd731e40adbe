"""Facts of a wire body: what it says, whatever the format, read independently of the dialects.

A translation is right when the facts before and after it are equal. So that a fault of a dialect cannot hide itself,
these readers are written from the wire formats alone and share no code with `interlingua.dialects`.

Shape
- A request: `model`, `messages` as (role, text), `tools` (name, description, schema), `server_tools`, `tool_choice`,
  `output_schema`, `calls` (name, arguments), `results` (the number of the call, content, is_error), `media` as (type,
  SHA-256 of the bytes), `references`, `thinking`, `seals`, `refusals`.
- An answer: `model`, `usage`, and for each choice `text`, `thinking`, `seals`, `calls`, `refusal`, `finish_reason`,
  `media`. A stream has the facts of what it adds up to.
- An error: `class` and `status`.
- The `whole_…` readers add what formats say beside that: settings, cache marks, strict tools, ids, citations, and the
  steps of tools that the provider ran.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from interlingua.errors import ConfigError
from interlingua.testing.wirefacts.anthropic_stream import READER as ANTHROPIC
from interlingua.testing.wirefacts.bedrock import READER as BEDROCK
from interlingua.testing.wirefacts.cohere import READER as COHERE
from interlingua.testing.wirefacts.google_stream import READER as GOOGLE
from interlingua.testing.wirefacts.marks import cache_marks, strict_tools
from interlingua.testing.wirefacts.ollama import READER as OLLAMA
from interlingua.testing.wirefacts.openai_chat import answer_error as chat_error
from interlingua.testing.wirefacts.openai_chat import request_facts as chat_request
from interlingua.testing.wirefacts.openai_chat import request_faults as chat_faults
from interlingua.testing.wirefacts.openai_chat import response_facts as chat_response
from interlingua.testing.wirefacts.openai_chat_stream import stream_facts as chat_stream
from interlingua.testing.wirefacts.openai_responses_stream import READER as OPENAI_RESPONSES
from interlingua.testing.wirefacts.origins import answer_origins, request_call_ids
from interlingua.testing.wirefacts.settings import defaults_of, settings_of
from interlingua.testing.wirefacts.steps import answer_steps, request_steps
from interlingua.testing.wirefacts.unified import READER as UNIFIED
from interlingua.testing.wirefacts.values import FactReader, Facts, StreamFacts
from interlingua.wire.json import pointer
from interlingua.wire.media import encode_base64

__all__ = [
    "READERS",
    "Difference",
    "FactReader",
    "Facts",
    "StreamFacts",
    "builtins_of",
    "differences",
    "error_facts",
    "first_difference",
    "paths",
    "reader_for",
    "request_facts",
    "request_faults",
    "response_facts",
    "stream_facts",
    "whole_answer",
    "whole_request",
    "whole_stream",
    "without_nulls",
]

READERS: dict[str, FactReader] = {
    "anthropic": ANTHROPIC,
    "cohere": COHERE,
    "bedrock": BEDROCK,
    "google": GOOGLE,
    "ollama": OLLAMA,
    "openai-chat": FactReader(chat_request, chat_faults, chat_response, chat_stream, chat_error, "openai-chat"),
    "openai-responses": OPENAI_RESPONSES,
    "unified": UNIFIED,
}
"""The readers of each dialect."""


class Difference(str):
    """Where two values first differ, as `path: one != other`."""

    __slots__ = ("path",)
    path: str
    """RFC 6901 pointer to the place."""

    @classmethod
    def at(cls, path: str, one: object, other: object) -> Difference:
        """The difference between two values at `path`, each shown briefly."""
        difference = cls(f"{path or '/'}: {_brief(one)} != {_brief(other)}")
        difference.path = path
        return difference


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


ABSENT = _Absent()


def reader_for(dialect: str) -> FactReader:
    """The readers of a dialect.

    Raises: ConfigError for a dialect without readers.
    """
    if dialect not in READERS:
        raise ConfigError(f"no fact reader for dialect {dialect!r}; there are: {', '.join(sorted(READERS))}")
    return READERS[dialect]


def request_facts(dialect: str, body: Any, *, model: str | None = None) -> Facts:
    """The facts of a request body; `model` is for formats that name it in the path."""
    return reader_for(dialect).request(body, model)


def request_faults(dialect: str, body: Any) -> list[str]:
    """The faults of the calls and results of a request's history; empty for a sound one."""
    return reader_for(dialect).faults(body)


def response_facts(dialect: str, body: Any) -> Facts:
    """The facts of a whole answer."""
    return reader_for(dialect).response(body)


def stream_facts(dialect: str, text: str) -> StreamFacts:
    """The facts of what a streamed answer adds up to, how it ended, and the error that ended it."""
    return reader_for(dialect).stream(text)


def error_facts(dialect: str, status: int, body: Any) -> Facts | None:
    """Class and status of an error answer; None for an answer that is none."""
    return reader_for(dialect).error(status, body)


def whole_request(dialect: str, body: Any, model: str | None = None) -> Facts:
    """Everything that a request body says, settings and ids among it; null is not there."""
    body, reader = without_nulls(body), reader_for(dialect)
    facts = reader.request(body, model)
    ids = request_call_ids(reader.format, body)
    calls = [{**call, "id": call_id} for call, call_id in zip(facts["calls"], ids, strict=True)]
    return {
        **facts,
        "calls": calls,
        "strict": strict_tools(reader.format, body),
        "settings": settings_of(reader.format, body),
        "defaults": defaults_of(reader.format, facts["tool_choice"]),
        "cache_marks": cache_marks(reader.format, body),
        "steps": request_steps(reader.format, body),
    }


def whole_answer(dialect: str, body: Any) -> Facts:
    """Everything that an answer says, ids and citations among it; null is not there."""
    body, reader = without_nulls(body), reader_for(dialect)
    return _with_origins(reader.format, reader.response(body), body)


def whole_stream(dialect: str, text: str) -> StreamFacts:
    """Everything that a streamed answer adds up to, how it ended, and the error that ended it."""
    reader = reader_for(dialect)
    stream = reader.stream(text)
    return stream._replace(facts=_with_origins(reader.format, stream.facts, stream.body))


def _with_origins(name: str, facts: Facts, body: Any) -> Facts:
    origins = answer_origins(name, body)
    further: list[Facts] = [*origins["choices"], *[{"call_ids": [], "citations": []}] * len(facts["choices"])]
    pairs = enumerate(zip(facts["choices"], further, strict=False))
    choices = [{**choice, **more, "steps": answer_steps(name, body, at)} for at, (choice, more) in pairs]
    return {
        **facts,
        "choices": choices,
        "id": origins["id"],
        "has_id": name not in NAMELESS,
        "has_model": name not in ("bedrock", "cohere"),
        "finishes": FINISHES[name],
    }


NAMELESS = ("bedrock", "ollama")
"""The formats whose answers have no id."""
_EVERY = frozenset({"stop", "length", "tool_calls"})
FINISHES: dict[str, frozenset[str]] = {
    "anthropic": _EVERY | {"content_filter", "pause"},
    "bedrock": _EVERY | {"content_filter"},
    "google": _EVERY | {"content_filter"},
    "ollama": _EVERY,
    "cohere": _EVERY,
    "openai-chat": _EVERY | {"content_filter", "refusal"},
    "openai-responses": _EVERY | {"content_filter", "refusal"},
    "unified": _EVERY | {"content_filter", "refusal", "pause", "error", "other"},
}
"""How an answer can end in each format; a reason that is among them may not be sent as another one."""


VERBATIM = frozenset({
    "args", "arguments", "default", "enum", "const", "examples", "format", "input", "json_schema", "input_schema",
    "output_schema", "parameters", "parametersJsonSchema", "parameters_json_schema", "response", "responseSchema",
    "responseJsonSchema", "response_schema", "response_json_schema", "schema", "value", "sealed", "json",
})  # fmt: skip
"""Members in which null is a value: somebody else's data and schemas."""


HOLDERS: tuple[type, ...] = (dict, list)
"""Types of values that have others in them."""


def builtins_of(value: Any) -> Any:
    """A canonical value as dicts and lists, bytes and base64 as text."""
    return msgspec.to_builtins(value, enc_hook=encode_base64)


def without_nulls(value: Any) -> Any:
    """A body without the members that are null, but for what is somebody else's data."""
    if isinstance(value, list):
        return [without_nulls(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        name: without_nulls(item)
        if isinstance(item, HOLDERS) and (name not in VERBATIM or type(item) is list)
        else item
        for name, item in cast("dict[str, Any]", value).items()
        if item is not None
    }


def first_difference(one: Any, other: Any, path: str = "") -> Difference | None:
    """The first place where two JSON values differ; None when they are equal.

    Numbers compare by value, `1` and `1.0` alike, but a boolean is never a number.
    """
    return next(iter(differences(one, other, path)), None)


def differences(one: Any, other: Any, path: str = "") -> list[Difference]:
    """Every place where two JSON values differ, in the order of the first."""
    inner, others = _inside(one), _inside(other)
    if inner is None or others is None or isinstance(one, dict) != isinstance(other, dict):
        return [] if _is_same(one, other) else [Difference.at(path, one, other)]
    places: list[Difference] = []
    for name in [*inner, *(name for name in others if name not in inner)]:
        left, right = inner.get(name, ABSENT), others.get(name, ABSENT)
        if not (isinstance(left, str) and left == right):  # most members are equal texts
            places += differences(left, right, f"{path}{pointer(name)}")
    return places


def paths(value: Any, path: str = "") -> frozenset[str]:
    """The pointers to everything in a JSON value, the value itself included."""
    inner = _inside(value) or {}
    return frozenset({path}).union(*[paths(item, f"{path}{pointer(name)}") for name, item in inner.items()])


def _inside(value: Any) -> dict[Any, Any] | None:
    """The members of an object or the items of an array by place; None for anything else."""
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value)
    return dict(enumerate(cast("list[Any]", value))) if isinstance(value, list | tuple) else None


def _is_same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _brief(value: object, length: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= length else f"{text[: length - 1]}…"
