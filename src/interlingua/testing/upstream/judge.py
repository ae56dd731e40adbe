"""The verdict of a provider on a request: `judge(dialect, request)`.

```
door      method, path, credential, headers, size          door.py
JSON      one object
shape     members, kinds, words, bounds                    requests/, through notation.py and shapes.py
rules     order, pairing, names, limits, model families    rules/
```

Rules
- Everything that is wrong is found; the refusal is that of the first problem, worded as the service does it.
- Nothing of `dialects/` is imported: the judge knows the wire from our notes and from the official clients alone.

This module is not responsible for answers: that is `service.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

import msgspec

from interlingua.errors import Error
from interlingua.testing.upstream.door import DOORS, named_model
from interlingua.testing.upstream.notation import parse
from interlingua.testing.upstream.refusals import refusal
from interlingua.testing.upstream.requests.anthropic import ANTHROPIC
from interlingua.testing.upstream.requests.anthropic_hosted import ANTHROPIC_HOSTED
from interlingua.testing.upstream.requests.anthropic_tools import ANTHROPIC_TOOLS
from interlingua.testing.upstream.requests.bedrock import BEDROCK
from interlingua.testing.upstream.requests.chat import CHAT
from interlingua.testing.upstream.requests.cohere import COHERE
from interlingua.testing.upstream.requests.google import GOOGLE
from interlingua.testing.upstream.requests.google_configs import GOOGLE_CONFIGS
from interlingua.testing.upstream.requests.google_tools import GOOGLE_TOOLS
from interlingua.testing.upstream.requests.ollama import OLLAMA
from interlingua.testing.upstream.requests.responses import RESPONSES
from interlingua.testing.upstream.requests.responses_hosted import RESPONSES_HOSTED
from interlingua.testing.upstream.requests.responses_tools import RESPONSES_TOOLS
from interlingua.testing.upstream.requests.unified import UNIFIED
from interlingua.testing.upstream.rules.anthropic import ANTHROPIC_RULES
from interlingua.testing.upstream.rules.bedrock import BEDROCK_RULES
from interlingua.testing.upstream.rules.chat import CHAT_RULES
from interlingua.testing.upstream.rules.cohere import COHERE_RULES
from interlingua.testing.upstream.rules.google import GOOGLE_RULES
from interlingua.testing.upstream.rules.ollama import OLLAMA_RULES
from interlingua.testing.upstream.rules.responses import RESPONSES_RULES
from interlingua.testing.upstream.rules.unified import UNIFIED_RULES
from interlingua.testing.upstream.shapes import Fault, Named, Reading, faults
from interlingua.testing.upstream.verdict import Asked, Issued, Problem, Rule, Verdict
from interlingua.testing.wirefacts.values import items, members
from interlingua.wire.http import Headers, HttpRequest
from interlingua.wire.json import decode_any, encode

__all__ = ["Law", "asked_of", "camel", "judge", "judge_body", "law_of"]


def _never(fault: Fault, headers: Headers, body: dict[str, Any]) -> bool:  # noqa: ARG001 - no header excuses anything
    return False


class Law(msgspec.Struct, frozen=True, kw_only=True):
    """The demands of one service on a request's body."""

    reading: Reading
    """How it reads JSON, and its named shapes."""
    rules: tuple[Rule, ...]
    """The rules beyond the shape."""
    source: str
    """Where the shapes are known from."""
    root: Callable[[str], str] = lambda _: "Request"
    """Name of the shape of a whole body, by path."""
    body: Callable[[dict[str, Any]], dict[str, Any]] = lambda body: body
    """The body as the rules see it."""
    excuses: Callable[[Fault, Headers, dict[str, Any]], bool] = _never
    """Whether a header makes a fault of the shape none."""


def camel(name: str) -> str:
    """A member in camel case: proto JSON takes both spellings."""
    return re.sub(r"(?<=[a-z0-9])_([a-z0-9])", lambda match: match[1].upper(), name)


