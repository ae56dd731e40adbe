"""Part (b) of the judgement: what an exchange says in every other dialect. A twin of Chat stands for one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import Dialect, Encoded, EncodeOptions, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import BadRequestError, UnsupportedError
from interlingua.testing.exchange import DialectFor, Exchange, Judge, Verdict
from interlingua.testing.facts import READERS
from interlingua.types.change import Changes
from interlingua.types.request import Request
from interlingua.types.response import Response

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
    assert (verdict.outcome, verdict.reason) == ("failed", "b request facts in twin")
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


@pytest.mark.parametrize(("path", "outcome"), [("/tools/0", "passed"), ("/tools/1", "failed")])
def test_a_refusal_must_be_of_something_there(path: str, outcome: str) -> None:
    """A refusal names what is in the request; one that names what is not there is a failure."""

    def refuse(request: Request, options: EncodeOptions) -> Encoded:
        changes = Changes("twin", "encode_request")
        changes.add("tools", path)
        raise UnsupportedError("no tools", changes=changes.refused())

    assert _judged(msgspec.structs.replace(TWIN, encode_request=refuse)).outcome == outcome


def test_an_answer_lost_elsewhere_fails() -> None:
    """What an answer says must survive in the other dialect's server role."""

    def mute(response: Response[Any], context: ServerContext) -> Any:
        return CHAT.encode_response(msgspec.structs.replace(response, parts=()), context)

    verdict = _judged(msgspec.structs.replace(TWIN, encode_response=mute))
    assert (verdict.outcome, verdict.reason) == ("failed", "b response facts in twin")


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
