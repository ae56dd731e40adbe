"""Requests that only a provider can answer: to whom they go, what goes along, what comes back."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.hooks import HookSettings
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.policy import PolicySettings
from interlingua.gateway.settings import GatewayKey
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.body import Body
from interlingua.wire.http import Headers, HttpRequest
from interlingua.wire.json import decode_any
from tests.support.cells import cells
from tests.support.gateway import gateway

JSON: Headers = (("content-type", "application/json"),)
GOOGLE: Headers = (("x-goog-api-key", "k"),)
ENVIRONMENT = {"OPENAI_API_KEY": "sk-openai", "ANTHROPIC_API_KEY": "sk-ant", "GEMINI_API_KEY": "g-key"}
PROVIDERS = ("anthropic", "openai", "google")


class Provider(Script):
    """Answers everything with the same bytes, and remembers what it was asked."""

    def __init__(self, *pieces: bytes, status: int = 200, headers: Headers = JSON) -> None:
        super().__init__()
        self.line = Line(pieces=pieces or (b"{}",), status=status, headers=headers)

    def answer(self, request: HttpRequest) -> Line:
        """The one answer."""
        self.requests.append(request)
        return self.line


def _made(**settings: Any) -> Gateway:
    return gateway(ENVIRONMENT, {"embedder": "anthropic/claude-opus-5,openai/text-embedding-3-small"}, **settings)


def _pass(
    provider: Provider,
    path: str,
    body: bytes = b"",
    headers: Headers = JSON,
    *,
    method: str = "POST",
    query: str = "",
    made: Gateway | None = None,
) -> GatewayReply:
    request = GatewayRequest(method=method, path=path, body=body, headers=headers, query=query, peer="127.0.0.1")

    async def whole() -> GatewayReply:
        reply = await (made or _made(providers=PROVIDERS))(request)
        if isinstance(reply.body, bytes):
            return reply
        return GatewayReply(
            status=reply.status, headers=reply.headers, body=b"".join([piece async for piece in reply.body])
        )

    blocking, awaited = ReplayTransport(script=provider), AsyncReplayTransport(script=provider)
    with overriding(Override(lambda _: blocking, lambda _: awaited)):
        return asyncio.run(whole())


def _header(reply: GatewayReply | HttpRequest, name: str) -> str | None:
    return dict(reply.headers).get(name)


def test_a_model_in_the_body_says_where_it_goes() -> None:
    """The alias leads to the first target whose provider answers such requests; only its name changes in the bytes."""
    provider = Provider(b'{"object": ', b'"list"}')
    headers = (*JSON, ("authorization", "Bearer client-key"), ("cookie", "a=b"), ("x-secret", "1"))
    reply = _pass(provider, "/v1/completions", b'{"input": "a \\u00e9",  "model": "embedder", "x": 1.50}', headers)
    sent = provider.requests[0]
    assert (sent.method, sent.url) == ("POST", "https://api.openai.com/v1/completions")
    assert sent.body == b'{"input": "a \\u00e9",  "model": "text-embedding-3-small", "x": 1.50}'
    assert _header(sent, "authorization") == "Bearer sk-openai"
    assert not {"cookie", "x-secret"} & dict(sent.headers).keys()
    assert (reply.status, reply.body) == (200, b'{"object": "list"}')
    assert _header(reply, "x-interlingua-target") == "openai/text-embedding-3-small"


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"openai/evil","input":{"model":"m"},"model":"embedder"}',
        b'{"model":"embedder","input":"Hi","mod\\u0065l":"openai/evil"}',
        b'{"model":"embedder","input":"Hi","Model":"openai/evil"}',
    ],
)
def test_a_body_that_names_the_model_twice_is_refused(body: bytes) -> None:
    """Whichever of two names an upstream would take, however it is written."""
    provider = Provider()
    reply = _pass(provider, "/v1/completions", body)
    assert (reply.status, provider.requests) == (400, [])


FORM = (
    b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n'
    b'RIFF\r\nContent-Disposition: form-data; name="model"\r\n\r\nopenai/evil\r\n'
    b'--XX\r\nContent-Disposition: form-data; name="model"\r\n\r\nopenai/whisper-1\r\n--XX--\r\n'
)
FORM_TYPE: Headers = (("content-type", "multipart/form-data; boundary=XX"),)


def test_a_form_says_it_in_a_field() -> None:
    """The field is found as whoever gets the form will find it, not inside of a file; the file is untouched."""
    provider = Provider(b"RIFF", headers=(("content-type", "audio/wav"), ("set-cookie", "a=b")))
    reply = _pass(provider, "/v1/audio/transcriptions", FORM, FORM_TYPE)
    sent = provider.requests[0]
    assert sent.body == FORM.replace(b"\r\nopenai/whisper-1\r\n", b"\r\nwhisper-1\r\n")
    assert _header(sent, "content-type") == "multipart/form-data; boundary=XX"
    assert (_header(reply, "content-type"), _header(reply, "set-cookie")) == ("audio/wav", None)
    again = FORM.replace(b"--XX--", b"--XX\r\ncontent-disposition: form-data; name=model\r\n\r\nopenai/x\r\n--XX--")
    assert _pass(provider, "/v1/audio/transcriptions", again, FORM_TYPE).status == 400
    assert _pass(provider, "/v1/audio/transcriptions", FORM, (("content-type", "multipart/form-data"),)).status == 400


@cells(
    "head",
    [
        b'Content-Disposition: form-data; name="model[]"',
        b'Content-Disposition: form-data; name="model[0]"',
        b"Content-Disposition: form-data; name*=UTF-8''model",
        b"Content-Disposition: form-data; name*=UTF-8''mod%65l",
        b'Content-Disposition: form-data; name*0="mo"; name*1="del"',
        b'Content-Disposition: form-data; name="mod\\el"',
        b'Content-Disposition: form-data; name="MODEL"',
        b'Content-Disposition: form-data; name="models"',
        b'Content-Disposition: form-data; name="engine"',
        b'Content-Disposition: form-data; name="Deployment_Id"',
        b'Content-Disposition: form-data;\r\n name="model"',
        b'Content-Disposition : form-data; name="model"',
        b'Content-Disposition: attachment; name="model"',
    ],
)
@cells("gap", [b"\r\n\r\n", b"\n\n"])
def test_a_further_spelling_of_model_in_a_form_is_refused(head: bytes, gap: bytes) -> None:
    """Readers of forms differ: one would run the model of that part, which nobody has checked."""
    provider = Provider()
    body = FORM.replace(b"--XX--", b"--XX\r\n%b%bopenai/x\r\n--XX--" % (head, gap))
    reply = _pass(provider, "/v1/audio/transcriptions", body, FORM_TYPE)
    assert (reply.status, provider.requests) == (400, [])
    assert isinstance(reply.body, bytes)
    assert b"/model: " in reply.body


def test_another_spelling_of_model_alone_is_refused() -> None:
    """A provider that heeds case would run a model of its own choice, under the name of one that was checked."""
    provider = Provider()
    reply = _pass(provider, "/v1/audio/transcriptions", FORM.replace(b'"model"', b'"MODEL"'), FORM_TYPE)
    assert (reply.status, provider.requests) == (400, [])


def test_other_fields_and_file_names_stay_as_they_are() -> None:
    """An index, a star and an escape say nothing of the model where they stand in other names."""
    provider = Provider()
    disposition = b"Content-Disposition: form-data; name=\"granularities[]\"; filename*=UTF-8''model"
    other = b"--XX\r\n%b\r\n\r\nword\r\n" % disposition
    body = other + FORM
    assert _pass(provider, "/v1/audio/transcriptions", body, FORM_TYPE).status == 200
    assert provider.requests[0].body == body.replace(b"\r\nopenai/whisper-1\r\n", b"\r\nwhisper-1\r\n")


@pytest.mark.parametrize(
    "query", ["model=x", "a=b&MODEL=x", "mod%65l=x", "model%5B%5D=x", "a=b;model[0]=x", "Engine=x", "models=x"]
)
def test_a_model_in_a_query_is_refused_for_a_key_with_a_list(query: str) -> None:
    """It goes on as it came, so that the target could run it."""
    keys = (GatewayKey(name="a", hash=hash_key("a"), models=("embedder",)), GatewayKey(name="b", hash=hash_key("b")))
    made, provider, body = _made(providers=PROVIDERS, keys=keys), Provider(), b'{"model":"embedder"}'
    headers = (*JSON, ("x-api-key", "a"))
    assert _pass(provider, "/v1/completions", body, headers, query=query, made=made).status == 403
    assert _pass(provider, "/v1/completions", body, headers, query="models_shown=1", made=made).status == 200
    assert _pass(provider, "/v1/completions", body, (*JSON, ("x-api-key", "b")), query=query, made=made).status == 200


@pytest.mark.parametrize(
    ("method", "path", "query", "headers", "url"),
    [
        ("GET", "/v1/files", "limit=2", (), "https://api.openai.com/v1/files?limit=2"),
        ("GET", "/v1/files/file-1/content", "", (), "https://api.openai.com/v1/files/file-1/content"),
        ("POST", "/v1/batches/batch_1/cancel", "", JSON, "https://api.openai.com/v1/batches/batch_1/cancel"),
        ("GET", "/v1/files", "", (("anthropic-version", "x"),), "https://api.anthropic.com/v1/files"),
        (
            "GET",
            "/v1/messages/batches/b_1/results",
            "",
            (),
            "https://api.anthropic.com/v1/messages/batches/b_1/results",
        ),
        ("DELETE", "/v1beta/files/f1", "key=k", (), "https://generativelanguage.googleapis.com/v1beta/files/f1"),
        ("POST", "/upload/v1beta/files", "", JSON, "https://generativelanguage.googleapis.com/upload/v1beta/files"),
        ("GET", "/v1beta/cachedContents", "", (), "https://generativelanguage.googleapis.com/v1beta/cachedContents"),
        ("GET", "/v1/cachedContents", "", (), "https://generativelanguage.googleapis.com/v1beta/cachedContents"),
        ("GET", "/v1/files/f1", "", GOOGLE, "https://generativelanguage.googleapis.com/v1beta/files/f1"),
        ("POST", "/upload/v1/files", "", JSON, "https://generativelanguage.googleapis.com/upload/v1beta/files"),
    ],
)
def test_what_names_no_model_goes_to_the_configured_provider(
    method: str, path: str, query: str, headers: Headers, url: str
) -> None:
    """Of each dialect the first that is configured; a key in the query stays here."""
    provider = Provider()
    assert _pass(provider, path, b"{}" if method == "POST" else b"", headers, method=method, query=query).status == 200
    assert (provider.requests[0].method, provider.requests[0].url) == (method, url)


def test_without_a_configured_provider_it_goes_nowhere() -> None:
    """404 in the client's dialect, which says what to configure; nothing is sent."""
    provider = Provider()
    reply = _pass(provider, "/v1/files", method="GET", made=_made())
    assert reply.status == 404
    assert isinstance(reply.body, bytes)
    message = "/v1/files goes to a provider, and none is configured for it; name one in [server] providers"
    assert (decode_any(reply.body)["error"]["message"], decode_any(reply.body)["error"]["code"]) == (
        message,
        "unknown_url",
    )
    told = _pass(provider, "/v1/files", headers=(("anthropic-version", "x"),), method="GET", made=_made())
    assert isinstance(told.body, bytes)
    assert decode_any(told.body)["error"]["type"] == "not_found_error"
    assert provider.requests == []


