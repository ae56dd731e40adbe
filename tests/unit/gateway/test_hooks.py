"""Hooks around conversations at the gateway, for clients of every dialect: change, refuse, answer, stop, keep."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua import testing
from interlingua.client.hooks.cache import ResponseCache
from interlingua.errors import ConfigError
from interlingua.gateway.calls.reading import CHEAP_BYTES
from interlingua.gateway.core import Gateway
from interlingua.gateway.hooks import CacheSettings, HookSettings
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.policy import PolicySettings
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.stream.check import check
from tests.support.gateway import MODELS, answer_of, asking, body_of, events_of

if TYPE_CHECKING:
    from pathlib import Path

    from interlingua.gateway.http import GatewayReply

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified")
every_client = pytest.mark.parametrize("client", DIALECTS)
LIKE = "fake/m"


def _gateway(*hooks: il.Hook, **settings: Any) -> Gateway:
    registry = Registry({"LLM_HUB": "interlingua://hub.example"})
    return Gateway(GatewaySettings(**settings), registry=registry, hooks=hooks)


async def _text(client: str, reply: GatewayReply, *, stream: bool) -> str:
    """What a client reads of an answer."""
    assert reply.status == 200
    if not stream:
        return (await answer_of(client, reply)).text
    events = await events_of(client, reply)
    assert check(events) == ()
    assert isinstance(events[-1], il.StreamEnd)
    return events[-1].response.text


def _header(reply: GatewayReply, name: str) -> str | None:
    return dict(reply.headers).get(name)


class Masking(il.Hook):
    """Masks digits on both ways."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Request:
        """In what is said to the model."""
        told = tuple([il.user(message.text.replace("7", "*")) for message in request.messages])
        return replace(request, messages=told)

    def after(self, response: il.Response[Any], context: il.HookContext) -> il.Response[Any]:
        """In whole answers."""
        masked = response.text.replace("4", "*")
        return response if context.stream else replace(response, parts=(il.TextPart(masked),))

    async def during(self, events: list[il.Event], context: il.HookContext) -> list[il.Event]:
        """In streams."""
        return [
            replace(event, text=event.text.replace("4", "*")) if isinstance(event, il.TextDelta) else event
            for event in events
        ]


@every_client
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("same", [False, True], ids=["another provider", "its own provider"])
async def test_r70_a_hook_changes_both_ways(client: str, stream: bool, same: bool) -> None:
    """Whatever the provider speaks: nothing of the body goes out, or comes in, past the hook; the header says so."""
    gateway = _gateway(Masking())
    with testing.use("It is 4 degrees.") as fake:
        model = MODELS[client] if same else "fake/m"
        reply = await gateway(asking(client, model, "Room 7?", stream=stream))
        assert await _text(client, reply, stream=stream) == "It is * degrees."
    assert fake.last_request.messages[0].text == "Room *?"
    told = _header(reply, "x-interlingua-changes") or ""
    assert "approximated request_hooked /messages" in told
    assert stream or "approximated response_hooked /parts" in told


class Refusing(il.Hook):
    """Refuses what speaks of a secret."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Request:
        """Before anything is sent."""
        if "secret" in request.messages[-1].text:
            raise il.ContentPolicyViolationError("no secrets here", status=400, code="no_secrets")
        return request


@every_client
@pytest.mark.parametrize("stream", [False, True])
async def test_r70_a_refusal_is_an_error_of_the_clients_dialect(client: str, stream: bool) -> None:
    """With its status, before anything is sent."""
    gateway = _gateway(Refusing())
    with testing.use("Fine.") as fake:
        reply = await gateway(asking(client, LIKE, "A secret", stream=stream))
        assert reply.status == 400
        assert b"no secrets here" in await body_of(reply)
        assert fake.requests == []
        assert await _text(client, await gateway(asking(client, LIKE, "Hi", stream=stream)), stream=stream) == "Fine."


class Answering(il.Hook):
    """Answers by itself."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Response[Any]:
        """With what it was told."""
        said = f"{context.model} {context.owner} {context.client} {context.stream}"
        return il.Response(parts=(il.TextPart(said),), finish_reason="stop")


