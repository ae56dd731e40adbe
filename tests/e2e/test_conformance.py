"""The server role of every dialect over real sockets passes every check of the conformance command."""

from __future__ import annotations

from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodedRequest
from interlingua.testing.conformance import check_server
from interlingua.testing.conformance.session import TONGUES, Session
from tests.support.chat_server import chat_serving
from tests.support.gateway import serving

USAGE = il.Usage(input_tokens=9, output_tokens=4)


def _answer(*parts: Any, finish: Any = "stop") -> il.Response[Any]:
    return il.Response(parts=parts, finish_reason=finish, usage=USAGE)


def _model(asked: DecodedRequest) -> il.Response[Any]:
    """A model that does as it is told."""
    request = asked.request
    if asked.model != "some-model":
        raise il.NotFoundError(f"there is no model {asked.model}", status=404)
    if not request.messages:
        raise il.BadRequestError("nothing is asked", status=400)
    if request.max_tokens is not None and request.max_tokens <= 16:
        return _answer(il.TextPart("one two"), finish="length")
    last = request.messages[-1]
    if last.tool_results:
        return _answer(il.TextPart("; ".join(str(result.content) for result in last.tool_results)))
    if request.tools and (request.tool_choice == "required" or "get_weather" in last.text):
        cities = ("Oslo", "Bergen") if "twice" in last.text else ("Oslo",)
        calls = [il.ToolCall(f"call_{city}", "get_weather", f'{{"city":"{city}"}}') for city in cities]
        return _answer(*calls, finish="tool_calls")
    return _answer(il.TextPart('{"city":"Oslo","celsius":4}' if request.output_schema else "Hello."))


_BASES = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "/v1", "google": "/v1beta", "cohere": "/v2"}


@pytest.mark.parametrize("dialect", TONGUES)
def test_a_gateway_in_front_of_the_fake_conforms(dialect: str) -> None:
    """The fake speaks Chat, and calls once; a gateway mends a result without its call, but in `unified`."""
    with serving() as url:
        report = check_server(Session(url + _BASES.get(dialect, ""), dialect, "fake/m", timeout_s=20))
    found = {(outcome.name, outcome.state) for outcome in report.outcomes if outcome.state != "pass"}
    orphan = "error: result without a call"
    lenient = {"ollama": {(orphan, "skip")}, "unified": set[Any](), "openai-chat": set[Any]()}
    assert found == {
        ("parallel calls, whole", "skip"),
        ("parallel calls, streamed", "skip"),
        ("error: wrong key", "skip"),
        *lenient.get(dialect, {(orphan, "fail")}),
    }


@pytest.mark.parametrize("dialect", TONGUES)
def test_our_server_role_conforms(dialect: str) -> None:
    """Nothing fails; what is skipped is a key that there is not, and a rule that the dialect has not."""
    with chat_serving(_model, dialect=dialect, judged=False) as chat:
        report = check_server(Session(chat.url, dialect, "some-model", timeout_s=20))
    assert [str(line) for line in report.lines() if line.startswith("fail")] == []
    skipped = {outcome.name for outcome in report.outcomes if outcome.state == "skip"}
    assert skipped <= {"error: wrong key", "error: result without a call"}
    assert ("error: result without a call" in skipped) == (dialect == "ollama")
