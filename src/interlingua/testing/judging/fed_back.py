"""Answers fed back: every answer becomes the history of a next request, which the strict upstream judges.

```
kept      the library goes on with the answer as it was read: its message, results for its calls, or another word
spoken    as kept, and the client put a text of its own before the first thing that is no thought
echoed    a client of any format got the answer and sends it back in its own words (`echoes.py`)
```

Rules
- Each of them goes to every dialect whose service is imitated, as a current model of its vendor takes it, and home to
  the model that answered.
- At home the upstream knows what it gave out: signatures, ids of items, and which reasoning an item came after.
- We may refuse a request; one that goes out must be taken. At home the shape of what the service said itself is right.
- What came of an answer that broke off, of a stream that failed, and of a call that was cut is fed back, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

from msgspec.structs import replace

from interlingua.dialects._contract import DecodeOptions, Dialect, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error, UnsupportedError
from interlingua.providers.limits import facts_for
from interlingua.providers.rows import ROWS
from interlingua.testing.exchange import Exchange, Fault
from interlingua.testing.judging.echoes import FIRST, NEXT, next_body, outcome_of
from interlingua.testing.judging.trial import Trial, dump, json_reply, load
from interlingua.testing.laws import events_of
from interlingua.testing.targets import row_of
from interlingua.testing.upstream.door import DOORS
from interlingua.testing.upstream.issued import issued_in
from interlingua.testing.upstream.judge import judge_body
from interlingua.testing.upstream.verdict import Issued
from interlingua.types.capability import Capability
from interlingua.types.content import BrokenToolCall, Part, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.event import StreamEnd, StreamError
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import Freeform, Tool
from interlingua.wire.http import HttpRequest

__all__ = ["feed_back", "judge_fed_back"]

MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-6-astra",
    "anthropic": "claude-opus-5",
    "google": "gemini-3-pro",
    "ollama": "qwen3",
    "cohere": "command-a-03-2025",
    "bedrock": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "unified": "some-model",
}
"""A current model of each vendor."""
BASES = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "/v1", "google": "/v1beta"}
ADDRESSES = {
    "google": "https://generativelanguage.googleapis.com/v1beta/models/{model}:generateContent",
    "anthropic": "https://api.anthropic.com/v1/messages",
    "cohere": "https://api.cohere.com/v2/chat",
    "ollama": "http://localhost:11434/api/chat",
    "bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/converse",
}
"""Where a client of a format asks, for those whose path means something."""
HOMES = frozenset(
    {"api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "localhost:11434", "api.cohere.com"}
)
"""The hosts that are the services which the strict upstream imitates."""
SHAPES = frozenset({"unknown_member", "unknown_value", "missing_member", "wrong_type", "bad_length"})
"""Rules of the shape alone: at home they are about words that the service itself had in its answer."""
SPOKEN = "Let me look that up."
"""The words of a client in a turn."""
ALLOW = frozenset(get_args(Capability))
"""Everything that may be let go is: what goes out has to be taken without it."""


class _Next(NamedTuple):
    way: str
    request: Request


def feed_back(exchange: Exchange) -> tuple[Fault, ...] | None:
    """The faults of the requests that go on after the answer of `exchange`; None where nothing can go on."""
    name = exchange.dialect
    if name not in DIALECTS:
        return None
    dialect = get_dialect(name)
    others = [get_dialect(other) for other in DIALECTS if other != name and other in DOORS]
    trial = Trial(exchange, dialect, others, exchange.id)
    response = _response(trial)
    if response is None:
        return None
    judge_fed_back(trial, response)
    return tuple(trial.faults)


def _response(trial: Trial) -> Response[Any] | None:
    """The answer as it was read, or what came of it; None for a failure that says nothing else."""
    exchange = trial.exchange
    if exchange.stream is not None:
        last = events_of(trial.dialect, [exchange.stream_data], trial.context())[-1]
        if isinstance(last, StreamError):
            return last.partial or Response(finish_reason="error")
        return last.response if isinstance(last, StreamEnd) else None
    if exchange.response is None or (exchange.status or 200) >= 400:
        return None
    try:
        return trial.dialect.decode_response(json_reply(200, dump(exchange.response)), trial.context())
    except Error:
        return None


def judge_fed_back(trial: Trial, response: Response[Any]) -> None:
    """Judge the requests that go on after `response`, whole or partial."""
    issued = _issued(trial, response)
    for way, request in _nexts(trial, response):
        for other in trial.others:
            part = f"f {way} in {other.name}"
            with trial.part(part):
                _check_accepts(trial, part, other, request, _newest(other.name))
        if trial.exchange.host in HOMES:
            part = f"f {way} at home"
            with trial.part(part):
                _check_accepts(trial, part, trial.dialect, request, _home(trial), issued=issued)


def _check_accepts(
    trial: Trial, part: str, dialect: Dialect, request: Request, target: Target, *, issued: Issued | None = None
) -> None:
    """The service takes the request, or we refuse it ourselves."""
    options = EncodeOptions(target=target, allow=ALLOW, history="mend")
    try:
        encoded = dialect.encode_request(request, options)
    except UnsupportedError:
        return
    headers = (("anthropic-version", "2023-06-01"), ("anthropic-beta", "any"), *encoded.headers)
    path = BASES[dialect.name] + encoded.path if dialect.name in BASES else None
    verdict = judge_body(dialect.name, encoded.body, model=target.model, path=path, headers=headers, issued=issued)
    for problem in verdict.problems:
        if issued is None or problem.rule not in SHAPES:
            trial.note(part, problem)


def _newest(dialect: str) -> Target:
    model = MODELS[dialect]
    name = "interlingua" if dialect == "unified" else dialect
    return Target(model=model, provider=name, quirks=ROWS[name].quirks, facts=facts_for(name, dialect, model))


def _home(trial: Trial) -> Target:
    """The target that answered: the row of the recorded host, and the model that the request named."""
    name = trial.dialect.name
    row = row_of(name, trial.exchange.host) or ROWS["interlingua" if name == "unified" else name]
    model = trial.context().target.model or trial.exchange.model or MODELS[name]
    return Target(model=model, provider=row.name, quirks=row.quirks, facts=facts_for(row.name, name, model))


def _issued(trial: Trial, response: Response[Any]) -> Issued:
    """The ids and signatures that the service gave out in this answer."""
    body = load(trial.dialect.encode_response(response, ServerContext(source=trial.dialect.name)).body)
    return issued_in(trial.dialect.name, body)


def _nexts(trial: Trial, response: Response[Any]) -> Iterator[_Next]:
    yield _Next("kept", _continued(response.message))
    if any(isinstance(part, ThinkingPart) for part in response.parts):
        yield _Next("spoken", _continued(replace(response.message, parts=tuple(_spoken_in(response.parts)))))
    for client in (trial.dialect, *trial.others):
        part = f"f echoed by {client.name}"
        with trial.part(part):
            request = _echoed(client, response, trial.dialect.name)
            if request is not None:
                yield _Next(f"echoed by {client.name}", request)


def _continued(turn: Message) -> Request:
    """The request that goes on after a turn of the assistant."""
    calls = [part for part in turn.parts if isinstance(part, ToolCall | BrokenToolCall)]
    messages = [user(FIRST), turn]
    results: list[Part] = []
    for number, call in enumerate(calls):
        text, is_error = outcome_of(number)
        results.append(ToolResult(call.id, call.name, text, is_error))
    messages.append(Message("tool", tuple(results)) if results else user(NEXT))
    names = dict.fromkeys(call.name for call in calls)
    freeform = {call.name: call.freeform for call in calls}
    tools = tuple([Tool(name=name, description="?", freeform=Freeform() if freeform[name] else None) for name in names])
    return Request(messages=tuple(messages), tools=tools, max_tokens=2_000)


def _spoken_in(parts: tuple[Part, ...]) -> Iterator[Part]:
    """The parts, and a text of the client before the first one that is no thought."""
    is_spoken = False
    for part in parts:
        if not is_spoken and not isinstance(part, ThinkingPart):
            yield TextPart(SPOKEN)
            is_spoken = True
        yield replace(part, sealed=None) if isinstance(part, TextPart) else part
    if not is_spoken:
        yield TextPart(SPOKEN)


def _echoed(client: Dialect, response: Response[Any], source: str) -> Request | None:
    """The request of a client of that format; None where it was told of an error, after which nothing goes on."""
    reply = client.encode_response(response, ServerContext(model="m", source=source, legal=True))
    if reply.status >= 400:
        return None
    body = next_body(client.name, load(reply.body), MODELS[client.name])
    url = ADDRESSES.get(client.name, "https://recorded.invalid").format(model=MODELS[client.name])
    echo = HttpRequest(url=url, body=dump(body), dialect=client.name)
    return client.decode_request(echo, DecodeOptions(history="mend")).request
