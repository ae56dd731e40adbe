"""Tools in namespaces of a Responses client, through a whole gateway to targets that know no namespaces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from interlingua.dialects.openai_responses.spaces import without_spaces
from interlingua.testing.upstream import Call, Say, Upstream
from interlingua.types.message import user
from interlingua.types.request import Request
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.json import decode_any, encode
from tests.support.gateway import MODELS, gateway
from tests.unit.gateway.asking import ask, told

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayReply

NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}
READ = {"type": "function", "name": "read", "description": "Reads a page.", "strict": False, "parameters": NO_ARGUMENTS}
WRITE = {"type": "function", "name": "write", "strict": False, "parameters": NO_ARGUMENTS}
OWN = {"type": "function", "name": "read", "description": "Reads a file.", "strict": False, "parameters": NO_ARGUMENTS}
SPACE = {"type": "namespace", "name": "wiki", "description": "Pages of the wiki.", "tools": [READ, WRITE]}
CALLS = Say(calls=(Call("wiki__read", {}), Call("read", {})))


def _items(reply: GatewayReply, *, stream: bool) -> list[dict[str, Any]]:
    """The calls of an answer; of a stream as each item was told, when it came and when it was whole."""
    if not stream:
        return told(reply)["output"]
    assert isinstance(reply.body, bytes)
    events = [decode_any(frame.partition(b"data: ")[2]) for frame in reply.body.split(b"\n\n") if b"data: " in frame]
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    begun = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    assert [_named(item) for item in begun] == [_named(item) for item in done]
    assert [_named(item) for item in events[-1]["response"]["output"]] == [_named(item) for item in done]
    return done


def _named(item: dict[str, Any]) -> tuple[str | None, str]:
    return item.get("namespace"), item["name"]


@pytest.mark.parametrize("dialect", ["anthropic", "google", "openai-chat"])
@pytest.mark.parametrize("stream", [False, True])
def test_calls_come_back_in_their_namespace(dialect: str, stream: bool) -> None:
    """The target gets each tool by itself, told apart from one of the same name; the next turn is named alike."""
    made = gateway()
    with Upstream(dialect, CALLS, "Done.").standing() as upstream:
        asked: list[dict[str, Any]] = [{"role": "user", "content": "Read both."}]
        body = {"model": MODELS[dialect], "tools": [SPACE, OWN], "stream": stream, "store": False}
        calls = _items(ask(made, "/v1/responses", {**body, "input": asked}), stream=stream)
        assert [_named(call) for call in calls] == [("wiki", "read"), (None, "read")]
        results = [{"type": "function_call_output", "call_id": call["call_id"], "output": "page"} for call in calls]
        ask(made, "/v1/responses", {**body, "input": [*asked, *calls, *results]})
        assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    first, second = (json.dumps(decode_any(request.body)) for request in upstream.requests)
    assert "wiki__write" in first
    assert "Pages of the wiki." in first
    assert "namespace" not in first
    assert second.count('"wiki__read"') >= 2


@pytest.mark.parametrize("dialect", ["anthropic", "google", "openai-chat"])
def test_tools_that_an_item_brings(dialect: str) -> None:
    """The newest models of Codex are told of all tools by an item; another target gets them as its tools."""
    item = {"type": "additional_tools", "role": "developer", "tools": [SPACE, OWN]}
    made = gateway()
    with Upstream(dialect, CALLS).standing() as upstream:
        body = {"model": MODELS[dialect], "input": [item, {"role": "user", "content": "Read both."}], "store": False}
        calls = _items(ask(made, "/v1/responses", body), stream=False)
        assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    assert [_named(call) for call in calls] == [("wiki", "read"), (None, "read")]


def test_a_provider_of_responses_gets_them_as_they_are() -> None:
    """To a target of the client's own dialect a namespace goes as it came."""
    made = gateway()
    with Upstream("openai-responses", "Done.").standing() as upstream:
        ask(made, "/v1/responses", {"model": MODELS["openai-responses"], "tools": [SPACE], "input": "Hi"})
    assert decode_any(upstream.requests[0].body)["tools"] == [SPACE]


def test_nothing_is_touched_without_a_namespace() -> None:
    """The request is the very same object, so that what is remembered of it is found."""
    hosted = OpaqueTool("openai-responses", "web_search", {"type": "web_search"})
    request = Request(messages=(user("Hi"),), tools=(Tool(name="f"), hosted))
    assert without_spaces(request) == (request, {})
    assert without_spaces(request)[0] is request


def test_freeform_tools_and_bad_ones() -> None:
    """A freeform tool of a namespace stays one; an entry that no client runs stays what it is."""
    entries = [{"type": "custom", "name": "sql"}, {"type": "web_search"}]
    space = OpaqueTool("openai-responses", "namespace", decode_any(encode({**SPACE, "tools": entries})))
    request, spaces = without_spaces(Request(messages=(user("Hi"),), tools=(space,)))
    sql, hosted = request.tools
    assert isinstance(sql, Tool)
    assert (sql.name, sql.description, sql.freeform is not None) == ("wiki__sql", "Pages of the wiki.", True)
    assert isinstance(hosted, OpaqueTool)
    assert spaces == {"wiki__sql": ("wiki", "sql")}
