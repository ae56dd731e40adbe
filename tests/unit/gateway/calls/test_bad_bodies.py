"""Whatever a client sends to the routes beside conversations, its fault is told as its fault."""

from __future__ import annotations

import pytest

from interlingua.testing import no_network
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


@pytest.mark.parametrize("path", PATHS)
def test_a_bad_body_is_the_clients_fault(path: str) -> None:
    """400, 404 or 413, never a 5xx, on which SDKs ask again; and nothing is sent."""
    made = gateway(aliases={"m": "anthropic/claude-opus-4-5"})
    with no_network():
        statuses = {body[:60]: ask(made, path, body, (("content-type", "application/json"),)).status for body in BODIES}
    assert {body: status for body, status in statuses.items() if status not in (400, 404, 413)} == {}
