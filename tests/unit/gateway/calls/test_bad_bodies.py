"""Whatever a client sends to the routes beside conversations, its fault is sent as its fault."""

from __future__ import annotations

import json

import pytest

from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.routes import ROUTES, Route
from interlingua.gateway.settings import GatewayKey
from interlingua.testing import no_network
from tests.support.cells import cells
from tests.support.gateway import gateway
from tests.unit.gateway.asking import ask

PATHS = (
    "/v1/responses",
    "/v1/responses/compact",
    "/v1/responses/input_tokens",
    "/v1/messages/count_tokens",
    "/v1beta/models/m:countTokens",
    "/api/show",
    "/explain",
    "/explain/v1/messages",
    "/v1/embeddings",
)
BODIES = (
    b"",
    b"{",
    b"[]",
    b"5",
    b"null",
    b"\xff\xfe",
    b"[" * 300,
    b'{"model": 5}',
    b'{"previous_response_id": ',
    b'[{"previous_response_id": "resp_1"}]',
    b'{"model":"nobody","input":[5],"previous_response_id":"resp_1"}',
    b'{"model":"nobody","input":5,"x":"item_reference"}',
    b'{"model":"nobody","input":[{"type":"compaction","encrypted_content":"il1.x"}]}',
    b'{"generateContentRequest":5}',
    b'[{"generateContentRequest":5}]',
    b'{"dialect":"anthropic","request":{"model":"nobody"}}',
)


def _reads_a_conversation(route: Route) -> bool:
    """Whether a route converses, counts or compacts."""
    return route.is_conversation


@pytest.mark.parametrize("path", PATHS)
def test_a_bad_body_is_the_clients_fault(path: str) -> None:
    """400, 404 or 413, never a 5xx, on which SDKs ask again; and nothing is sent."""
    made = gateway(aliases={"m": "anthropic/claude-opus-4-5"})
    with no_network():
        statuses = {body[:60]: ask(made, path, body, (("content-type", "application/json"),)).status for body in BODIES}
    assert {body: status for body, status in statuses.items() if status not in (400, 404, 413)} == {}


@cells("route", [*filter(_reads_a_conversation, ROUTES)], ids=lambda one: one.pattern)
def test_a_conversation_is_read_by_the_rules_of_its_dialect(route: Route) -> None:
    """Also where keys have its ids looked at first: a name that another reader takes for the history is refused."""
    keys = tuple([GatewayKey(name=name, hash=hash_key(name)) for name in ("a", "b")])
    made = gateway(keys=keys, aliases={"m": "anthropic/claude-opus-4-5"})
    history = {"openai-responses": "input", "google": "contents"}.get(route.dialect, "messages")
    path = route.pattern.replace("{model:path}", "m").replace("{provider}", "up")
    headers = (("content-type", "application/json"), ("authorization", "Bearer a"))
    with no_network():
        reply = ask(made, path, b'{"model":"m","%b":[]}' % history.upper().encode(), headers)
    assert reply.status == 400
    assert isinstance(reply.body, bytes)
    assert f"differs only in spelling from '{history}'" in json.dumps(json.loads(reply.body))


@pytest.mark.parametrize(
    ("member", "place"),
    [
        (b'"temperature":1e999', "/temperature"),
        (b'"foo":{"a":[1,-1e999]}', "/foo/a/1"),
        (b'"tools":[{"type":"function","function":{"name":"a","parameters":{"maximum":1e400}}}]', "maximum"),
    ],
)
@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1beta/models/m:generateContent"]
)
def test_a_number_out_of_range_is_named_with_its_place(path: str, member: bytes, place: str) -> None:
    """Wherever it stands: in members that are known, in others, inside of data."""
    made = gateway(aliases={"m": "anthropic/claude-opus-4-5"})
    with no_network():
        reply = ask(made, path, b'{"model":"m",%b}' % member, (("content-type", "application/json"),))
    assert reply.status == 400
    assert isinstance(reply.body, bytes)
    message = json.loads(reply.body)["error"]["message"]
    assert "number out of range, at /" in message
    assert message.endswith(place)
