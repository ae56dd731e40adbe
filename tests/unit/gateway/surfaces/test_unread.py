"""Every surface of the gateway that reaches a model, and what hooks and `[policy]` see of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.client.hooks.cache import ResponseCache
from interlingua.gateway.core import Gateway
from interlingua.gateway.hooks import HookSettings
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.policy import PolicySettings
from interlingua.gateway.routes import ROUTES
from interlingua.gateway.settings import GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import Upstream
from interlingua.wire.json import decode_any
from tests.support.gateway import asking, body_of
from tests.support.server import Answer, reply, serving

HOOKED = frozenset({"conversation", "load", "count", "compact", "embed", "rerank", "socket", "hosted"})
"""Kinds of paths whose handlers run hooks, or send nothing out where there are some."""
UNREAD = {
    "/v1/images/{rest}", "/v1/audio/{rest}", "/v1/batches", "/v1/messages/batches",
    "/v1beta/models/{model:path}:predict", "/v1beta/models/{model:path}:predictLongRunning",
    "/v1/models/{model:path}:predict", "/v1/models/{model:path}:predictLongRunning",
}  # fmt: skip
"""Paths whose requests a model reads and nobody here does."""
REACHES_NO_MODEL = {
    "/v1/moderations", "/v1/uploads", "/v1/uploads/{rest:path}", "/v1/batches/{rest:path}", "/v1/conversations",
    "/v1/conversations/{rest:path}", "/v1/vector_stores", "/v1/vector_stores/{rest:path}", "/v1/containers",
    "/v1/containers/{rest:path}", "/v1/messages/batches/{rest:path}", "/v1beta/cachedContents", "/v1/cachedContents",
    "/v1beta/cachedContents/{rest:path}", "/v1/cachedContents/{rest:path}", "/upload/v1beta/files", "/upload/v1/files",
    "/v1/files", "/v1/responses/{id}/cancel", "/api/show", "/console/targets/suspend", "/console/targets/resume",
    "/console/sides", "/explain", "/explain/{path:path}",
}  # fmt: skip
"""Paths that store, list, stop, judge or explain."""
POLICY = PolicySettings(denied_words=("swordfish",))


def gateway(port: int, *hooks: il.Hook, **settings: Any) -> Gateway:
    """A gateway with a server of OpenAI's dialects behind it."""
    registry = Registry({
        "LLM_WORK": f"openai://k@127.0.0.1:{port}/v1?tls=0",
        "LLM_CLAUDE": f"anthropic://k@127.0.0.1:{port}?tls=0",
        "LLM_GEM": f"google://k@127.0.0.1:{port}/v1beta?tls=0",
    })  # fmt: skip
    made = GatewaySettings(hooks=HookSettings(**settings), providers=("work", "claude", "gem"))
    return Gateway(made, registry=registry, hooks=hooks)


async def post(made: Gateway, path: str, members: dict[str, Any], **headers: str) -> GatewayReply:
    """The reply to a JSON body."""
    told = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await made(
        GatewayRequest(method="POST", path=path, headers=tuple(told.items()), body=json.dumps(members).encode())
    )


def test_every_surface_that_reaches_a_model_is_listed() -> None:
    """A new path is said to run hooks, to be unread, or to reach no model; nobody forgets one."""
    posts = {(route.pattern, route.kind) for route in ROUTES if route.method in ("POST", "PATCH", "PUT")}
    hooked = {pattern for pattern, kind in posts if kind in HOOKED}
    others = {pattern for pattern, kind in posts if kind not in HOOKED}
    assert others == UNREAD | REACHES_NO_MODEL | {"/v1/completions"}
    assert {"/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat", "/v1/embeddings"} <= hooked


@pytest.mark.parametrize(
    "path", ["/model/claude/m/invoke", "/v1/projects/p/locations/l/publishers/anthropic/models/claude/m:rawPredict"]
)
async def test_a_policy_reads_messages_under_the_paths_of_clouds(path: str) -> None:
    """A denied word is refused, and nothing goes out."""
    members = {"anthropic_version": "v", "max_tokens": 9, "messages": [{"role": "user", "content": "swordfish"}]}
    with serving([]) as server:
        refused = await post(gateway(server.port, policy=POLICY), path, members)
    assert (refused.status, server.seen) == (400, [])
    assert b"policy" in await body_of(refused)


