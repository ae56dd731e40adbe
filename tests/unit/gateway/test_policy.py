"""`[policy]`, `[hooks]` and `[cache]` of the file: what they allow, fill in, bound and refuse; how they are read."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import interlingua as il
from interlingua import testing
from interlingua.gateway.config import read_server_config
from interlingua.gateway.core import Gateway
from interlingua.gateway.hooks import NO_HOOKS, CacheSettings, HookSettings, WebhookSettings
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys.auth import hash_key, renamed
from interlingua.gateway.keys.terms import Terms
from interlingua.gateway.policy import PolicySettings
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.config import read_config
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import Upstream
from interlingua.wire.json import encode
from tests.support.gateway import answer_of, asking, body_of

if TYPE_CHECKING:
    from pathlib import Path

CHAT = "openai-chat"
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)


def _gateway(aliases: Any = None, keys: Any = (), **policy: Any) -> Gateway:
    registry, named = Registry({}), dict[str, str](aliases or {})
    for name, spec in named.items():
        registry.register_alias(name, spec)
    settings = GatewaySettings(keys=keys, hooks=HookSettings(policy=PolicySettings(**policy)))
    return Gateway(settings, registry=registry)


async def _asked(gateway: Gateway, model: str, text: Any = "Hi", key: Any = "", **members: Any) -> tuple[int, str]:
    """Status and text of a request, or the sentence of its error."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    reply = await gateway(asking(CHAT, model, text, headers=headers, **members))
    if reply.status != 200:
        return reply.status, json.loads(await body_of(reply))["error"]["message"]
    return 200, (await answer_of(CHAT, reply)).text


# Names


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("gpt-4.1", "openai/gpt-4.1"),
        ("gpt-4.1-mini", "openai/gpt-4.1-mini"),
        ("gpt-oss", "groq/openai/gpt-oss-120b"),
        ("gpt-5x", "azure/five"),
        ("claude-opus-5", "claude-opus-5"),
        ("openai/gpt-4.1", "openai/gpt-4.1"),
        ("gpt-4.1, claude-opus-5", "openai/gpt-4.1,claude-opus-5"),
    ],
)
def test_r70_a_name_is_put_under_another_one(model: str, told: str) -> None:
    """By the exact name, else by the longest beginning; each element of a chain, and once."""
    rewrite = {"gpt-*": "openai/gpt-*", "gpt-oss": "groq/openai/gpt-oss-120b", "gpt-5*": "azure/five"}
    assert renamed(rewrite, model) == told


async def test_r70_a_client_keeps_the_name_that_it_used() -> None:
    """The target is another one, and a key that may use the target may use the name."""
    keys = (GatewayKey(name="a", hash=hash_key("k"), models=("openai-chat/*",)),)
    gateway = _gateway(keys=keys, rewrite={"gpt-*": "openai-chat/gpt-*"})
    with testing.use("Fine.") as fake:
        reply = await gateway(asking(CHAT, "gpt-4.1", headers={"authorization": "Bearer k"}))
        assert json.loads(await body_of(reply))["model"] == "gpt-4.1"
        assert fake.models == ["openai-chat/gpt-4.1"]
        assert (await _asked(gateway, "claude-opus-5", key="k"))[0] == 403


async def test_r70_models_that_the_policy_does_not_name_are_refused() -> None:
    """For every key, under the name that is asked for or the one that it is put under; of a chain each element."""
    keys = (GatewayKey(name="a", hash=hash_key("k")), GatewayKey(name="b", hash=hash_key("l"), models=("fast",)))
    gateway = _gateway(
        {"fast": "fake/small", "slow": "fake/large"}, keys, models=("fast", "fake/m*"), rewrite={"m": "fake/m"}
    )
    with testing.use("Fine."):
        told = {
            (key, model): (await _asked(gateway, model, key=key))[0]
            for key in ("k", "l")
            for model in ("fast", "m", "fake/mini", "slow", "fast,slow")
        }
    assert told == {
        ("k", "fast"): 200, ("k", "m"): 200, ("k", "fake/mini"): 200, ("k", "slow"): 403, ("k", "fast,slow"): 403,
        ("l", "fast"): 200, ("l", "m"): 403, ("l", "fake/mini"): 403, ("l", "slow"): 403, ("l", "fast,slow"): 403,
    }  # fmt: skip
    with testing.use("Fine."):
        sentence = (await _asked(gateway, "slow", key="k"))[1]
    assert sentence == "the policy of this gateway does not allow the model 'slow'"


# Members


