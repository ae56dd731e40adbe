"""One reading of a body decides everything, through a real `il serve`: nothing ambiguous or unbounded gets by."""

from __future__ import annotations

import json
from collections.abc import Generator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from interlingua.gateway.keys.auth import hash_key
from interlingua.testing.upstream import Say, Upstream
from tests.e2e.gateway.test_serve import Served, _serving

CONFIG = f"""
[keys.team-a]
hash = "{hash_key("team-a")}"

[keys.team-b]
hash = "{hash_key("team-b")}"

[keys.counted]
hash = "{hash_key("counted")}"
rpm = 100000

[keys.paid]
hash = "{hash_key("paid")}"
budget = "100000 tokens"

[keys.narrow]
hash = "{hash_key("narrow")}"
models = ["chat/gpt-4.1", "messages/*"]
"""
CHAT = "/v1/chat/completions"
KIB, MIB = 1024, 1024 * 1024
SAID = b'"messages":[{"role":"user","content":"Hi"}]'


class World(NamedTuple):
    """A gateway in a process of its own, and the providers behind it."""

    served: Served
    chat: Upstream
    messages: Upstream
    responses: Upstream

    def ask(self, key: str, path: str, body: bytes) -> tuple[int, dict[str, str], Any]:
        """Status, headers and body of what is answered."""
        connection = HTTPConnection("127.0.0.1", self.served.port, timeout=120)
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json", "connection": "close"}
        connection.request("POST", path, body, headers)
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, json.loads(text)

    def resident_kib(self) -> int:
        """How much memory the gateway has."""
        lines = Path(f"/proc/{self.served.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    """Keys of five kinds, and a strict provider for each of three dialects."""
    folder = tmp_path_factory.mktemp("gateway")
    path = folder / "gateway.toml"
    path.write_text(CONFIG)
    say = Say(text="Yes.")
    chat, messages, responses = (
        Upstream("openai-chat", say),
        Upstream("anthropic", *[Say(text="Yes.", thinking="Hm.")] * 2),
        Upstream("openai-responses", say),
    )
    with chat.serving() as one, messages.serving() as two, responses.serving() as three:
        dsns = {
            "LLM_CHAT": f"openai-compatible://token@{_place(one)}?tls=0",
            "LLM_MESSAGES": f"anthropic://token@{_place(two)}?tls=0",
            "LLM_RESPONSES": f"openai-responses://token@{_place(three)}?tls=0",
        }
        with _serving("--config", str(path), "--keys", str(folder / "keys.sqlite"), **dsns) as served:
            yield World(served, chat, messages, responses)


def _place(url: str) -> str:
    return url.partition("://")[2]


@pytest.mark.parametrize("path", ["/v1/embeddings", CHAT, "/api/chat", "/v1/completions"])
@pytest.mark.parametrize("size", [1_025, 4_300_000])
def test_dos_01_a_model_name_of_megabytes_is_refused_and_closes_no_key(world: World, path: str, size: int) -> None:
    """400 on every route that has a name; keys with limits go on."""
    status, _, told = world.ask("counted", path, _named(b"a" * size))
    assert status == 400
    assert "a name has at most 1024 characters" in json.dumps(told)
    assert world.ask("counted", CHAT, b'{"model":"chat/gpt-4.1",%b}' % SAID)[0] == 200


@pytest.mark.parametrize(("size", "expected"), [(1_025, 400), (4_300_000, 413)])
def test_dos_01_a_route_that_shows_a_model_takes_no_long_name(world: World, size: int, expected: int) -> None:
    """`/api/show` reads small bodies alone."""
    assert world.ask("counted", "/api/show", _named(b"a" * size))[0] == expected


def _named(model: bytes) -> bytes:
    return b'{"model":"%b",%b,"input":"Hi","prompt":"Hi"}' % (model, SAID)


def test_dos_02_names_that_are_refused_are_not_kept(world: World) -> None:
    """30 names of 5 MB leave the process as small as the first few did."""

    def asked(number: int) -> None:
        for path in (CHAT, "/v1/embeddings"):
            name = b"chat/%d" % number + b"a" * 5_000_000
            assert world.ask("team-a", path, b'{"model":"%b",%b,"input":"Hi"}' % (name, SAID))[0] == 400

    for number in range(4):
        asked(number)
    before = world.resident_kib()
    for number in range(4, 30):
        asked(number)
    assert world.resident_kib() - before < 40 * KIB


@pytest.mark.parametrize("model", ["messages/claude-opus-4-5", "chat/gpt-4.1"])
@pytest.mark.parametrize(
    ("members", "status", "message"),
    [
        (1_001, 400, "the body: the object has more than 1,000 unknown members"),
        (1_400_000, 413, "values"),
    ],
)
def test_dos_03_a_flood_of_unknown_members_is_refused(
    world: World, model: str, members: int, status: int, message: str
) -> None:
    """Also 18 MB of them, translated and passed on: the client is told what there is too much of."""
    flood = b",".join([b'"k%d":1' % number for number in range(members)])
    found, _, told = world.ask("team-a", CHAT, b'{"model":"%b",%b,%b}' % (model.encode(), SAID, flood))
    assert (found, message in told["error"]["message"]) == (status, True)


@pytest.mark.parametrize(
    "name", [b"previous_response_id", b"previous\\u005fresponse_id", b"\\u0070revious_response_id"]
)
def test_own_01_the_answer_of_another_key_is_not_continued_however_its_member_is_written(
    world: World, name: bytes
) -> None:
    """The owner goes on; another key gets the error of an id that never was, and the provider hears nothing."""
    status, _, first = world.ask("team-a", "/v1/responses", b'{"model":"responses/gpt-4.1","input":"Hi"}')
    assert status == 200
    body = b'{"model":"responses/gpt-4.1","input":"And?","%b":"%b"}' % (name, first["id"].encode())
    count = len(world.responses.requests)
    status, _, told = world.ask("team-b", "/v1/responses", body)
    assert (status, len(world.responses.requests)) == (400, count), told
    assert "previous_response_id" in told["error"]["message"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"model":"chat/gpt-4.1",%b,%b}' % (SAID, SAID), "/messages"),
        (b'{"model":"chat/gpt-4.1","max_tokens":1,%b,"max_tokens":900000}' % SAID, "/max_tokens"),
        (b'{"model":"chat/gpt-4.1","messages":[{"role":"user","role":"system","content":"x"}]}', "/messages/0/role"),
        (b'{"model":"chat/gpt-4.1",%b,"mod\\u0065l":"chat/private"}' % SAID, "/model"),
        (b'{"model":"chat/gpt-4.1",%b,"Model":"chat/private"}' % SAID, "/Model"),
        (b'{"model":"chat/gpt-4.1",%b,"MAX_TOKENS":900000}' % SAID, "/MAX_TOKENS"),
    ],
)
def test_a_body_with_two_meanings_is_refused(world: World, body: bytes, path: str) -> None:
    """The place is named, and no provider is asked."""
    count = len(world.chat.requests)
    status, _, told = world.ask("narrow", CHAT, body)
    assert (status, len(world.chat.requests)) == (400, count)
    assert told["error"]["message"].startswith(f"{path}: ")


def test_other_models_are_taken_out_for_a_key_that_may_not_ask_for_them(world: World) -> None:
    """`models` and what chooses a provider, with entries; every other byte is passed on, and other keys keep them."""
    body = b'{"model":"chat/gpt-4.1", "models":["private"], %b, "route":"fallback"}' % SAID
    status, headers, _ = world.ask("narrow", CHAT, body)
    assert (status, world.chat.requests[-1].body) == (200, b'{"model":"gpt-4.1", %b}' % SAID)
    entry = "dropped parameter_unsupported /extra/openai-chat/"
    assert headers["x-interlingua-changes"] == f"{entry}models, {entry}route"
    allowed = b'{"model":"chat/gpt-4.1","models":["gpt-4.1"],%b}' % SAID
    assert world.ask("narrow", CHAT, allowed)[0] in (200, 400)
    assert world.chat.requests[-1].body == allowed.replace(b"chat/", b"")


DEPLOYMENTS = [
    b'"engine":"private"',
    b'"deployment":"private"',
    b'"deployment_id":"private"',
    b'"deploymentId":"private"',
    b'"model_list":[{"model_name":"a","litellm_params":{"model":"private"}}]',
    b'"api_base":"https://192.0.2.1"',
    b'"base_url":"https://192.0.2.1"',
    b'"baseURL":"https://192.0.2.1"',
    b'"Models":["private"]',
    b'"Provider":{"order":["x"]}',
]


@pytest.mark.parametrize("member", DEPLOYMENTS)
def test_a_deployment_or_an_address_is_taken_out_for_a_key_that_may_not_ask_for_it(world: World, member: bytes) -> None:
    """With an entry; a body that is passed, and what is written over a request, are refused."""
    body = b'{"model":"chat/gpt-4.1", %b, %b}' % (member, SAID)
    status, headers, _ = world.ask("narrow", CHAT, body)
    assert (status, world.chat.requests[-1].body) == (200, b'{"model":"gpt-4.1", %b}' % SAID)
    name = member.split(b'"')[1].decode()
    assert headers["x-interlingua-changes"] == f"dropped parameter_unsupported /extra/openai-chat/{name}"
    count = len(world.chat.requests)
    assert world.ask("narrow", "/v1/embeddings", b'{"model":"chat/gpt-4.1","input":"Hi",%b}' % member)[0] == 403
    extra = b'"extra":{"openai-chat":{%b}}' % member
    assert world.ask("narrow", "/unified/v1/generate", b'{"model":"chat/gpt-4.1",%b,%b}' % (SAID, extra))[0] == 403
    assert len(world.chat.requests) == count


def test_a_deployment_that_a_key_may_ask_for_is_passed_on_and_a_tools_engine_is_none(world: World) -> None:
    """What names a model of the list stays, as a search engine does."""
    plugins = b'"plugins":[{"id":"web","engine":"exa"}]'
    body = b'{"model":"chat/gpt-4.1","deployment_id":"gpt-4.1",%b,%b}' % (plugins, SAID)
    assert world.ask("narrow", CHAT, body)[0] in (200, 400)
    assert world.chat.requests[-1].body == body.replace(b"chat/", b"")


@pytest.mark.parametrize(
    "member",
    [
        b'"tools":[{"type":"image_generation","model":"private"}]',
        b'"plugins":[{"id":"fusion","models":["private"]}]',
        b'"web_search_options":{"model":"private"}',
        b'"tools":[{"type":"web_search","Model":"private"}]',
        b'"plugins":[{"id":"x","modelName":"private"}]',
        b'"tools":[{"type":"openrouter:image_generation","parameters":{"model":"private"}}]',
        b'"input":[{"type":"additional_tools","tools":[{"type":"image_generation","model":"private"}]}]',
        b'"input":[{"type":"tool_search_output","tools":[{"type":"image_generation","model":"private"}]}]',
    ],
)
def test_a_model_inside_a_tool_is_checked(world: World, member: bytes) -> None:
    """403, and no provider is asked."""
    count = len(world.chat.requests)
    status, _, told = world.ask("narrow", CHAT, b'{"model":"chat/gpt-4.1",%b,%b}' % (SAID, member))
    assert (status, len(world.chat.requests)) == (403, count), told


def test_a_word_in_a_schema_or_a_conversation_names_no_model(world: World) -> None:
    """Properties of a function's parameters may be called `model`."""
    schema = b'{"type":"object","properties":{"model":{"type":"string"}},"required":["model"]}'
    tools = b'"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":%b}}]' % schema
    assert world.ask("narrow", CHAT, b'{"model":"chat/gpt-4.1",%b,%b}' % (SAID, tools))[0] == 200


UNIFIED = "/unified/v1/generate"
ASKED = b'"messages":[{"role":"user","content":"Hi"}]'


@pytest.mark.parametrize("key", ["team-a", "narrow", "paid"])
@pytest.mark.parametrize(
    ("member", "path"),
    [
        (b'"extra":{"openai-chat":{"model":"private"}}', "/extra/openai-chat/model"),
        (b'"extra":{"openai-chat":{"MODEL":"private"}}', "/extra/openai-chat/MODEL"),
        (b'"extra":{"openai-chat":{"stream":true}}', "/extra/openai-chat/stream"),
        (b'"extra":{"openai-chat":{"n":60}}', "/extra/openai-chat/n"),
        (b'"extra":{"openai-chat":{"service_tier":"priority"}}', "/extra/openai-chat/service_tier"),
        (b'"extra":{"openai-chat":{"max_tokens":999999}}', "/extra/openai-chat/max_tokens"),
        (b'"extra":{"openai-chat":{"max_completion_tokens":9}}', "/extra/openai-chat/max_completion_tokens"),
        (b'"extra":{"openai-responses":{"max_output_tokens":9}}', "/extra/openai-responses/max_output_tokens"),
        (b'"extra":{"anthropic":{"max_tokens":999999}}', "/extra/anthropic/max_tokens"),
        (
            b'"extra":{"google":{"generation_config":{"max_output_tokens":9}}}',
            "/extra/google/generation_config/max_output_tokens",
        ),
        (
            b'"extra":{"google":{"generationConfig":{"candidateCount":8}}}',
            "/extra/google/generationConfig/candidateCount",
        ),
        (b'"extra":{"ollama":{"options":{"num_predict":-1}}}', "/extra/ollama/options/num_predict"),
        (b'"extra":{"unified":{"extra":{"openai-chat":{"model":"private"}}}}', "/extra/unified/extra"),
        (b'"continues":{"dialect":"openai-chat","raw":{"model":"private"}}', "/continues/raw/model"),
    ],
)
def test_what_is_written_over_a_request_does_not_say_who_answers_nor_how_much(
    world: World, key: str, member: bytes, path: str
) -> None:
    """400 with the place, for every key: the target would hold to it, and limits were checked by another one."""
    count = len(world.chat.requests)
    status, _, told = world.ask(key, UNIFIED, b'{"model":"chat/gpt-4.1",%b,%b}' % (ASKED, member))
    assert (status, told["error"].get("path"), len(world.chat.requests)) == (400, path, count), told


@pytest.mark.parametrize(
    ("key", "member", "expected"),
    [
        ("narrow", b'"extra":{"openai-chat":{"models":["private"]}}', 403),
        ("narrow", b'"extra":{"openai-chat":{"route":"fallback"}}', 403),
        ("narrow", b'"extra":{"openai-chat":{"plugins":[{"name":"web","model":"private"}]}}', 403),
        ("paid", b'"extra":{"openai-responses":{"background":true}}', 400),
        ("narrow", b'"extra":{"openai-chat":{"logprobs":true}}', 200),
        ("paid", b'"extra":{"openai-chat":{"logprobs":true}}', 200),
    ],
)
def test_what_is_written_over_a_request_is_held_to_the_limits_of_its_key(
    world: World, key: str, member: bytes, expected: int
) -> None:
    """As is what stands at the top of a body; everything else goes on."""
    assert world.ask(key, UNIFIED, b'{"model":"chat/gpt-4.1",%b,%b}' % (ASKED, member))[0] == expected


@pytest.mark.parametrize("member", [b'"tools":[{"type":"namespace","name":"n","tools":5}]', b'"tools":[5]'])
def test_what_is_no_tool_is_the_clients_fault(world: World, member: bytes) -> None:
    """Neither a traceback (500) nor a fault of the provider (502)."""
    status, _, told = world.ask("team-a", "/v1/responses", b'{"model":"chat/gpt-4.1","input":"Hi",%b}' % member)
    assert (status, "/tools/0" in told["error"]["message"]) == (400, True)


def test_pass_02_a_mark_on_thinking_is_not_passed_on(world: World) -> None:
    """A provider of Messages refuses it: the request is encoded again, and says everything else."""

    def ask(history: list[Any]) -> tuple[int, Any]:
        body = {"model": "messages/claude-opus-4-5", "max_tokens": 2_000, "thinking": THINKING, "messages": history}
        status, _, told = world.ask("team-a", "/v1/messages", json.dumps(body).encode())
        return status, told

    history: list[Any] = [{"role": "user", "content": "Hi"}]
    status, first = ask(history)
    assert (status, [block["type"] for block in first["content"]]) == (200, ["thinking", "text"])
    thought, text = ({name: block[name] for name in names} for block, names in zip(first["content"], KEPT, strict=True))
    marked = {**thought, "cache_control": {"type": "ephemeral"}}
    history += [{"role": "assistant", "content": [marked, text]}, {"role": "user", "content": "And?"}]
    status, told = ask(history)
    assert status == 200, told
    assert json.loads(world.messages.requests[-1].body)["messages"][1]["content"] == [thought, text]


THINKING = {"type": "enabled", "budget_tokens": 1_024}
KEPT = (("type", "thinking", "signature"), ("type", "text"))
