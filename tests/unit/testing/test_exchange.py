"""Part (b) of the judgement: what an exchange says in every other dialect. A twin of Chat stands for one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import Dialect, Encoded, EncodeOptions, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import BadRequestError, RateLimitError, UnsupportedError
from interlingua.testing.exchange import Exchange, Verdict
from interlingua.testing.facts import READERS
from interlingua.testing.judge import DialectFor, Judge
from interlingua.types.change import Changes
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import Tool

CHAT = get_dialect("openai-chat")
TWIN = msgspec.structs.replace(CHAT, name="twin")
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}},
}
EXCHANGE = Exchange(
    id="x",
    api="chat-completions",
    status=200,
    request={
        "model": "m",
        "messages": [{"role": "system", "content": "Be terse."}, {"role": "user", "content": "Hi"}],
        "tools": [TOOL],
        "tool_choice": "required",
    },
    response={
        "id": "c",
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "Hello."}}],
    },
)


@pytest.fixture(autouse=True)
def _twin_has_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(READERS, "twin", READERS["openai-chat"])


def _among(*dialects: Dialect) -> DialectFor:
    known = {dialect.name: dialect for dialect in dialects}
    return known.get


def _judged(twin: Dialect, exchange: Exchange = EXCHANGE) -> Verdict:
    return Judge(_among(CHAT, twin), ("openai-chat", "twin")).judge(exchange)


def _encoding(change: Any) -> Dialect:
    """A twin whose requests are changed before they are encoded: `change` gives the request and what it says of it."""

    def encode(request: Request, options: EncodeOptions) -> Encoded:
        changes = Changes("twin", "encode_request")
        encoded = CHAT.encode_request(change(request, changes), options)
        return msgspec.structs.replace(encoded, changes=(*encoded.changes, *changes.done()))

    return msgspec.structs.replace(TWIN, encode_request=encode)


def test_a_faithful_dialect_passes() -> None:
    """The same facts elsewhere, asked and answered."""
    assert _judged(TWIN).outcome == "passed"


def test_a_loss_in_silence_fails() -> None:
    """A dialect that leaves something out without a word fails, with the first differing path."""

    def silent(request: Request, changes: Changes) -> Request:
        return msgspec.structs.replace(request, tool_choice=None)

    verdict = _judged(_encoding(silent))
    assert (verdict.outcome, verdict.reason) == ("failed", "b request in twin")
    assert verdict.detail == "/tool_choice: 'required' != None"


def test_a_loss_that_is_said_passes() -> None:
    """The same with an entry in `changes` is fine, and excuses nothing else."""

    def said(request: Request, changes: Changes) -> Request:
        changes.add("tool_choice_approximated", "/tool_choice")
        return msgspec.structs.replace(request, tool_choice=None)

    def said_something_else(request: Request, changes: Changes) -> Request:
        changes.add("parameter_unsupported", "/temperature")
        return msgspec.structs.replace(request, tool_choice=None)

    assert _judged(_encoding(said)).outcome == "passed"
    assert _judged(_encoding(said_something_else)).outcome == "failed"


@pytest.mark.parametrize(("path", "outcome"), [("/tools/1", "passed"), ("/tools/0", "failed"), ("/tools/2", "failed")])
def test_a_refusal_must_be_of_something_there(path: str, outcome: str) -> None:
    """A refusal names what is in the request, and what is of its kind; any other is a failure."""

    def refuse(request: Request, options: EncodeOptions) -> Encoded:
        if len(request.tools) == 1:
            return CHAT.encode_request(request, options)  # without what travels unread nothing is refused
        changes = Changes("twin", "encode_request")
        changes.add("server_tools", path)
        raise UnsupportedError("no such tools", changes=changes.refused())

    hosted = {**EXCHANGE.request, "tools": [TOOL, {"type": "web_search_preview"}]}
    exchange = msgspec.structs.replace(EXCHANGE, request=hosted)
    verdict = _judged(msgspec.structs.replace(TWIN, encode_request=refuse), exchange)
    assert verdict.outcome == outcome
    assert (verdict.translated, verdict.refusals) == (("twin",), {"twin": ("server_tools",)})


def test_every_fault_is_reported() -> None:
    """A request that loses two settings, and an answer that loses its text, have three faults."""

    def silent(request: Request, changes: Changes) -> Request:
        return msgspec.structs.replace(request, temperature=None, stop=())

    def mute(response: Response[Any], context: ServerContext) -> Any:
        return CHAT.encode_response(msgspec.structs.replace(response, parts=()), context)

    exchange = msgspec.structs.replace(EXCHANGE, request={**EXCHANGE.request, "temperature": 0.5, "stop": ["x"]})
    verdict = _judged(msgspec.structs.replace(_encoding(silent), encode_response=mute), exchange)
    assert [str(fault) for fault in verdict.faults] == [
        "b request in twin: /temperature: 0.5 != None",
        "b request in twin: /stop: ['x'] != None",
        "b response in twin: /text/parts/0: ('assistant', 'Hello.') != '(nothing)'",
    ]


def test_an_entry_excuses_its_own_tool_alone() -> None:
    """An entry about the cache mark of one tool excuses neither another tool's mark nor a lost tool."""

    def lossy(request: Request, changes: Changes) -> Request:
        changes.add("cache_unsupported", "/tools/0/cache")
        tools = [msgspec.structs.replace(tool, cache=None) for tool in request.tools[:2] if isinstance(tool, Tool)]
        return msgspec.structs.replace(request, tools=tuple(tools))

    marked = [
        {**TOOL, "function": {**TOOL["function"], "name": name}, "cache_control": {"type": "ephemeral"}}
        for name in ("a", "b", "c")
    ]
    exchange = msgspec.structs.replace(EXCHANGE, request={**EXCHANGE.request, "tools": marked})
    verdict = _judged(_encoding(lossy), exchange)
    assert [fault.path for fault in verdict.faults if fault.path.startswith("/tools")] == ["/tools/tools/2"]
    assert [fault.detail.split(":")[0] for fault in verdict.faults if "cache" in fault.path] == [
        "/cache_marks/tools/1",
        "/cache_marks/tools/2",
    ]