async def test_r70_defaults_fill_in_what_a_client_does_not_say() -> None:
    """Of the name that fits best; what is said stays, and the changes say what was filled in."""
    gateway = _gateway(defaults={"fake/*": {"temperature": 0.2, "max_tokens": 9}, "fake/cold": {"temperature": 0.0}})
    with testing.use("Fine.") as fake:
        reply = await gateway(asking(CHAT, "fake/m"))
        assert dict(reply.headers)["x-interlingua-changes"] == (
            "approximated request_hooked /max_tokens, approximated request_hooked /temperature"
        )
        await gateway(asking(CHAT, "fake/m", temperature=0.9))
        await gateway(asking(CHAT, "fake/cold"))
    told = [(request.temperature, request.max_tokens) for request in fake.requests]
    assert told == [(0.2, 9), (0.9, 9), (0.0, None)]


async def test_r70_a_denied_word_is_refused_with_its_place() -> None:
    """Whole words in any case, wherever they stand; the sentence does not repeat them."""
    gateway = _gateway(denied_words=["project x", "tulip"])
    with testing.use("Fine.") as fake:
        status, sentence = await _asked(gateway, "fake/m", "Tell me of Project X!")
        assert status == 400
        assert sentence.endswith(": /messages/0/parts/0 holds a word that the policy of this gateway denies")
        result = {"role": "tool", "tool_call_id": "c", "content": "TULIP"}
        calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
        history = [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": calls}, result]
        status, sentence = await _asked(gateway, "fake/m", messages=history)
        assert status == 400
        assert sentence.endswith(": /messages/2/parts/0/content holds a word that the policy of this gateway denies")
        assert fake.requests == []
        assert await _asked(gateway, "fake/m", "Tulips of a project, x") == (200, "Fine.")


def _called(arguments: str) -> list[dict[str, Any]]:
    """A history with one call, and its result."""
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]
    result = {"role": "tool", "tool_call_id": "c", "content": "Done."}
    return [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": calls}, result]


def _file(data: bytes) -> list[dict[str, Any]]:
    """A question with a document of text."""
    url = f"data:text/plain;base64,{b64encode(data).decode()}"
    part = {"type": "file", "file": {"filename": "a.txt", "file_data": url}}
    return [{"role": "user", "content": [{"type": "text", "text": "?"}, part]}]


def _tool(**members: Any) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, **members}}]


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({"messages": _called('{"a": "project x"}')}, "/messages/1/parts/0"),
        ({"messages": _called(r'{"a": "\u0070roject\u0020x"}')}, "/messages/1/parts/0"),
        ({"messages": _called('{"project x": 1}')}, "/messages/1/parts/0"),
        ({"messages": _file(b"All of project x.")}, "/messages/0/parts/1"),
        ({"tools": _tool(description="Asks Project X.")}, "/tools/0"),
        ({"tools": _tool(parameters={"type": "object", "properties": {"project x": {}}})}, "/tools/0"),
        ({"prediction": {"type": "content", "content": "project x"}}, "/extra"),
        ({"text": "project\n  x"}, "/messages/0/parts/0"),
        ({"text": "ｐｒｏｊｅｃｔ\u3000𝐱"}, "/messages/0/parts/0"),
        ({"text": "pro\u200bject\u00a0x"}, "/messages/0/parts/0"),
        ({"text": "pro\u00adject x"}, "/messages/0/parts/0"),
        ({"text": [{"type": "text", "text": "pro"}, {"type": "text", "text": "ject x"}]}, "/messages/0"),
    ],
)
async def test_r70_a_denied_word_is_found_wherever_a_model_reads_it(members: dict[str, Any], place: str) -> None:
    """In calls, escaped or not, documents of text, tools and members of a dialect; in any Unicode; in two pieces."""
    gateway = _gateway(denied_words=["project x"])
    with testing.use("Fine.") as fake:
        status, sentence = await _asked(gateway, "fake/m", **members)
        assert status == 400
        assert sentence.endswith(f": {place} holds a word that the policy of this gateway denies")
        assert fake.requests == []


async def test_r70_names_of_dialects_are_no_words() -> None:
    """A member that only one dialect knows is kept under its dialect's name, which nobody wrote."""
    with testing.use("Fine."):
        told = await _asked(_gateway(denied_words=["openai", "user"]), "fake/m", prediction={"content": "a"})
    assert told == (200, "Fine.")


