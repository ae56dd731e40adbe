"""The gateway as a callable: who may ask, what is answered, and errors in the client's own words."""

from __future__ import annotations

from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.calls.reading import MAX_MODEL_CHARACTERS
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.routes import find_route, meant_path, methods_of
from interlingua.gateway.settings import GatewayKey
from interlingua.registry.resolve import Registry
from interlingua.testing.conformance.session import TONGUES
from interlingua.testing.upstream import Upstream
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_any
from tests.support.gateway import MODELS, asking, body_of, gateway, header_of

every_client = pytest.mark.parametrize("dialect", TONGUES)


async def _error_of(dialect: str, reply: GatewayReply) -> il.Error:
    whole = HttpReply(status=reply.status, headers=reply.headers, body=await body_of(reply))
    return get_dialect(dialect).decode_error(whole, DecodeContext())


def _with(request: GatewayRequest, **members: Any) -> GatewayRequest:
    given = {name: getattr(request, name) for name in request.__struct_fields__}
    return GatewayRequest(**{**given, **members})


# What cannot be answered


@every_client
async def test_a_body_that_is_no_json_is_a_400_in_the_clients_dialect(dialect: str) -> None:
    """The bytes are the client's fault, and the error says where they break."""
    for body in (b"", b"{", b"[1]", b'"text"', b"\xff\xfe"):
        reply = await gateway()(_with(asking(dialect, "anthropic/m"), body=body))
        assert reply.status == 400
        assert isinstance(await _error_of(dialect, reply), il.BadRequestError | il.DecodeError)


@pytest.mark.parametrize("dialect", [name for name in TONGUES if name != "ollama"])
async def test_a_body_without_messages_names_the_member(dialect: str) -> None:
    """Nothing to say to the model is a 400 before any provider is asked; Ollama's clients have a model loaded so."""
    member = {"google": "contents", "openai-responses": "input"}.get(dialect, "messages")
    nothing: tuple[Any, ...] = ([], None)
    for empty in nothing:
        members: dict[str, Any] = {member: empty}
        reply = await gateway()(asking(dialect, "anthropic/m", **members))
        assert reply.status == 400
        assert member in (await _error_of(dialect, reply)).message


@pytest.mark.parametrize("dialect", [name for name in TONGUES if name not in ("google", "bedrock")])
async def test_a_body_without_a_model_names_the_member(dialect: str) -> None:
    """So is a request that names no model."""
    reply = await gateway()(asking(dialect, ""))
    assert reply.status == 400
    assert "model" in (await _error_of(dialect, reply)).message


@every_client
async def test_an_unknown_model_is_a_404_in_the_clients_dialect(dialect: str) -> None:
    """A name that nothing defines is sent as the client's SDK knows it."""
    reply = await gateway()(asking(dialect, "no-such-model"))
    assert reply.status == 404
    error = await _error_of(dialect, reply)
    assert isinstance(error, il.NotFoundError | il.UnknownModelError)
    assert "no-such-model" in error.message


@pytest.mark.parametrize(
    ("path", "headers", "start"),
    [
        ("/v1/nothing", (), b'{"error":{"message":'),
        ("/v1/messages/nothing", (), b'{"type":"error","error":{'),
        ("/v1/nothing", (("anthropic-version", "2023-06-01"),), b'{"type":"error","error":{'),
        ("/v1beta/nothing", (), b'{"error":{"code":404'),
        ("/v1/nothing", (("x-goog-api-key", "k"),), b'{"error":{"code":404'),
        ("/api/nothing", (), b'{"error":"'),
        ("/unified/nothing", (), b'{"error":{"type":"not_found_error"'),
    ],
)
async def test_an_unknown_route_is_told_in_the_dialect_that_the_client_seems_to_speak(
    path: str, headers: Any, start: bytes
) -> None:
    """By its headers, else by where it looked."""
    reply = await gateway()(GatewayRequest(path=path, headers=headers, peer="127.0.0.1"))
    assert reply.status == 404
    assert (await body_of(reply)).startswith(start)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/chat/completions", "/v1/chat/completions"),
        ("/v1/v1/messages", "/v1/messages"),
        ("/v1/v1beta/models/x:generateContent", "/v1beta/models/x:generateContent"),
        ("/v1/api/chat", "/api/chat"),
        ("//v1/responses/", "/v1/responses"),
    ],
)
async def test_an_unknown_route_says_which_one_was_meant(path: str, meant: str) -> None:
    """A base URL that ends too early or too late is what goes wrong first with every client."""
    reply = await gateway()(GatewayRequest(path=path, peer="127.0.0.1"))
    told = decode_any(await body_of(reply))
    assert told == {
        "error": {
            "message": f"nothing is answered at {path}; {meant} is: look at the base URL of your client",
            "type": "invalid_request_error",
            "param": None,
            "code": "unknown_url",
        }
    }