def test_null_is_absent() -> None:
    """A request and an answer full of nulls pass, and so do the same without them."""
    nulls = dict.fromkeys(("temperature", "stop", "response_format", "stream_options", "metadata", "reasoning_effort"))
    message = {"content": "Hello.", "tool_calls": None, "refusal": None, "annotations": None, "audio": None}
    answer = {**EXCHANGE.response, "usage": None, "service_tier": None}
    answer["choices"] = [{"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}]
    exchange = msgspec.structs.replace(EXCHANGE, request={**EXCHANGE.request, **nulls}, response=answer)
    assert _judged(TWIN, exchange).faults == ()


class _Silent:
    def encode(self, event: Any) -> bytes:
        return b""


def _silent(context: ServerContext) -> _Silent:
    return _Silent()


def test_a_stream_must_say_something_elsewhere() -> None:
    """A dialect that streams nothing at all fails on every stream, and so does one with an empty clean end."""
    chunk: dict[str, Any] = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    last: dict[str, Any] = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    frames = "".join(f"data: {msgspec.json.encode(frame).decode()}\n\n" for frame in (chunk, last))
    exchange = Exchange(id="s", api="chat-completions", status=200, stream=frames + "data: [DONE]\n\n")
    assert _judged(TWIN, exchange).faults == ()

    verdict = _judged(msgspec.structs.replace(TWIN, stream_encoder=_silent), exchange)
    assert "d stream in twin: the end: done != cut" in [str(fault) for fault in verdict.faults]


def test_a_request_that_the_provider_refused_may_be_refused() -> None:
    """With an error that names the place it passes; one that was answered must be read."""
    body: dict[str, Any] = {
        "model": "m",
        "messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}],
    }
    error = {"error": {"message": "Missing data.", "type": "invalid_request_error", "param": None, "code": None}}
    exchange = Exchange(id="r", api="chat-completions", status=400, request=body, response=error)
    assert _judged(TWIN, exchange).faults == ()
    answered = msgspec.structs.replace(exchange, status=200, response=EXCHANGE.response)
    [fault, *_] = _judged(TWIN, answered).faults
    assert str(fault).startswith("a request: raised DecodeError: /messages/0/content/0")


def test_errors_keep_their_words_and_when_to_come_back() -> None:
    """The message and the time to wait reach every dialect; a codec that loses either fails."""
    error = {"error": {"message": "Slow down, please.", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
    exchange = Exchange(id="e", api="chat-completions", status=429, response=error, headers={"retry-after": "7"})
    assert _judged(TWIN, exchange).faults == ()

    def curt(error: Any, context: ServerContext) -> Any:
        return CHAT.encode_error(RateLimitError("No.", status=429), context)

    verdict = _judged(msgspec.structs.replace(TWIN, encode_error=curt), exchange)
    assert [str(fault) for fault in verdict.faults] == [
        "e error in twin: the message: 'Slow down, please.' != 'No.'",
        "e error in twin: retry after: 7.0 != None",
    ]


def test_an_answer_lost_elsewhere_fails() -> None:
    """What an answer says must survive in the other dialect's server role."""

    def mute(response: Response[Any], context: ServerContext) -> Any:
        return CHAT.encode_response(msgspec.structs.replace(response, parts=()), context)

    verdict = _judged(msgspec.structs.replace(TWIN, encode_response=mute))
    assert (verdict.outcome, verdict.reason) == ("failed", "b response in twin")


def test_an_error_must_keep_its_class_elsewhere() -> None:
    """The class of an error survives in every dialect."""
    exchange = Exchange(
        id="e", api="chat-completions", status=429, response={"error": {"message": "slow", "code": "x"}}
    )
    assert _judged(TWIN, exchange).outcome == "passed"

    def teapot(error: Any, context: ServerContext) -> Any:
        return CHAT.encode_error(BadRequestError(error.message, status=400), context)

    verdict = _judged(msgspec.structs.replace(TWIN, encode_error=teapot), exchange)
    assert (verdict.outcome, verdict.reason) == ("failed", "e error in twin")


def test_an_error_that_is_no_json_is_judged_by_its_status() -> None:
    """A text body under an error status is decoded to the class of the status."""
    exchange = Exchange(id="e", api="chat-completions", status=503, response_text="<html>busy</html>")
    assert _judged(TWIN, exchange).outcome == "passed"


def test_the_model_in_the_path() -> None:
    """Formats that name the model in the path have it there."""
    url = "generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent"
    assert Exchange(id="g", api="generateContent", url=url).model == "gemini-3-pro"
    assert EXCHANGE.model is None


@pytest.mark.parametrize(("status", "told", "outcome"), [(524, 500, "passed"), (524, 503, "failed")])
def test_a_status_may_be_told_as_another_of_its_class(status: int, told: int, outcome: str) -> None:
    """A status that only a family of servers knows becomes one that says the same class by itself, and no other."""

    def tell(error: Any, context: ServerContext) -> Any:
        return msgspec.structs.replace(CHAT.encode_error(error, context), status=told)

    twin = msgspec.structs.replace(CHAT, encode_error=tell)
    exchange = Exchange(id="e", api="chat-completions", status=status, response_text="error code: 524")
    verdict = Judge(lambda name: twin, ()).judge(exchange)
    assert verdict.outcome == outcome


def test_a_value_may_not_change_even_where_an_entry_says_so() -> None:
    """What a dialect reads of its own writing is the same request; an entry excuses a difference of forms alone."""

    def cool(request: Request, options: EncodeOptions) -> Encoded:
        changes = Changes("openai-chat", "encode_request")
        changes.add("parameter_adjusted", "/temperature")
        encoded = CHAT.encode_request(msgspec.structs.replace(request, temperature=1.0), options)
        return msgspec.structs.replace(encoded, changes=(*encoded.changes, *changes.done()))

    twin = msgspec.structs.replace(CHAT, encode_request=cool)
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], "temperature": 2}
    verdict = Judge(lambda name: twin, ()).judge(Exchange(id="e", api="chat-completions", request=body))
    assert (verdict.outcome, verdict.detail) == ("failed", "/request/temperature: 2.0 != 1.0")