async def test_r70_text_is_counted_in_calls_and_documents_too() -> None:
    """Whoever puts a long text there gets around no bound."""
    gateway = _gateway(max_text_characters=100)
    with testing.use("Fine.") as fake:
        for messages in (_called(json.dumps({"a": "b" * 101})), _file(b"b" * 101)):
            status, sentence = await _asked(gateway, "fake/m", messages=messages)
            assert (status, "are the most by the policy" in sentence) == (400, True)
        assert fake.requests == []


async def test_r70_models_beside_the_model_are_those_of_the_policy() -> None:
    """A list to fall back to is taken out, and a tool's model refused, also where there are no keys."""
    registry = Registry({"OPENROUTER_API_KEY": "sk"})
    policy = PolicySettings(models=("openrouter/a/small",))
    gateway = Gateway(GatewaySettings(hooks=HookSettings(policy=policy)), registry=registry)
    upstream = Upstream(CHAT, "Fine.")
    with upstream.standing():
        assert (await _asked(gateway, "openrouter/a/small", models=["b/large"]))[0] == 200
        assert "models" not in json.loads(upstream.requests[0].body)
        tool = {"type": "openrouter:fusion", "parameters": {"model": "b/large"}}
        assert (await _asked(gateway, "openrouter/a/small", tools=[tool]))[0] == 403
        others: list[tuple[str, dict[str, Any]]] = [("", {"models": ["b/large"]}), ("model=b/large", {})]
        for query, members in others:
            asked = asking(CHAT, "openrouter/a/small", input="Hi", **members)
            reply = await gateway(msgspec.structs.replace(asked, path="/v1/embeddings", query=query))
            assert (reply.status, len(upstream.requests)) == (403, 1)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": "tulip"}]}),
        ("/v1beta/models/google/gemini-2.5-pro:countTokens", {"contents": [{"parts": [{"text": "tulip"}]}]}),
        ("/v1/responses/input_tokens", {"input": "tulip"}),
    ],
)
async def test_r70_a_count_sends_nothing_past_the_hooks(path: str, body: dict[str, Any]) -> None:
    """The provider that counts would read what no hook has seen, so the count is estimated."""
    model = {"messages": "anthropic/claude-opus-4-5", "input": "openai/gpt-4.1"}.get(next(iter(body)), "")
    registry = Registry({"ANTHROPIC_API_KEY": "sk", "OPENAI_API_KEY": "sk", "GEMINI_API_KEY": "sk"})
    hooks = HookSettings(policy=PolicySettings(denied_words=("tulip",)))
    gateway = Gateway(GatewaySettings(hooks=hooks), registry=registry)
    asked = msgspec.structs.replace(
        asking(CHAT, ""), path=path, body=encode({**body, "model": model} if model else body)
    )
    upstream = Upstream("anthropic")
    with upstream.standing():
        reply = await gateway(asked)
    assert (reply.status, upstream.requests) == (200, [])
    assert "tokens_estimated" in dict(reply.headers)["x-interlingua-changes"]


async def test_r70_a_conversation_is_compacted_behind_the_hooks() -> None:
    """The provider's own compaction would read what no hook has seen: a denied word does not reach it."""
    hooks = HookSettings(policy=PolicySettings(denied_words=("tulip",)))
    gateway = Gateway(GatewaySettings(hooks=hooks), registry=Registry({"OPENAI_API_KEY": "sk"}))
    upstream = Upstream("openai-responses", "All of it.")
    told: list[int] = []
    with upstream.standing():
        for text in ("A tulip.", "A rose."):
            body = encode({"model": "openai/gpt-4.1", "input": [{"role": "user", "content": text}]})
            asked = msgspec.structs.replace(asking(CHAT, ""), path="/v1/responses/compact", body=body)
            told.append((await gateway(asked)).status)
    assert told == [400, 200]
    assert [request.url.rpartition("/")[2] for request in upstream.requests] == ["responses"]


@pytest.mark.parametrize(
    ("bound", "members", "sentence"),
    [
        (
            {"max_messages": 1},
            {"messages": [{"role": "user", "content": "a"}] * 2},
            "has 2 messages, and 1 are the most",
        ),
        ({"max_text_characters": 4}, {"messages": [{"role": "user", "content": "hello"}]}, "has 5 characters of text"),
        (
            {"max_tools": 0},
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]},
            "has 1 tools, and 0 are the most",
        ),
        (
            {"max_media": 0},
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": PICTURE}}],
                    }
                ]
            },
            "has 1 media parts",
        ),
    ],
)
async def test_r70_what_is_too_much_is_refused(bound: dict[str, int], members: dict[str, Any], sentence: str) -> None:
    """With the bound; one less is taken."""
    with testing.use("Fine."):
        status, told = await _asked(_gateway(**bound), "fake/m", **members)
        assert (status, sentence in told) == (400, True)
        (name, most) = next(iter(bound.items()))
        assert (await _asked(_gateway(**{name: most + 1}), "fake/m", **members))[0] == 200