_FREE = frozenset(
    {"args", "response", "parametersJsonSchema", "responseJsonSchema", "labels", "partMetadata", "example", "default"}
)
"""Members whose content belongs to the caller."""
_FREE_NAMES = frozenset({"properties", "defs"})
"""Members whose own members are named by the caller."""


def _camel_body(body: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", _camel(body))


def _camel(value: object, *, names_are_free: bool = False) -> object:
    if isinstance(value, list):
        return [_camel(item) for item in items(value)]
    if not isinstance(value, dict):
        return value
    camelled: dict[str, object] = {}
    for name, item in members(value).items():
        spelled = name if names_are_free else camel(name)
        is_free = spelled in _FREE and not names_are_free
        camelled[spelled] = (
            item if is_free else _camel(item, names_are_free=spelled in _FREE_NAMES and not names_are_free)
        )
    return camelled


BETA_MEMBERS = frozenset(
    {
        "billing_policy",
        "compaction",
        "context_management",
        "fallback_credit_token",
        "fallbacks",
        "mcp_servers",
        "output_format",
        "thread",
        "task_budget",
        "caller",
        "toolset_name",
        "edits",
    }
)
"""Members that Messages takes with an `anthropic-beta` header alone."""
BETA_TOOLS = frozenset({"advisor"})
"""Tools at the provider that it takes with that header alone."""
BETA_TYPES = re.compile(
    r"(advisor|mcp|compaction|compact|fallback|clear_|tool_addition|tool_removal|computer_20|bash_2024|text_editor_2024)"
    r".*"
)
"""Blocks and tools that Messages takes with that header alone."""


def _beta(fault: Fault, headers: Headers, body: dict[str, Any]) -> bool:
    """Whether a beta header makes a fault none (PAR-02: header and field travel together)."""
    if not any(name == "anthropic-beta" for name, _ in headers):
        return False
    return bool(BETA_MEMBERS.intersection(map(str, fault.steps))) or any(map(_is_beta, _along(fault.steps, body)))


def _along(steps: tuple[str | int, ...], value: Any) -> Iterator[dict[str, Any]]:
    """Every object on the way to a place."""
    for step in steps:
        if isinstance(value, dict):
            yield members(value)
            value = members(value).get(str(step))
        elif isinstance(value, list) and isinstance(step, int):
            value = items(value)[step]


def _is_beta(block: dict[str, Any]) -> bool:
    return BETA_TYPES.fullmatch(str(block.get("type"))) is not None or block.get("name") in BETA_TOOLS


@cache
def law_of(dialect: str) -> Law:
    """The demands of the service of that dialect.

    Raises: KeyError for a dialect without one.
    """
    return _LAWS[dialect]()


_LAWS: dict[str, Callable[[], Law]] = {
    "openai-chat": lambda: Law(
        reading=Reading(grammar=parse(CHAT)),
        rules=CHAT_RULES,
        source="OpenAI Chat; request types of the official client",
    ),
    "openai-responses": lambda: Law(
        reading=Reading(grammar=parse(RESPONSES, RESPONSES_HOSTED, RESPONSES_TOOLS)),
        rules=RESPONSES_RULES,
        source="OpenAI Responses; request types of the official client",
        root=lambda path: "CompactRequest" if path.endswith("/compact") else "Request",
    ),
    "anthropic": lambda: Law(
        reading=Reading(grammar=parse(ANTHROPIC, ANTHROPIC_HOSTED, ANTHROPIC_TOOLS)),
        rules=ANTHROPIC_RULES,
        source="Anthropic; request types of the official client",
        excuses=_beta,
    ),
    "google": lambda: Law(
        reading=Reading(
            grammar=parse(GOOGLE, GOOGLE_CONFIGS, GOOGLE_TOOLS),
            null_is_absent=True,
            numbers_as_text=True,
            words_any_case=True,
            one_for_many=True,
            spell=camel,
        ),
        rules=GOOGLE_RULES,
        source="Google; request types of the official client",
        body=_camel_body,
    ),
    "ollama": lambda: Law(
        reading=Reading(grammar=parse(OLLAMA), ignores_unknown=True),
        rules=OLLAMA_RULES,
        source="Ollama; request types of the official client",
        root=lambda path: "GenerateRequest" if path.endswith("/generate") else "ChatRequest",
    ),
    "cohere": lambda: Law(
        reading=Reading(grammar=parse(COHERE)),
        rules=COHERE_RULES,
        source="Cohere; request types of the official client",
    ),
    "bedrock": lambda: Law(
        reading=Reading(grammar=parse(BEDROCK), null_is_absent=True),
        rules=BEDROCK_RULES,
        source="Bedrock; service model of botocore",
    ),
    "unified": lambda: Law(
        reading=Reading(grammar=parse(UNIFIED)), rules=UNIFIED_RULES, source="the format's page and JSON Schema"
    ),
}


def judge(dialect: str, request: HttpRequest, *, issued: Issued | None = None, keyless: bool = False) -> Verdict:
    """The verdict of the real service of that dialect on `request`.

    `issued` is what the service gave out before and will know again; without it nothing is checked against it.
    `keyless` lets a request without a credential in.
    """
    problems = list(DOORS[dialect].problems(request))
    if keyless:
        problems = [problem for problem in problems if problem.rule != "no_credential"]
    try:
        body = decode_any(request.body)
    except Error as error:
        problems.append(Problem(rule="invalid_json", sentence=error.message, source="Errors, 400"))
        body = {}
    if not isinstance(body, dict):
        problems.append(Problem(rule="invalid_json", sentence="the body is not an object", source="Errors, 400"))
        body = {}
    if not any(problem.rule == "invalid_json" for problem in problems):
        problems += _judged(dialect, request, members(body), issued)
    return Verdict(problems=tuple(problems), reply=refusal(dialect, problems[0]) if problems else None)


def _judged(dialect: str, request: HttpRequest, body: dict[str, Any], issued: Issued | None) -> Iterator[Problem]:
    law = law_of(dialect)
    root = Named(law.root(request.url.partition("?")[0]))
    for fault in faults(law.reading, root, body):
        if not law.excuses(fault, request.headers, body):
            yield Problem(rule=fault.kind, steps=fault.steps, sentence=fault.sentence, source=law.source)
    question = _question_of(dialect, request, body, issued)
    for rule in law.rules:
        yield from rule.problems(question)


def _question_of(dialect: str, request: HttpRequest, body: dict[str, Any], issued: Issued | None) -> Asked:
    return Asked(
        body=law_of(dialect).body(body),
        model=named_model(dialect, request, body.get("model")),
        headers=request.headers,
        url=request.url,
        issued=issued,
    )


def asked_of(dialect: str, request: HttpRequest) -> Asked:
    """A request as the rules see it; one without a readable body asks nothing."""
    try:
        body = members(decode_any(request.body))
    except Error:
        body = {}
    return _question_of(dialect, request, body, None)


_ADDRESSES = {
    "openai-chat": "https://api.openai.com/v1/chat/completions",
    "openai-responses": "https://api.openai.com/v1/responses",
    "anthropic": "https://api.anthropic.com/v1/messages",
    "google": "https://generativelanguage.googleapis.com/v1beta/models/{model}:generateContent",
    "ollama": "http://localhost:11434/api/chat",
    "cohere": "https://api.cohere.com/v2/chat",
    "bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/converse",
    "unified": "http://localhost:8000/unified/v1/generate",
}
_KEYS: Headers = (("content-type", "application/json"), ("authorization", "Bearer key"))


def judge_body(
    dialect: str,
    body: bytes | dict[str, Any],
    *,
    model: str = "some-model",
    path: str | None = None,
    headers: Headers = (("anthropic-version", "2023-06-01"),),
    issued: Issued | None = None,
) -> Verdict:
    """As `judge`, for a body alone: address and credential are added.

    `model` is for dialects that name it in the path, `path` for services with more than one.
    """
    url = _ADDRESSES[dialect].format(model=model)
    if path is not None:
        url = "https://" + url.split("/")[2] + path
    content = body if isinstance(body, bytes) else encode(body, nulls=len(body))
    return judge(dialect, HttpRequest(url=url, headers=(*_KEYS, *headers), body=content), issued=issued)