@every_client
@pytest.mark.parametrize("stream", [False, True])
async def test_r70_a_hook_answers_a_client(client: str, stream: bool) -> None:
    """In its dialect, whole and as a stream; the context says who asks for what."""
    gateway = _gateway(Answering(), keys=(GatewayKey(name="team-a", hash=hash_key("k")),))
    with testing.use([]):
        reply = await gateway(asking(client, LIKE, stream=stream, headers={"authorization": "Bearer k"}))
        assert await _text(client, reply, stream=stream) == f"fake/m team-a {client} {stream}"
    assert _header(reply, "x-interlingua-target") is None


class Stopping(il.Hook):
    """Stops a stream once it says too much."""

    def __init__(self) -> None:
        """Nothing was said."""
        self.text = ""

    def during(self, events: list[il.Event], context: il.HookContext) -> list[il.Event]:
        """Until the word comes."""
        self.text += "".join([event.text for event in events if isinstance(event, il.TextDelta)])
        if "password" in self.text:
            raise il.ContentPolicyViolationError("that is enough", status=400)
        return events


@every_client
async def test_r70_a_stopped_stream_ends_with_the_dialects_error(client: str) -> None:
    """What came before went out; the piece that was refused did not, and there is no clean end."""
    gateway = _gateway(Stopping())
    events = list(il.unfold(il.Response(parts=(il.TextPart("The password is 1234."),), finish_reason="stop")))
    pieces: list[il.Event] = []
    for event in events:
        if isinstance(event, il.TextDelta):
            pieces += [il.TextDelta(0, word) for word in ("The ", "password ", "is 1234.")]
        else:
            pieces.append(event)
    with testing.use([pieces]):
        reply = await gateway(asking(client, LIKE, stream=True))
        events = await events_of(client, reply)
    assert "".join([event.text for event in events if isinstance(event, il.TextDelta)]) == "The "
    assert isinstance(events[-1], il.StreamError)
    assert "that is enough" in events[-1].message


# The cache


@every_client
@pytest.mark.parametrize("stream", [False, True])
async def test_r70_the_same_request_is_answered_once(client: str, stream: bool) -> None:
    """The header says miss, then hit; a hit says the same words under another id."""
    gateway = _gateway(ResponseCache())
    with testing.use(lambda request: f"answer to {request.messages[-1].text}") as fake:
        first = await gateway(asking(client, LIKE, stream=stream))
        text = await _text(client, first, stream=stream)
        again = await gateway(asking(client, LIKE, stream=stream))
        assert await _text(client, again, stream=stream) == text == "answer to Hi"
        assert [_header(reply, "x-interlingua-cache") for reply in (first, again)] == ["miss", "hit"]
        assert len(fake.requests) == 1
    await gateway.close()


async def test_r70_an_answer_serves_clients_of_every_dialect() -> None:
    """A canonical answer is nobody's bytes: what one client asked, another one gets in its own dialect."""
    gateway = _gateway(ResponseCache())
    with testing.use("It is 4 degrees.") as fake:
        for client in ("openai-chat", "google", "ollama", "cohere"):
            reply = await gateway(asking(client, LIKE))
            assert await _text(client, reply, stream=False) == "It is 4 degrees."
        assert len(fake.requests) == 1


KEYS = tuple(GatewayKey(name=name, hash=hash_key(name)) for name in ("team-a", "team-b"))