async def test_r70_answers_are_no_longer_than_the_policy_says() -> None:
    """Whoever wants more, says nothing, or says what some servers take for no limit, gets so many."""
    gateway = _gateway(max_tokens=50)
    with testing.use("Fine.") as fake:
        for members in ({}, {"max_tokens": 900}, {"max_tokens": 7}, {"max_tokens": 0}, {"max_tokens": -1}):
            await _asked(gateway, "fake/m", **members)
    assert [request.max_tokens for request in fake.requests] == [50, 50, 7, 50, 50]


@pytest.mark.parametrize(
    ("policy", "keys", "most"),
    [
        ({"max_tokens": 50}, (), 50),
        (
            {"max_messages": 9},
            (GatewayKey(name="a", hash=hash_key("k"), terms=Terms(tpm=10_000, default_max_tokens=60)),),
            60,
        ),
    ],
)
async def test_r70_no_option_of_ollama_is_written_over_the_limit(policy: Any, keys: Any, most: int) -> None:
    """`num_predict` of -1 means no limit there: behind hooks that went beside the limit of policy or key, and won."""
    registry = Registry({"LLM_LAMA": "ollama://127.0.0.1:9"})
    gateway = Gateway(
        GatewaySettings(keys=keys, hooks=HookSettings(policy=PolicySettings(**policy))), registry=registry
    )
    upstream = Upstream("ollama", "Fine.")
    options = {"num_predict": -1, "num_ctx": 512}
    with upstream.standing():
        reply = await gateway(asking("ollama", "lama/m", options=options, headers={"authorization": "Bearer k"}))
    assert reply.status == 200
    assert json.loads(upstream.requests[0].body)["options"] == {"num_predict": most, "num_ctx": 512}


async def test_r70_names_alone_leave_bodies_as_they_came() -> None:
    """Where the policy speaks of models only, nothing runs around a conversation."""
    assert _gateway(models=("fake/*",), rewrite={"m": "fake/m"}).hooks == ()


# The file

FILE = """
[policy]
models = ["fake/*"]
denied_words = ["tulip"]
max_messages = 40

[policy.rewrite]
"gpt-*" = "fake/gpt-*"

[policy.defaults."fake/*"]
temperature = 0.2
stop = "END"

[hooks]
use = ["tests.unit.gateway.test_hooks:Refusing"]

[webhooks.guard]
url = "http://127.0.0.1:9/check"
timeout_s = 1
steps = ["before", "after"]

[cache]
store = "memory"
ttl_s = 60
shared = true
"""


