"""A client goes on with a conversation in which another provider searched: through the gateway, to every upstream."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest

from interlingua.testing.conformance.session import TONGUES
from interlingua.testing.upstream import Say, Upstream
from tests.support.gateway import provider, serving

SEARCH: dict[str, Any] = {
    "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Oslo"},
}  # fmt: skip
PAGES: dict[str, Any] = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {
            "type": "web_search_result", "url": "https://a.test/oslo", "title": "Oslo", "page_age": None,
            "encrypted_content": "c2VhbGVk",
        }
    ],
}  # fmt: skip
BODY: dict[str, Any] = {
    "max_tokens": 99,
    "messages": [
        {"role": "user", "content": "How warm is it in Oslo?"},
        {"role": "assistant", "content": [SEARCH, PAGES, {"type": "text", "text": "4 degrees."}]},
        {"role": "user", "content": "Is that cold?"},
    ],
}
MODELS = {"google": "gemini-2.5-pro", "anthropic": "claude-opus-4-5"}
BASES = {"google": "/v1beta", "ollama": "", "unified": "", "cohere": "/v2"}


@pytest.mark.parametrize("dialect", TONGUES)
def test_r63_a_claude_client_goes_on_after_a_search(dialect: str) -> None:
    """R63: the search goes home as it came, and to any other service in words; what is sealed stays away from those."""
    upstream = Upstream(dialect, Say(text="Cold."))
    with (
        upstream.serving() as at,
        serving(providers={"up": provider(dialect, f"{at}{BASES.get(dialect, '/v1')}")}) as url,
    ):
        body = json.dumps({**BODY, "model": f"up/{MODELS.get(dialect, 'some-model')}"}).encode()
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "none"}
        with urlopen(Request(f"{url}/v1/messages", body, headers), timeout=30) as reply:
            answer = json.loads(reply.read())
            changes = reply.headers.get("x-interlingua-changes") or ""
    assert [block["text"] for block in answer["content"]] == ["Cold."]
    assert [str(verdict) for verdict in upstream.verdicts] == ["taken"]
    sent = upstream.requests[0].body
    assert b"https://a.test/oslo" in sent
    assert (b"c2VhbGVk" in sent) is (dialect in ("anthropic", "unified"))
    assert ("server_tool_as_text" in changes) is (dialect not in ("anthropic", "unified"))


def test_a_source_that_the_gateway_wrote_does_not_go_to_claude() -> None:
    """A client echoes a citation of another provider's search: the service, which has no such index, never sees it."""
    made = {
        "type": "web_search_result_location", "url": "https://a.test", "title": "A", "cited_text": "",
        "encrypted_index": "",
    }  # fmt: skip
    turn = {"role": "assistant", "content": [{"type": "text", "text": "4 degrees.", "citations": [made]}]}
    messages = [BODY["messages"][0], turn, BODY["messages"][2]]
    upstream = Upstream("anthropic", Say(text="Cold."))
    with (
        upstream.serving() as at,
        serving(providers={"up": provider("anthropic", f"{at}/v1")}) as url,
    ):
        body = json.dumps({"max_tokens": 99, "messages": messages, "model": "up/claude-opus-4-5"}).encode()
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "none"}
        with urlopen(Request(f"{url}/v1/messages", body, headers), timeout=30) as reply:
            assert reply.status == 200
    assert [str(verdict) for verdict in upstream.verdicts] == ["taken"]
    assert b"encrypted_index" not in upstream.requests[0].body