@pytest.mark.parametrize(("shared", "asked"), [(False, 2), (True, 1)])
async def test_r70_keys_share_only_where_the_file_says_so(shared: bool, asked: int) -> None:
    """Each key has a cache of its own, unless `shared = true`."""
    settings = HookSettings(cache=CacheSettings(shared=shared))
    gateway = _gateway(hooks=settings, keys=KEYS)
    with testing.use("Fine.") as fake:
        for name in ("team-a", "team-b", "team-a", "team-b"):
            reply = await gateway(asking("openai-chat", LIKE, headers={"authorization": f"Bearer {name}"}))
            assert await _text("openai-chat", reply, stream=False) == "Fine."
        assert len(fake.requests) == asked
    await gateway.close()


async def test_settings_that_cannot_be_taken_leave_the_hooks_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the database of keys cannot be read at a reload, nothing changes: the cache before has its answers."""
    key = GatewayKey(name="team-a", hash=hash_key("team-a"))
    gateway = _gateway(hooks=HookSettings(cache=CacheSettings()), keys=(key,), key_file=str(tmp_path / "keys.sqlite"))
    before = gateway.settings, gateway.hooks

    def unreadable(database: KeyDatabase) -> int:
        raise ConfigError(f"{database} cannot be read")

    asked = asking("openai-chat", LIKE, headers={"authorization": "Bearer team-a"})
    with testing.use("Fine."):
        replies = [await gateway(asked)]
        monkeypatch.setattr(KeyDatabase, "version", unreadable)
        others = replace(gateway.settings, hooks=HookSettings(cache=CacheSettings(ttl_s=9.0)))
        with pytest.raises(ConfigError, match="cannot be read"):
            gateway.set_up(others)
        replies.append(await gateway(asked))
    assert (gateway.settings, gateway.hooks) == before
    assert [_header(reply, "x-interlingua-cache") for reply in replies] == ["miss", "hit"]
    await gateway.close()


async def test_a_request_that_waits_for_its_turn_meets_the_hooks_of_a_reload(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large body waits before anything is done with it, and what the policy denies meanwhile is denied."""
    gateway = _gateway()

    async def reloaded() -> None:
        gateway.set_up(GatewaySettings(hooks=HookSettings(policy=PolicySettings(denied_words=("swordfish",)))))

    monkeypatch.setattr(gateway.offload.turns, "wait", reloaded)
    with testing.use("Fine.") as fake:
        reply = await gateway(asking("openai-chat", LIKE, "swordfish" + " " * CHEAP_BYTES))
    assert (reply.status, fake.requests) == (400, [])


async def test_r70_tools_are_never_answered_from_the_cache() -> None:
    """And no header speaks of one."""
    gateway = _gateway(ResponseCache())
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    with testing.use("Fine.") as fake:
        for _ in range(2):
            reply = await gateway(asking("openai-chat", LIKE, tools=tools))
            assert _header(reply, "x-interlingua-cache") is None
        assert len(fake.requests) == 2


async def test_r70_a_hit_is_gone_on_from_by_a_responses_client() -> None:
    """It has an id of its own, under which the gateway keeps it."""
    gateway = _gateway(ResponseCache())
    with testing.use(["One.", "Two."]) as fake:
        ids: list[str] = []
        for _ in range(2):
            reply = await gateway(asking("openai-responses", LIKE))
            ids.append(json.loads(await body_of(reply))["id"])
        assert len(set(ids)) == 2
        reply = await gateway(asking("openai-responses", LIKE, "And?", previous_response_id=ids[1]))
        assert await _text("openai-responses", reply, stream=False) == "Two."
    assert [message.text for message in fake.last_request.messages] == ["Hi", "One.", "And?"]