@pytest.mark.parametrize("pattern", sorted(UNREAD))
async def test_what_nobody_reads_goes_to_no_model_past_a_hook(pattern: str) -> None:
    """403, in the words of the policy; nothing goes out, unless the operator lets it pass, or the hook is a cache."""
    path = pattern.replace("{model:path}", "gem/m").replace("{rest}", "generations")
    members: dict[str, Any] = {
        "model": "claude/m" if "messages" in path else "work/m",
        "prompt": "swordfish",
        "requests": [],
    }
    if "predict" in path:
        members = {"instances": []}
    if path == "/v1/batches":
        members = {"input_file_id": "file-1", "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    headers = {"anthropic_version": "2023-06-01"} if "messages" in path else {}
    answer = Answer((reply(b"{}", headers="content-type: application/json\r\n"),))
    with serving([answer, answer]) as server:
        refused = await post(gateway(server.port, policy=POLICY), path, members, **headers)
        assert refused.status == 403
        assert b"[policy] has to see what goes to a model" in await body_of(refused)
        assert server.seen == []
        for made in (gateway(server.port, policy=POLICY, unread="pass"), gateway(server.port, ResponseCache())):
            assert (await post(made, path, members, **headers)).status == 200
        assert len(server.seen) == 2


class Masking(il.Hook):
    """Masks digits in what is said to a model, and bounds it."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Request:
        """In every text."""
        parts = tuple(
            [
                il.TextPart(part.text.replace("7", "*"))
                for part in request.messages[0].parts
                if isinstance(part, il.TextPart)
            ]
        )
        return replace(request, messages=(replace(request.messages[0], parts=parts),), max_tokens=5)


class Answering(il.Hook):
    """Answers by itself."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Response[Any]:
        """Always alike."""
        return il.Response(parts=(il.TextPart("pong"),), finish_reason="stop")


class Reading(il.Hook):
    """Has to see answers."""

    def after(self, response: il.Response[Any], context: il.HookContext) -> il.Response[Any]:
        """As it is."""
        return response


COMPLETED = Answer((reply(b'{"choices":[]}', headers="content-type: application/json\r\n"),))


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [("Room 7?", "Room *?"), (["a 7", "b"], ["a *", "b"])],
)
async def test_hooks_see_and_change_a_prompt(prompt: Any, expected: Any) -> None:
    """The text and the knobs that a conversation has, too; everything else stays as it came, and the header says so."""
    members = {"model": "work/m", "prompt": prompt, "suffix": "in 7", "max_tokens": 90, "echo": True, "stop": "x"}
    with serving([COMPLETED]) as server:
        done = await post(gateway(server.port, Masking()), "/v1/completions", members)
        sent: Any = decode_any(server.seen[0].body)
    assert done.status == 200
    assert sent == {**members, "model": "m", "prompt": expected, "suffix": "in *", "max_tokens": 5}
    told = dict(done.headers)["x-interlingua-changes"]
    assert "request_hooked /messages" in told
    assert "request_hooked /max_tokens" in told


@pytest.mark.parametrize(
    ("hooks", "prompt", "status", "sentence"),
    [
        ((), "a Swordfish", 400, "/messages/0/parts/0 holds a word that the policy of this gateway denies"),
        ((), [1, 2, 3], 403, "/v1/completions is not read here"),
        ((Answering(),), "Hi", 400, "a hook answered in the place of the model, which /v1/completions cannot say"),
        ((Reading(),), "Hi", 403, "Reading has to see what goes to a model and comes from it"),
    ],
)
async def test_a_prompt_that_a_hook_refuses_or_cannot_see_goes_nowhere(
    hooks: tuple[il.Hook, ...], prompt: Any, status: int, sentence: str
) -> None:
    """A denied word, tokens, an answer of a hook, a hook for answers."""
    with serving([]) as server:
        made = gateway(server.port, *hooks, policy=POLICY)
        refused = await post(made, "/v1/completions", {"model": "work/m", "prompt": prompt})
        assert server.seen == []
    assert refused.status == status
    error = json.loads(await body_of(refused))["error"]
    assert sentence in error["message"]
    assert error["code"] == {400: "content_filter" if "policy" in sentence else None, 403: "hooks_cannot_see"}[status]


