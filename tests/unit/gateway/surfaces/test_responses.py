"""What Responses clients do with what is kept: read, list, delete, cancel, compact."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.testing.upstream import Upstream
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.http import Headers, HttpRequest
from tests.support.cells import cells
from tests.support.gateway import MODELS, gateway
from tests.unit.gateway.asking import ask, told

KEYS = tuple(GatewayKey(name=name, hash=hash_key(name)) for name in ("team-a", "team-b"))
TEAM_A: Headers = (("x-api-key", "team-a"),)
TEAM_B: Headers = (("x-api-key", "team-b"),)
CLAUDE = MODELS["anthropic"]
ROUTES = [("GET", ""), ("DELETE", ""), ("GET", "/input_items"), ("POST", "/cancel")]


def _first(made: Gateway, headers: Headers = (), **members: Any) -> Any:
    with Upstream("anthropic", "Hello").standing():
        return told(ask(made, "/v1/responses", {"model": CLAUDE, "input": "Hi", **members}, headers))


def test_an_answer_that_is_kept_is_told_as_it_was() -> None:
    """The very answer, and after its deletion nothing."""
    made = gateway()
    first = _first(made)
    path = f"/v1/responses/{first['id']}"
    assert told(ask(made, path, method="GET")) == first
    assert told(ask(made, path, method="DELETE")) == {"id": first["id"], "object": "response", "deleted": True}
    assert told(ask(made, path, method="GET"), 404)["error"]["message"] == f"there is no response {first['id']}"
    assert ask(made, path, method="DELETE").status == 404


def test_the_input_of_an_answer_is_listed() -> None:
    """As items with ids that references can name, in pages."""
    made = gateway()
    given = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "?"},
    ]
    first = _first(made, input=given)
    path = f"/v1/responses/{first['id']}/input_items"
    listed = told(ask(made, path, method="GET", query="order=asc&limit=2"))
    tail = first["id"].removeprefix("resp_")
    assert [item["id"] for item in listed["data"]] == [f"msg_{tail}i01", f"msg_{tail}i02"]
    assert listed["data"][1]["content"] == [{"type": "output_text", "text": "Yes", "annotations": [], "logprobs": []}]
    assert (listed["object"], listed["has_more"], listed["last_id"]) == ("list", True, f"msg_{tail}i02")
    rest = told(ask(made, path, method="GET", query=f"order=asc&after={listed['last_id']}"))
    assert [item["id"] for item in rest["data"]] == [f"msg_{tail}i03"]
    assert told(ask(made, path, method="GET", query="limit=1"))["first_id"] == f"msg_{tail}i03"


@cells(("method", "tail"), [("GET", ""), ("DELETE", ""), ("GET", "/input_items"), ("POST", "/cancel")])
@cells("response_id", ["resp_unknown", "resp_il" + "a" * 22, "..", "a%20b", "x" * 300])
def test_sec_11_what_is_not_there_is_not_found(method: str, tail: str, response_id: str) -> None:
    """Any id that is nobody's: 404, and an id that is none is not told again."""
    reply = ask(gateway(), f"/v1/responses/{response_id}{tail}", method=method)
    shown = response_id if response_id.startswith("resp") else "of that id"
    message = f"there is no response {shown}"
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    assert told(reply, 404) == {"error": error}  # as OpenAI has it; the code of a model would mislead


@pytest.mark.parametrize(
    ("method", "tail"), [("GET", ""), ("DELETE", ""), ("GET", "/input_items"), ("POST", "/cancel")]
)
def test_sec_11_an_answer_of_another_tenant_is_not_there(method: str, tail: str) -> None:
    """The same words as for an id that never was, and the answer stays."""
    made = gateway(keys=KEYS)
    first = _first(made, TEAM_A)
    path = f"/v1/responses/{first['id']}"
    message = told(ask(made, path + tail, headers=TEAM_B, method=method), 404)["error"]["message"]
    assert message == f"there is no response {first['id']}"
    assert told(ask(made, path, headers=TEAM_A, method="GET")) == first


def test_a_whole_answer_is_not_streamed_or_cancelled() -> None:
    """Both are refused with a sentence."""
    made = gateway()
    path = f"/v1/responses/{_first(made)['id']}"
    assert "sent as a whole" in told(ask(made, path, method="GET", query="stream=true"), 400)["error"]["message"]
    assert "is complete" in told(ask(made, f"{path}/cancel"), 400)["error"]["message"]


class Provider(Script):
    """A Responses provider that keeps what it answered."""

    def answer(self, request: HttpRequest) -> Line:
        """Itself."""
        self.requests.append(request)
        return Line(
            pieces=(b'{"id":"resp_68af","object":"response"}',), headers=(("content-type", "application/json"),)
        )