@pytest.mark.parametrize("body", [b'{"model":"embedder","input":"a"}', b'\n {"model":"embedder","input":"a"}'])
def test_json_under_the_type_of_a_form_is_read_as_json(body: bytes) -> None:
    """`curl -d` sends it under that type: the model says where it goes, and the provider is told that it is JSON."""
    provider = Provider()
    form = (("content-type", "application/x-www-form-urlencoded"),)
    reply = _pass(provider, "/v1/completions", body, form)
    assert (reply.status, _header(reply, "x-interlingua-target")) == (200, "openai/text-embedding-3-small")
    (sent,) = provider.requests
    assert [pair for pair in sent.headers if pair[0] == "content-type"] == [("content-type", "application/json")]
    assert sent.body == body.replace(b"embedder", b"text-embedding-3-small")


def test_a_form_of_fields_stays_one() -> None:
    """What is no JSON object goes where bodies without a model go, under its own type."""
    provider = Provider()
    form = (("content-type", "application/x-www-form-urlencoded"),)
    _pass(provider, "/v1/completions", b"model=embedder&input=a", form, made=_made(providers=PROVIDERS[1:]))
    (sent,) = provider.requests
    assert (_header(sent, "content-type"), sent.body) == (form[0][1], b"model=embedder&input=a")


