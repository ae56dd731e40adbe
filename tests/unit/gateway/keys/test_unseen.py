"""What a target reads beside the body: a context window is reserved for it, so that it overspends no budget."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from interlingua.gateway.calls.reading import read_head, read_request
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.cap import reads_more
from interlingua.gateway.keys.operations import Enter
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import Say, Upstream
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode
from tests.support.gateway import asking, body_of, provider
from tests.unit.gateway.keys.test_cap import KEY, NOON, asked, spent

SEARCH: dict[str, Any] = {"tools": [{"type": "web_search"}]}
READ_TOKENS = 300_000
F: dict[str, Any] = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
HI = [{"role": "user", "content": "Hi"}]


class ReadingUpstream(Upstream):
    """A Responses provider whose search has its model read much, and which bills it."""

    def __init__(self, *, takes_s: float = 0.0) -> None:
        """Nothing was asked; an answer takes that long."""
        super().__init__("openai-responses")
        self._takes_s = takes_s
        self._counting = threading.Lock()
        self.at_once = 0
        self.most_at_once = 0

    def answer(self, request: HttpRequest) -> Any:
        """A short text, and a long bill."""
        with self._counting:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(self._takes_s)
        with self._counting:
            self.at_once -= 1
            self._answers = [Say(text="x", input_tokens=READ_TOKENS, output_tokens=10)]
            return super().answer(request)


MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "a stored answer": ("openai-responses", {"input": "Hi", "previous_response_id": "resp_1"}),
    "a conversation": ("openai-responses", {"input": "Hi", "conversation": {"id": "conv_1"}}),
    "a prompt": ("openai-responses", {"input": "Hi", "prompt": {"id": "pmpt_1"}}),
    "a search": ("openai-responses", {"input": "Hi", "tools": [F, {"type": "web_search"}]}),
    "a search in a namespace": (
        "openai-responses",
        {"input": "Hi", "tools": [{"type": "namespace", "name": "n", "tools": [{"type": "file_search"}]}]},
    ),
    "a file": (
        "openai-responses",
        {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "file-1"}]}]},
    ),
    "a document behind an address": (
        "openai-responses",
        {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "https://a.example/x.pdf"}]}]},
    ),
    "a search of Chat": ("openai-chat", {"messages": HI, "web_search_options": {}, "plugins": [{"id": "web"}]}),
    "a search of Messages": (
        "anthropic",
        {"messages": HI, "tools": [{"type": "web_search_20250305", "name": "web_search"}]},
    ),
    "servers of MCP": ("anthropic", {"messages": HI, "mcp_servers": [{"type": "url", "url": "https://a.example"}]}),
    "a document of Messages": (
        "anthropic",
        {
            "messages": [
                {"role": "user", "content": [{"type": "document", "source": {"type": "url", "url": "https://a/x.pdf"}}]}
            ]
        },
    ),
    "a search of Google": ("google", {"contents": [{"parts": [{"text": "Hi"}]}], "tools": [{"googleSearch": {}}]}),
    "a cache of Google": (
        "google",
        {"contents": [{"parts": [{"text": "Hi"}]}], "cachedContent": "cachedContents/1"},
    ),
    "a file of Google": ("google", {"contents": [{"parts": [{"fileData": {"fileUri": "files/1"}}]}]}),
    "a tool of our own format": (
        "unified",
        {"messages": HI, "tools": [{"type": "opaque_tool", "dialect": "openai-responses", "raw": {"type": "mcp"}}]},
    ),
}
NO_MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("openai-responses", {"input": "Hi", "previous_response_id": None}),
    "functions": ("openai-responses", {"input": "Hi", "tools": [F, {"type": "custom", "name": "c"}]}),
    "a shell of the client": ("openai-responses", {"input": "Hi", "tools": [F, {"type": "local_shell"}]}),
    "a picture": (
        "openai-chat",
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a/x.png"}}]}]},
    ),
    "an editor of the client": (
        "anthropic",
        {"messages": HI, "tools": [{"type": "text_editor_20250728", "name": "e"}, {"name": "f", "input_schema": {}}]},
    ),
    "functions of Google": (
        "google",
        {"contents": [{"parts": [{"text": "Hi"}]}], "tools": [{"functionDeclarations": [{"name": "f"}]}]},
    ),
    "tools of our own format": ("unified", {"messages": HI, "tools": [{"name": "f", "description": "x"}]}),
}


def _reads_more(dialect: str, members: dict[str, Any]) -> bool:
    path = "/v1beta/models/m:generateContent" if dialect == "google" else "/"
    body = encode({"model": "m", **members}, nulls=1)
    http = GatewayRequest(path=path, body=body, peer="127.0.0.1")
    return reads_more(read_head(http, dialect, read_request(body, dialect)))


@pytest.mark.parametrize("name", MORE)
def test_a_request_that_has_its_target_read_more(name: str) -> None:
    """Stored conversations, files, caches, and tools that the provider runs, in every dialect."""
    assert _reads_more(*MORE[name])


@pytest.mark.parametrize("name", NO_MORE)
def test_a_request_that_says_everything(name: str) -> None:
    """Tools of the client and pictures add nothing that could fill a window."""
    assert not _reads_more(*NO_MORE[name])


@asynccontextmanager
async def keyed(
    budget: str, *, takes_s: float = 0.05, **terms: Any
) -> AsyncGenerator[tuple[Gateway, ReadingUpstream, list[int]]]:
    """A gateway with one key in front of that provider, and the tokens of each call that was to enter."""
    upstream, entered = ReadingUpstream(takes_s=takes_s), list[int]()
    with upstream.serving() as url:
        environ = {"LLM_WORK": provider("openai-responses", url) + "&price_in=10&price_out=100"}
        made = Terms(budgets=(read_budget(budget),) if budget else (), **terms)
        key = GatewayKey(name="a", hash=hash_key(KEY), terms=made)
        gateway = Gateway(GatewaySettings(keys=(key,)), registry=Registry(environ), now=lambda: NOON)
        enter = gateway.admission.accounts.enter

        def counted(operation: Enter) -> Any:
            entered.append(operation.call.tokens)
            return enter(operation)

        gateway.admission.accounts.enter = counted
        try:
            yield gateway, upstream, entered
        finally:
            await gateway.close()


@pytest.mark.parametrize("budget", ["5M tokens", "1000 USD"])
async def test_a_window_is_reserved_beside_the_body(budget: str) -> None:
    """What the key says, else a million tokens; the same request without a search reserves its body and its cap."""
    for members, terms, least in (
        (SEARCH, {}, 1_000_000),
        (SEARCH, {"context_tokens": 250_000}, 250_000),
        ({}, {}, 0),
    ):
        async with keyed(budget, **terms) as (made, _, entered):
            assert (await made(asked("openai-responses", **members))).status == 200
            assert await spent(made) == (READ_TOKENS + 10, 0)
        [reserved] = entered
        assert least + 8_192 < reserved < least + 8_300


@pytest.mark.parametrize("budget", ["2M tokens", "20 USD"])
@pytest.mark.parametrize("window", [400_000, None])
async def test_mon_02_sixty_four_clients_of_a_search_stay_within_a_budget(budget: str, window: int | None) -> None:
    """While a window fits into what is left none overspends, and the last call does at most by what it reads."""
    async with keyed(budget, takes_s=0.0, context_tokens=window) as (made, _, _):

        async def client() -> int:
            statuses: list[int] = []
            for _ in range(4):
                reply = await made(asked("openai-responses", **SEARCH))
                await body_of(reply)
                statuses.append(reply.status)
            return statuses.count(200)

        served = sum(await asyncio.gather(*[client() for _ in range(64)]))
        used, reserved = await spent(made)
    assert reserved == 0
    assert 0 < used <= 2_000_000 + READ_TOKENS
    assert served == used // READ_TOKENS


async def test_a_window_that_a_budget_has_no_room_for_lets_one_call_through_at_a_time() -> None:
    """All that is left is reserved: the others come again, and the budget is overspent by one call at most."""
    async with keyed("500k tokens", takes_s=0.3) as (made, upstream, _):
        replies = await asyncio.gather(*[made(asked("openai-responses", **SEARCH)) for _ in range(8)])
        assert sorted([reply.status for reply in replies]) == [200, *[429] * 7]
        told = await body_of(next(reply for reply in replies if reply.status == 429))
        assert b"while other calls are under way" in told
        assert (await made(asked("openai-responses", **SEARCH))).status == 200
        assert (await made(asked("openai-responses", **SEARCH))).status == 402
        assert upstream.most_at_once == 1
        assert await spent(made) == (2 * (READ_TOKENS + 10), 0)


async def test_a_minute_has_room_for_what_is_left_of_it() -> None:
    """A window beyond the rest of a minute shrinks to that, so that the next call need not wait."""
    async with keyed("", tpm=1_000_000) as (made, _, entered):
        for _ in range(2):
            assert (await made(asked("openai-responses", **SEARCH))).status == 200
    assert entered[-1] == 1_000_000 - READ_TOKENS - 10


async def test_a_key_may_say_that_nothing_is_to_be_reserved() -> None:
    """`context_tokens = 1`: calls run side by side, and each may overspend by what it reads."""
    async with keyed("100k tokens", takes_s=0.5, context_tokens=1) as (made, _, _):
        replies = await asyncio.gather(*[made(asked("openai-responses", **SEARCH)) for _ in range(8)])
        assert {reply.status for reply in replies} == {200}
        assert (await spent(made))[0] == 8 * (READ_TOKENS + 10)


async def test_a_signed_id_counts_as_what_is_kept() -> None:
    """An id of the key's own in any place of a body: its target reads what stands behind it."""
    async with keyed("2M tokens") as (made, _, entered):
        signed = made.ids.signer.sign("key a", "work", "file-0123456789abcdef")
        file = [{"role": "user", "content": [{"type": "input_file", "file_id": signed}]}]
        await made(asking("openai-responses", "work/m", headers={"x-api-key": KEY}, input=file))
    assert entered[0] > 1_000_000