def test_srv_13_an_answer_that_its_provider_keeps_is_asked_of_it() -> None:
    """Each request goes to the provider with the gateway's key, for the owner alone."""
    made = gateway({"OPENAI_API_KEY": "sk-openai"}, keys=KEYS)
    with Upstream("openai-responses", "Hello").standing():
        body = {"model": MODELS["openai-responses"], "input": "Hi"}
        kept = told(ask(made, "/v1/responses", body, TEAM_A))["id"]
    provider = Provider()
    path = f"/v1/responses/{kept}"
    blocking, awaited = ReplayTransport(script=provider), AsyncReplayTransport(script=provider)
    with overriding(Override(lambda _: blocking, lambda _: awaited)):
        for method, tail, query in (("GET", "", "include[]=x"), ("GET", "/input_items", ""), ("POST", "/cancel", "")):
            assert ask(made, path + tail, headers=TEAM_B, method=method, query=query).status == 404
            assert ask(made, path + tail, headers=TEAM_A, method=method, query=query).status == 200
        assert ask(made, path, headers=TEAM_A, method="DELETE").status == 200
    url = "https://api.openai.com/v1/responses/resp_00000002"
    assert [(request.method, request.url) for request in provider.requests] == [
        ("GET", f"{url}?include[]=x"),
        ("GET", f"{url}/input_items"),
        ("POST", f"{url}/cancel"),
        ("DELETE", url),
    ]
    assert {dict(request.headers)["authorization"] for request in provider.requests} == {"Bearer sk-openai"}


CONVERSATION = [
    {"role": "user", "content": "We launch on Tuesday."},
    {"type": "function_call", "call_id": "call_1", "name": "note", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "call_1", "output": "noted"},
    {"role": "assistant", "content": "Understood."},
]
NOTE: dict[str, Any] = {"type": "function", "name": "note", "parameters": {"type": "object", "properties": {}}}


class Uncompacting(Upstream):
    """A service without the path that compacts, as servers are that speak Responses for other models."""

    def answer(self, request: HttpRequest) -> Line:
        """Nothing at that path; elsewhere what the service answers."""
        if not request.url.endswith("/compact"):
            return super().answer(request)
        return Line(status=404, pieces=(b'{"error":{"message":"there is nothing here"}}',))


@pytest.mark.parametrize("dialect", ["anthropic", "google", "openai-chat", "ollama", "cohere", "openai-responses"])
def test_a_conversation_is_compacted_by_its_model(dialect: str) -> None:
    """The model is asked for a summary; the item holds it, and whoever sends the item has sent the summary."""
    made = gateway()
    body = {"model": MODELS[dialect], "input": CONVERSATION, "tools": [NOTE]}
    with Uncompacting(dialect, "Launch: Tuesday.", "On Tuesday.").standing() as upstream:
        short = told(ask(made, "/v1/responses/compact", body))
        assert short["object"] == "response.compaction"
        kept, compaction = short["output"]
        assert kept["content"] == [{"type": "input_text", "text": "We launch on Tuesday."}]
        assert compaction.keys() == {"id", "type", "encrypted_content"}
        assert short["usage"]["total_tokens"] == short["usage"]["input_tokens"] + short["usage"]["output_tokens"] > 0
        again = [compaction, {"role": "user", "content": "When?"}]
        told(ask(made, "/v1/responses", {"model": MODELS[dialect], "input": again}))
        assert all(verdict.ok for verdict in upstream.verdicts)
        assert b"What was said before, in short:\\n\\nLaunch: Tuesday." in upstream.requests[-1].body


class Compactor(Script):
    """A Responses provider that compacts by itself."""

    def answer(self, request: HttpRequest) -> Line:
        """Its own item."""
        self.requests.append(request)
        return Line(pieces=(b'{"object":"response.compaction"}',), headers=(("content-type", "application/json"),))


def test_a_provider_that_can_compacts_itself() -> None:
    """The body goes out as it came, under the target's own name of the model."""
    made = gateway({"OPENAI_API_KEY": "sk-openai"}, {"smart": "openai/gpt-5.6"})
    provider = Compactor()
    blocking, awaited = ReplayTransport(script=provider), AsyncReplayTransport(script=provider)
    with overriding(Override(lambda _: blocking, lambda _: awaited)):
        reply = ask(made, "/v1/responses/compact", b'{"model":"smart",  "input":"Hi"}')
    assert told(reply) == {"object": "response.compaction"}
    assert provider.requests[0].url == "https://api.openai.com/v1/responses/compact"
    assert provider.requests[0].body == b'{"model":"gpt-5.6",  "input":"Hi"}'


def test_compaction_needs_a_model_and_something_to_compact() -> None:
    """Both are refused by the name of the member."""
    made = gateway()
    assert told(ask(made, "/v1/responses/compact", {"input": "Hi"}), 400)["error"]["param"] == "model"
    assert told(ask(made, "/v1/responses/compact", {"model": CLAUDE}), 400)["error"]["param"] == "input"