def test_nothing_is_translated() -> None:
    """A target whose provider does not speak the dialect is named."""
    reply = _pass(Provider(), "/v1/completions", b'{"model": "anthropic/claude-opus-5"}')
    assert reply.status == 404
    assert isinstance(reply.body, bytes)
    assert b"/v1/completions is not translated, and anthropic/claude-opus-5 does not answer it" in reply.body


@pytest.mark.parametrize(
    "path",
    ["/v1/files/../organization", "/v1/files/a%2F..%2Fb", "/v1/organization/users", "/v1/files/a?b", "/v1/fine_tuning"],
)
def test_sec_01_only_what_is_meant_for_clients_is_reached(path: str) -> None:
    """No path leads with the gateway's key to what is not in the table."""
    provider = Provider()
    assert _pass(provider, path, method="GET").status == 404
    assert provider.requests == []


def test_a_key_reaches_what_it_may_use() -> None:
    """The allow-list holds for models, and for the whole provider where no model is named."""
    keys = (GatewayKey(name="a", hash=hash_key("a"), models=("embedder",)),)
    made = _made(providers=PROVIDERS, keys=keys)
    headers = (*JSON, ("x-api-key", "a"))
    provider = Provider()
    assert _pass(provider, "/v1/completions", b'{"model":"embedder"}', headers, made=made).status == 200
    assert _pass(provider, "/v1/completions", b'{"model":"openai/x"}', headers, made=made).status == 403
    assert _pass(provider, "/v1/files", b"", headers, method="GET", made=made).status == 403
    assert len(provider.requests) == 1