async def test_an_unknown_route_that_is_like_none_says_where_all_are() -> None:
    """The description of the gateway can be asked for as it stands in the sentence."""
    asked = gateway()
    reply = await asked(GatewayRequest(path="/nothing", peer="127.0.0.1"))
    assert decode_any(await body_of(reply))["error"]["message"] == (
        "nothing is answered at /nothing; GET /openapi.json lists the routes"
    )
    assert (await asked(GatewayRequest(method="GET", path="/openapi.json", peer="127.0.0.1"))).status == 200


@pytest.mark.parametrize("path", ["/", "/nothing", "/v1/" + "a/" * 20 + "v1/messages", "*"])
def test_no_route_is_guessed_where_none_is_near(path: str) -> None:
    """Neither the root, nor anything behind a long way."""
    assert meant_path("POST", path) is None


@pytest.mark.parametrize(
    ("method", "path", "allowed", "told"),
    [
        ("PUT", "/v1/chat/completions", "POST", "PUT is not answered at /v1/chat/completions; POST is"),
        ("DELETE", "/v1/messages", "POST", "DELETE is not answered at /v1/messages; POST is"),
        ("POST", "/", "HEAD, GET", "POST is not answered at /; HEAD and GET are"),
    ],
)
async def test_a_wrong_method_names_the_right_one(method: str, path: str, allowed: str, told: str) -> None:
    """405 in every dialect, with the header that says which methods there are."""
    reply = await gateway()(GatewayRequest(method=method, path=path, peer="127.0.0.1"))
    assert reply.status == 405
    assert header_of(reply, "allow") == allowed
    assert told in (await body_of(reply)).decode()


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/v1/models", "/api/version", "/openapi.json"])
async def test_head_is_answered_where_get_is(path: str) -> None:
    """Who looks after servers asks so whether one is there."""
    whole = await gateway()(GatewayRequest(method="GET", path=path, peer="127.0.0.1"))
    head = await gateway()(GatewayRequest(method="HEAD", path=path, peer="127.0.0.1"))
    assert (head.status, head.headers[0]) == (whole.status, whole.headers[0]) == (200, whole.headers[0])


@pytest.mark.parametrize("path", ["/v1/files", "/console/live", "/v1/chat/completions"])
def test_head_is_not_answered_for_what_is_elsewhere_or_endless(path: str) -> None:
    """Neither a provider's lists, nor a stream, nor what takes a body."""
    assert find_route("HEAD", path) is None


async def test_a_fault_of_ours_is_an_error_of_the_dialect(caplog: pytest.LogCaptureFixture) -> None:
    """The client is told no more than that; the log has the rest."""

    def break_down() -> str:
        raise RuntimeError("secret detail")

    made = Gateway(registry=Registry({}), random=break_down)
    with Upstream("anthropic").standing():
        reply = await made(asking("openai-chat", MODELS["anthropic"], headers={"x-request-id": "r-1"}))
        whole = await body_of(reply)
    assert reply.status in (200, 500)
    assert b"secret detail" not in whole
    assert reply.status == 200 or "secret detail" in caplog.text


# Names of models


async def test_exact_aliases_come_before_the_longest_prefix() -> None:
    """A client that insists on its own names gets what those stand for, as precisely as they were given."""
    aliases = {
        "claude-haiku-4-5": "anthropic/exact",
        "claude-haiku-*": "anthropic/longer",
        "claude-*": "anthropic/shorter",
    }
    made = gateway(aliases=aliases)
    with Upstream("anthropic").standing():
        for name, target in {
            "claude-haiku-4-5": "anthropic/exact",
            "claude-haiku-3": "anthropic/longer",
            "claude-opus": "anthropic/shorter",
            "anthropic/named": "anthropic/named",
        }.items():
            reply = await made(asking("openai-chat", name))
            assert header_of(reply, "x-interlingua-target") == target
            shown: Any = decode_any(await body_of(reply))
            assert shown["model"] == name


# Who may ask

KEY = "one-key-of-a-team"
KEYS = (GatewayKey(name="team", hash=hash_key(KEY), models=("smart", "anthropic/*")),)
BROUGHT = [
    {"authorization": f"Bearer {KEY}"},
    {"authorization": f"bearer {KEY}"},
    {"x-api-key": KEY},
    {"api-key": KEY},
    {"x-goog-api-key": KEY},
]