def test_r70_the_file_says_it_all(tmp_path: Path) -> None:
    """Every table, as values; members of a request are read as the options of a call are."""
    path = tmp_path / "gateway.toml"
    path.write_text(FILE)
    assert read_server_config(path).settings.hooks == HookSettings(
        policy=PolicySettings(
            models=("fake/*",),
            denied_words=("tulip",),
            max_messages=40,
            rewrite={"gpt-*": "fake/gpt-*"},
            defaults={"fake/*": {"temperature": 0.2, "stop": ("END",)}},
        ),
        use=("tests.unit.gateway.test_hooks:Refusing",),
        webhooks=(
            WebhookSettings(name="guard", url="http://127.0.0.1:9/check", timeout_s=1, steps=("before", "after")),
        ),
        cache=CacheSettings(store="memory", ttl_s=60, shared=True),
    )
    read_config(path)
    path.write_text("[server]\nport = 1\n")
    assert read_server_config(path).settings.hooks is NO_HOOKS


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[policy]\nmodel = ['a']\n", "line 2: unknown key 'model' in [policy]"),
        ("[policy]\n\nmax_messages = -1\n", "line 3: max_messages in [policy] is not a number from 0 on"),
        ("[policy]\nmax_tokens = 0\n", "line 2: max_tokens in [policy] is not a number above 0"),
        ("[policy]\ndenied_words = 'tulip'\n", "line 2: denied_words in [policy] is not a list of texts"),
        ("[policy]\ndenied_words = ['']\n", "line 2: denied_words in [policy] is not a list of texts"),
        ("[policy.rewrite]\na = 'fake/*'\n", "line 2: 'a' in [policy] rewrite has no `*` for that of fake/*"),
        ("[policy.rewrite]\na = 7\n", "line 2: 'a' in [policy] rewrite is not the name of a model"),
        (
            "[policy.defaults.fast]\ntemprature = 1\n",
            "line 2: unknown key 'temprature' in [policy.defaults.fast]",
        ),
        (
            "[policy.defaults.fast]\ntemperature = 'hot'\n",
            "line 2: temperature takes a number, not 'hot' in [policy.defaults.fast]",
        ),
        ("[policy.defaults.fast]\nretries = 2\n", "line 2: unknown key 'retries' in [policy.defaults.fast]"),
        ("[hooks]\nuse = [7]\n", "line 2: use in [hooks] is not a list of import paths"),
        ("[hooks]\nuses = []\n", "line 2: unknown key 'uses' in [hooks]; known: use"),
        ("[cache]\nttl_s = 0\n", "line 2: ttl_s in [cache] is not a number of seconds above 0"),
        ("[cache]\nshared = 1\n", "line 2: shared in [cache] is not true or false"),
        ("[cache]\nttl = 5\n", "line 2: unknown key 'ttl' in [cache]; known: store, ttl_s, max_mb, shared"),
        ("[webhooks.a]\ntimeout_s = 2\n", "line 1: url in [webhooks.a] is not an http:// or https:// address"),
        ("[webhooks.a]\nurl = 'http://h'\non_failure = 'ignore'\n", "line 3: on_failure in [webhooks.a] is not"),
        ("[webhooks.a]\nurl = 'http://h'\nsteps = ['during']\n", "line 3: steps in [webhooks.a] is not a list of"),
        ("[webhooks.a]\nurl = 'http://h'\nkey = 'k'\n", "line 3: unknown key 'key' in [webhooks.a]"),
        ("[caches]\nttl_s = 5\n", "line 1: unknown section 'caches'"),
    ],
)
def test_r70_what_is_wrong_in_the_file_is_told_with_its_line(text: str, sentence: str, tmp_path: Path) -> None:
    """And what was probably meant."""
    path = tmp_path / "gateway.toml"
    path.write_text(text)
    with pytest.raises(il.ConfigError) as refused:
        _read(path)
    assert sentence in refused.value.message


def _read(path: Path) -> None:
    read_server_config(path)
    read_config(path)


async def test_r70_a_webhook_of_the_file_is_asked_fail_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is not there refuses each request with a 503; its key comes from the environment, or is a fault."""
    settings = WebhookSettings(name="guard", url="http://127.0.0.1:9/check")
    gateway = Gateway(GatewaySettings(hooks=HookSettings(webhooks=(settings,))))
    with testing.use("Fine.") as fake:
        status, sentence = await _asked(gateway, "fake/m")
        assert (status, "webhook guard gave no answer" in sentence, fake.requests) == (503, True, [])
        lax = WebhookSettings(name="guard", url=settings.url, on_failure="allow", key_env="GUARD_KEY")
        gateway = Gateway(GatewaySettings(hooks=HookSettings(webhooks=(lax,))))
        assert (await _asked(gateway, "fake/m"))[0] == 500
        monkeypatch.setenv("GUARD_KEY", "k")
        assert await _asked(gateway, "fake/m") == (200, "Fine.")


async def test_r70_another_file_has_another_policy() -> None:
    """From the next request on; what cannot be used changes nothing."""
    gateway = _gateway(models=("fake/*",))
    with testing.use("Fine."):
        assert (await _asked(gateway, "fake/m"))[0] == 200
        gateway.set_up(GatewaySettings(hooks=HookSettings(policy=PolicySettings(models=("other/*",)))))
        assert (await _asked(gateway, "fake/m"))[0] == 403
        before = gateway.settings
        with pytest.raises(il.ConfigError):
            gateway.set_up(GatewaySettings(hooks=HookSettings(use=("no_such_module:Hook",))))
        assert gateway.settings is before


async def test_r70_models_hold_for_every_surface() -> None:
    """Embeddings of another model are refused, and the list of models shows what may be asked for."""
    gateway = _gateway({"fast": "fake/small", "slow": "fake/large"}, models=("fast",))
    headers = (("host", "localhost"), ("content-type", "application/json"))
    body = b'{"model":"slow","input":"a"}'
    asked = GatewayRequest(path="/v1/embeddings", headers=headers, body=body, peer="127.0.0.1")
    with testing.use("Fine."):
        assert (await gateway(asked)).status == 403
        listed = GatewayRequest(method="GET", path="/v1/models", headers=headers, peer="127.0.0.1")
        told = json.loads(await body_of(await gateway(listed)))
    assert [model["id"] for model in told["data"]] == ["fast"]