@pytest.mark.parametrize("member", ["prompt_embeds", "template", "documents"])
async def test_a_prompt_that_stands_elsewhere_is_not_past_a_hook(member: str) -> None:
    """A server such as vLLM reads vectors in `prompt_embeds`, and nobody knows other members; numbers are no text."""
    members = {
        "model": "work/m",
        "prompt": "Hi",
        "min_p": 0.5,
        "stream_options": None,
        "response_format": {"type": "text"},
    }
    with serving([COMPLETED]) as server:
        made = gateway(server.port, policy=POLICY)
        refused = await post(made, "/v1/completions", {**members, member: ["swordfish"]})
        assert (refused.status, server.seen) == (403, [])
        assert b"/v1/completions is not read here" in await body_of(refused)
        assert (await post(made, "/v1/completions", {**members, member: None})).status == 200


async def test_a_hook_may_begin_or_cease_to_see_everything() -> None:
    """Each request asks it anew, so that a hook of code needs no new gateway."""
    hook = Idle()
    with Upstream("openai-chat").standing():
        made = gateway(1, hook)
        for sees_everything in (True, False, True):
            hook.sees_everything = sees_everything
            for path in ("/v1/audio/speech", "/v1/embeddings"):
                told = await post(made, path, {"model": "work/m", "input": [1, 2]})
                assert (b"Idle has to see" in await body_of(told)) is sees_everything


# Conversations that a hook leaves alone


class Idle(il.Hook):
    """Looks, and changes nothing."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Request:
        """As it is."""
        return request


class IdleAfter(Idle):
    """Looks at answers, too."""

    def after(self, response: il.Response[Any], context: il.HookContext) -> il.Response[Any]:
        """As it is."""
        return response


@pytest.mark.parametrize("hook", [Idle(), IdleAfter()], ids=["before", "after"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_hook_that_changes_nothing_leaves_bodies_as_they_came(hook: il.Hook, stream: bool) -> None:
    """What goes out is byte for byte what goes out without hooks, a member that nobody knows included."""
    sent: list[bytes] = []
    replies: list[bytes] = []
    for hooks in ((), (hook,)):
        registry = Registry({"LLM_WORK": "openai://token@127.0.0.1:1?tls=0"})
        made = Gateway(GatewaySettings(), registry=registry, hooks=hooks)
        with Upstream("openai-chat").standing() as upstream:
            reply = await made(asking("openai-chat", "work/m", "Hi  there", stream=stream, temperature=0.5))
            replies.append(await body_of(reply))
            sent.append(upstream.requests[-1].body)
    if not (stream and isinstance(hook, IdleAfter)):  # whose stream it has to see as events
        assert sent[0] == sent[1]
    assert (replies[0] == replies[1]) or stream


async def test_a_policy_that_changes_nothing_leaves_bodies_as_they_came() -> None:
    """`[policy]` alone reads a body, and lets its bytes go on."""
    bodies: list[bytes] = []
    for policy in (PolicySettings(), PolicySettings(denied_words=("swordfish",), max_messages=9)):
        registry = Registry({"LLM_WORK": "openai://token@127.0.0.1:1?tls=0"})
        made = Gateway(GatewaySettings(hooks=HookSettings(policy=policy)), registry=registry)
        with Upstream("openai-chat").standing() as upstream:
            await made(asking("openai-chat", "work/m", "Hi", stream=True))
            bodies.append(upstream.requests[-1].body)
    assert bodies[0] == bodies[1]