@pytest.mark.parametrize("headers", BROUGHT)
async def test_a_key_is_taken_wherever_clients_put_it(headers: dict[str, str]) -> None:
    """In each of the places that official SDKs use; from anywhere, not the same machine alone."""
    made = gateway(keys=KEYS)
    with Upstream("anthropic").standing():
        asked = _with(asking("openai-chat", MODELS["anthropic"], headers=headers), peer="203.0.113.9")
        assert (await made(asked)).status == 200
        assert made.guard.name_of(asked) == "team"


async def test_a_key_in_the_query_is_googles_and_goes_no_further() -> None:
    """Google's clients may send it there; the upstream is asked with its own key, and without that query."""
    made = gateway(keys=KEYS)
    asked = asking("google", "anthropic/m")
    asked = _with(asked, query=f"key={KEY}", peer="203.0.113.9")
    with Upstream("anthropic").standing() as upstream:
        assert (await made(asked)).status == 200
    assert KEY not in repr(upstream.requests[-1].headers) + upstream.requests[-1].url


@pytest.mark.parametrize("given", [{}, {"x-api-key": "wrong"}, {"authorization": KEY}, {"authorization": "Bearer "}])
@every_client
async def test_without_the_key_nothing_is_answered(dialect: str, given: dict[str, str]) -> None:
    """401 in the client's own dialect, and no provider is asked."""
    made = gateway(keys=KEYS)
    with Upstream("anthropic").standing() as upstream:
        reply = await made(asking(dialect, MODELS["anthropic"], headers=given))
    assert reply.status == (403 if dialect == "bedrock" else 401)
    assert isinstance(await _error_of(dialect, reply), il.AuthenticationError)
    assert upstream.requests == []


async def test_a_key_may_be_bound_to_models() -> None:
    """What it may not ask for is a 403 that names the model."""
    made = gateway(keys=KEYS, aliases={"smart": "anthropic/m"})
    headers = {"x-api-key": KEY}
    with Upstream("anthropic").standing():
        assert (await made(asking("openai-chat", "smart", headers=headers))).status == 200
        assert (await made(asking("openai-chat", "anthropic/other", headers=headers))).status == 200
        refused = await made(asking("openai-chat", "openai/gpt-4.1", headers=headers))
    assert refused.status == 403
    assert b"openai/gpt-4.1" in await body_of(refused)


@pytest.mark.parametrize("chain", ["smart,openai/gpt-4.1", "anthropic/m , openai/gpt-4.1", "openai/gpt-4.1,smart"])
async def test_a_key_that_is_bound_may_not_hide_a_model_in_a_chain(chain: str) -> None:
    """Every element of what is named has to be allowed."""
    made = gateway(keys=KEYS, aliases={"smart": "anthropic/m"})
    with Upstream("anthropic").standing() as upstream:
        reply = await made(asking("openai-chat", chain, headers={"x-api-key": KEY}))
    assert reply.status == 403
    assert upstream.requests == []


async def test_the_name_of_a_model_is_bounded() -> None:
    """At the bound it is looked up, beyond it refused: what is remembered of names has a size."""
    made = gateway(aliases={"*": "anthropic/m"})
    with Upstream("anthropic").standing():
        assert (await made(asking("openai-chat", "x" * MAX_MODEL_CHARACTERS))).status == 200
        assert (await made(asking("openai-chat", "x" * (MAX_MODEL_CHARACTERS + 1)))).status == 400


@pytest.mark.parametrize(
    ("peer", "status"), [("127.0.0.1", 200), ("::1", 200), ("::ffff:127.0.0.1", 200), ("", 200), ("10.0.0.7", 403)]
)
async def test_without_keys_only_the_same_machine_is_served(peer: str, status: int) -> None:
    """A gateway without keys is nobody else's."""
    with Upstream("anthropic").standing():
        reply = await gateway()(_with(asking("openai-chat", MODELS["anthropic"]), peer=peer))
    assert reply.status == status


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:8787", None, 200),
        ("127.0.0.1:8787", None, 200),
        ("[::1]:8787", None, 200),
        ("evil.example", None, 403),
        ("evil.example:8787", None, 403),
        ("gateway.internal", None, 200),
        ("localhost:8787", "http://localhost:8787", 200),
        ("localhost:8787", "https://evil.example", 403),
        ("localhost:8787", "null", 403),
        ("localhost:8787", "https://app.internal", 200),
    ],
)
async def test_pages_of_other_sites_may_not_ask(host: str, origin: str | None, status: int) -> None:
    """A name that points at this machine, and a foreign page, are refused where no key could hold them off."""
    made = gateway(hosts=("gateway.internal",), origins=("https://app.internal",))
    headers = (("host", host), ("content-type", "application/json"))
    headers = headers if origin is None else (*headers, ("origin", origin))
    with Upstream("anthropic").standing():
        reply = await made(_with(asking("openai-chat", MODELS["anthropic"]), headers=headers))
    assert reply.status == status
    assert header_of(reply, "access-control-allow-origin") is None