def test_a_reload_changes_names_and_what_a_key_may_ask_for_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that waits meanwhile is never let in for one target and sent to the one that its name had before."""
    keys = (GatewayKey(name="a", hash=hash_key("a"), models=("openai/small",)),)
    before, after = [
        HookSettings(policy=PolicySettings(rewrite={"m": f"openai/{name}"})) for name in ("large", "small")
    ]
    made = _made(keys=keys, hooks=before)

    read = made.offload.body_of

    async def reloaded(request: GatewayRequest, dialect: str) -> Body:
        made.set_up(msgspec.structs.replace(made.settings, hooks=after))
        return await read(request, dialect)

    monkeypatch.setattr(made.offload, "body_of", reloaded)
    provider = Provider()
    reply = _pass(provider, "/v1/completions", b'{"model":"m","prompt":"Hi"}', (*JSON, ("x-api-key", "a")), made=made)
    assert (reply.status, provider.requests[0].body[:16]) == (200, b'{"model":"small"')


def test_an_error_of_the_provider_comes_as_it_is() -> None:
    """Status, body and when to come back."""
    body = b'{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}'
    provider = Provider(body, status=429, headers=(*JSON, ("retry-after", "7")))
    reply = _pass(provider, "/v1/completions", b'{"model":"embedder"}')
    assert (reply.status, reply.body, _header(reply, "retry-after")) == (429, body, "7")


def test_sec_05_a_key_that_an_error_repeats_is_cut_out() -> None:
    """Whatever else the provider says of it comes back as it is."""
    provider = Provider(b'{"error":{"message":"Incorrect key: sk-op', b'enai (see ...)"}}', status=401)
    reply = _pass(provider, "/v1/completions", b'{"model":"embedder"}')
    assert (reply.status, reply.body) == (401, b'{"error":{"message":"Incorrect key: *** (see ...)"}}')


@pytest.mark.parametrize("version", ["v1beta", "v1"])
def test_a_prediction_of_google(version: str) -> None:
    """A model in the path is replaced there, and where the body repeats it; the version is that of the provider."""
    provider = Provider()
    made = gateway(ENVIRONMENT, {"pictures": "google/imagen-4"})
    body = b'{"model": "models/pictures", "instances": [{"prompt": "x"}]}'
    _pass(provider, f"/{version}/models/pictures:predict", body, made=made)
    sent = provider.requests[0]
    assert sent.url == "https://generativelanguage.googleapis.com/v1beta/models/imagen-4:predict"
    assert sent.body == b'{"model": "models/imagen-4", "instances": [{"prompt": "x"}]}'
    assert _header(sent, "x-goog-api-key") == "g-key"


def test_a_request_of_google_names_one_model() -> None:
    """A key is checked for the model in the path; another one in the body would be asked behind its back."""
    provider = Provider()
    made = gateway(ENVIRONMENT, {"pictures": "google/imagen-4"})
    body = b'{"mod\\u0065l":"models/private","instances":[]}'
    reply = _pass(provider, "/v1beta/models/pictures:predict", body, made=made)
    assert isinstance(reply.body, bytes)
    assert (reply.status, "/model" in reply.body.decode(), provider.requests) == (400, True, [])