async def test_r70_a_hit_costs_a_key_nothing_and_counts_as_a_request() -> None:
    """The budget is as it was, and the calls of a minute are used up."""
    terms = Terms(rpm=3, budgets=(read_budget("1 USD/month"),))
    keys = (GatewayKey(name="team-a", hash=hash_key("k"), terms=terms),)
    registry = Registry({"LLM_HUB": "interlingua://hub.example?price_in=1&price_out=1000"})
    gateway = Gateway(GatewaySettings(keys=keys), registry=registry, hooks=[ResponseCache()])
    with testing.use("Fine.") as fake:
        statuses = [
            (await gateway(asking("openai-chat", "hub/m", headers={"authorization": "Bearer k"}, max_tokens=9))).status
            for _ in range(4)
        ]
        assert (statuses, len(fake.requests)) == ([200, 200, 200, 429], 1)
    rows = await gateway.admission.accounts.used("team-a")
    assert sum(row.requests for row in rows) == 3
    assert [(row.failed, row.estimated, row.unpriced) for row in rows] == [(0, 0, 0)] * len(rows)
    assert 0 < sum(row.output_tokens for row in rows) < 10


class Greedy(il.Hook):
    """Wants longer answers than a key may have."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Request:
        """As long as can be."""
        return replace(request, max_tokens=1_000_000)


async def test_r70_no_hook_lifts_the_cap_of_a_key() -> None:
    """What was reserved is what goes out."""
    keys = (GatewayKey(name="team-a", hash=hash_key("k"), terms=Terms(tpm=2_000)),)
    gateway = _gateway(Greedy(), keys=keys)
    with testing.use("Fine.") as fake:
        reply = await gateway(asking("anthropic", LIKE, headers={"authorization": "Bearer k"}))
        assert reply.status == 200
    assert fake.last_request.max_tokens == 500


class Broken(il.Hook):
    """Has a fault."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Request:
        """Fails."""
        raise RuntimeError("a fault with a secret in it")


async def test_r70_a_hook_with_a_fault_lets_nothing_through() -> None:
    """The client is told of a fault, not which; nothing is sent."""
    gateway = _gateway(Broken())
    with testing.use("Fine.") as fake:
        reply = await gateway(asking("openai-chat", LIKE))
        assert (reply.status, b"secret" in await body_of(reply), fake.requests) == (500, False, [])


async def test_r70_a_hook_is_named_by_its_import_path() -> None:
    """A class, a function that gives one, or a hook; what is none is an error at the start."""
    here = "tests.unit.gateway.test_hooks"
    for path in (f"{here}:Refusing", f"{here}:made", f"{here}:MADE"):
        gateway = _gateway(hooks=HookSettings(use=(path,)))
        with testing.use("Fine."):
            assert (await gateway(asking("openai-chat", LIKE, "A secret"))).status == 400
        await gateway.close()
    for path, reason in (
        (f"{here}:nothing", "AttributeError"),
        ("no_such_module_at_all:Hook", "ModuleNotFoundError"),
        (f"{here}:Stopping.text", "AttributeError"),
        (f"{here}:plain", "is no il.Hook, and gives none"),
        ("os.path", "cannot be used"),
    ):
        with pytest.raises(il.ConfigError, match=reason):
            _gateway(hooks=HookSettings(use=(path,)))


MADE = Refusing()


def made() -> il.Hook:
    """A hook, made by a function."""
    return Refusing()


def plain() -> int:
    """No hook."""
    return 7


class Closing(il.Hook):
    """Knows how often each of its instances was closed; the gateway makes them from their import path."""

    made: list[Closing] = []

    def __init__(self) -> None:
        self.closed = 0
        self.made.append(self)

    def close(self) -> None:
        """Once more."""
        self.closed += 1


async def test_hooks_that_were_replaced_stay_open_for_requests_under_way() -> None:
    """They are closed when they are replaced a second time, or at the end; each once."""
    Closing.made.clear()
    path = f"{__name__}:Closing"
    gateway = _gateway(hooks=HookSettings(use=(path,)))
    for name in ("a", "b"):
        hooks = HookSettings(use=(path,), policy=PolicySettings(models=(name,)))
        gateway.set_up(replace(gateway.settings, hooks=hooks))
    assert [hook.closed for hook in Closing.made] == [1, 0, 0]
    await gateway.close()
    assert [hook.closed for hook in Closing.made] == [1, 1, 1]