@pytest.mark.parametrize(
    ("site", "origin", "status"),
    [
        ("cross-site", None, 403),
        ("same-site", None, 403),
        ("Cross-Site", None, 403),
        ("same-origin", None, 200),
        ("none", None, 200),
        (None, None, 200),
        ("cross-site", "https://app.internal", 200),
        ("cross-site", "https://evil.example", 403),
    ],
)
@pytest.mark.parametrize("path", ["/v1/models", "/console/targets", "/openapi.json", "/metrics", "/health/targets"])
async def test_what_a_page_elsewhere_loads_is_refused(
    path: str, site: str | None, origin: str | None, status: int
) -> None:
    """A picture or a script of another site has no `Origin`; a browser says by another header where it comes from."""
    told = {"host": "localhost", "sec-fetch-site": site, "origin": origin}
    headers = tuple([(name, text) for name, text in told.items() if text is not None])
    made = gateway(origins=("https://app.internal",), observing=Observing(metrics="keys"))
    reply = await made(GatewayRequest(method="GET", path=path, headers=headers, peer="127.0.0.1"))
    assert reply.status == status


async def test_what_tells_nothing_can_be_linked_to() -> None:
    """The empty page of the console and signs of life are open, from wherever; with keys so is the rest."""
    headers = (("host", "localhost"), ("accept", "text/html"), ("sec-fetch-site", "cross-site"))
    for path in ("/", "/console/console.css", "/health/live"):
        reply = await gateway()(GatewayRequest(method="GET", path=path, headers=headers, peer="127.0.0.1"))
        assert reply.status == 200
    made = gateway(keys=(GatewayKey(name="a", hash=hash_key("a-key")),))
    keyed = GatewayRequest(method="GET", path="/v1/models", headers=(*headers, ("x-api-key", "a-key")))
    assert (await made(keyed)).status == 200


async def test_behind_an_application_whoever_it_lets_through_is_served() -> None:
    """`is_open` leaves the question to the application around it."""
    with Upstream("anthropic").standing():
        asked = _with(
            asking("openai-chat", MODELS["anthropic"]), peer="203.0.113.9", headers=(("host", "app.example"),)
        )
        assert (await gateway(is_open=True)(asked)).status == 200


@every_client
async def test_sec_01_no_address_of_a_callers_is_honoured(dialect: str) -> None:
    """The provider's key goes to the provider's configured host, whatever a body or a header names."""
    members: dict[str, Any] = {"api_base": "https://attacker.example", "base_url": "https://attacker.example"}
    members = {} if dialect == "unified" else members  # which refuses what it does not know
    with Upstream("anthropic").standing() as upstream:
        await gateway()(asking(dialect, MODELS["anthropic"], headers={"x-api-base": "https://a.example"}, **members))
    assert [request.url.partition("/v1")[0] for request in upstream.requests] == ["https://api.anthropic.com"]


# Routes


def test_routes_are_found_by_method_and_path() -> None:
    """Exact paths and patterns; a model's name may hold slashes."""
    generating = find_route("POST", "/v1beta/models/openai/gpt-5.6:generateContent")
    assert generating is not None
    assert generating.pattern == "/v1beta/models/{model:path}:generateContent"
    assert find_route("POST", "/v1/messages") is not None
    assert find_route("GET", "/v1/messages") is None
    assert methods_of("/v1/chat/completions") == ("POST",)
    assert find_route("POST", "/v1beta/models") is None


@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
async def test_health_is_answered_without_a_key(path: str) -> None:
    """An orchestrator has none."""
    reply = await gateway(keys=KEYS)(GatewayRequest(method="GET", path=path, peer="10.0.0.1"))
    assert (reply.status, reply.body) == (200, b'{"status":"ok"}')


async def test_targets_are_told_with_a_key_alone() -> None:
    """Which providers there are is nobody else's business."""
    made = gateway(keys=KEYS, aliases={"smart": "hub/m"})
    asked = GatewayRequest(method="GET", path="/health/targets", peer="10.0.0.1")
    assert (await made(asked)).status == 401
    body: Any = decode_any(await body_of(await made(_with(asked, headers=(("x-api-key", KEY),)))))
    assert body["aliases"] == {"smart": "hub/m"}
    assert "hub" in body["providers"]
