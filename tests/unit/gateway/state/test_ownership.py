"""Whose is what a provider keeps: which ids are signed and opened, by dialect and place, and which are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.http import Headers, HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.support.gateway import gateway

KEYS = tuple(GatewayKey(name=name, hash=hash_key(name)) for name in ("alice", "bob"))
ENVIRONMENT = {"OPENAI_API_KEY": "sk-openai", "ANTHROPIC_API_KEY": "sk-ant", "GEMINI_API_KEY": "g-key"}
ANTHROPIC: Headers = (("anthropic-version", "2023-06-01"),)
SSE: Headers = (("content-type", "text/event-stream"),)


class Provider(Script):
    """Answers with one JSON value, or with bytes."""

    def __init__(self, told: Any, headers: Headers = (("content-type", "application/json"),)) -> None:
        super().__init__()
        pieces = (told if isinstance(told, bytes) else encode(told, nulls=9),)
        self.line = Line(pieces=pieces, headers=headers)

    def answer(self, request: HttpRequest) -> Line:
        """The one answer."""
        self.requests.append(request)
        return self.line

    def sent(self) -> Any:
        """The JSON of the last request."""
        return decode_any(self.requests[-1].body)


@pytest.fixture
def made() -> Gateway:
    """A gateway with two keys of two owners, that signs with a fixed secret."""
    made = gateway(ENVIRONMENT, keys=KEYS, providers=("openai", "anthropic", "google"))
    made.ids.use("a secret of at least 32 characters")
    return made


def ask(
    made: Gateway,
    provider: Provider,
    path: str,
    body: Any = None,
    *,
    key: str = "alice",
    method: str = "POST",
    headers: Headers = (),
    query: str = "",
) -> GatewayReply:
    """The reply to a request, its body whole."""
    given = body if isinstance(body, bytes) else b"" if body is None else encode(body, nulls=9)
    told = (("content-type", "application/json"), ("authorization", f"Bearer {key}"), *headers)
    request = GatewayRequest(method=method, path=path, body=given, headers=told, query=query, peer="127.0.0.1")

    async def whole() -> GatewayReply:
        reply = await made(request)
        pieces = reply.body if isinstance(reply.body, bytes) else b"".join([piece async for piece in reply.body])
        return GatewayReply(status=reply.status, headers=reply.headers, body=pieces)

    blocking, awaited = ReplayTransport(script=provider), AsyncReplayTransport(script=provider)
    with overriding(Override(lambda _: blocking, lambda _: awaited)):
        return asyncio.run(whole())


def told(reply: GatewayReply, status: int = 200) -> Any:
    """The JSON of a reply with that status."""
    assert isinstance(reply.body, bytes)
    assert reply.status == status, reply.body
    return decode_any(reply.body)


def signed(made: Gateway, own: str, *, provider: str, key: str = "alice") -> str:
    """An id as the gateway gives it out."""
    return made.ids.signer.sign(f"key {key}", provider, own)


# Messages

MESSAGE: dict[str, Any] = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
    "container": {"id": "container_011CPR5CNjB747bTd36fQLFk", "expires_at": "2027-01-01T00:00:00Z"},
    "content": [
        {"type": "server_tool_use", "id": "srvtoolu_01", "name": "code_execution", "input": {"file_id": "x"}},
        {
            "type": "code_execution_tool_result",
            "tool_use_id": "srvtoolu_01",
            "content": {
                "type": "code_execution_result",
                "stdout": "",
                "stderr": "",
                "return_code": 0,
                "content": [{"type": "code_execution_output", "file_id": "file_011CNha8iCJcU1wXNR6q4V8w"}],
            },
        },
        {"type": "text", "text": "Here."},
    ],
}


def test_containers_and_files_of_messages_are_signed_and_go_home(made: Gateway) -> None:
    """Arguments of tools stay as they are; a client that echoes the turn sends the provider's ids home."""
    provider = Provider(MESSAGE)
    asked: dict[str, Any] = {
        "model": "anthropic/claude-opus-5",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    first = told(ask(made, provider, "/v1/messages", asked, headers=ANTHROPIC))
    container = signed(made, "container_011CPR5CNjB747bTd36fQLFk", provider="anthropic")
    assert first["container"]["id"] == container
    assert first["content"][0]["input"] == {"file_id": "x"}
    own_file = "file_011CNha8iCJcU1wXNR6q4V8w"
    given = first["content"][1]["content"]["content"][0]["file_id"]
    assert given == signed(made, own_file, provider="anthropic")
    document = {"type": "document", "source": {"type": "file", "file_id": given}}
    again = {
        **asked,
        "container": container,
        "messages": [
            *asked["messages"],
            {"role": "assistant", "content": first["content"]},
            {"role": "user", "content": [document]},
        ],
    }
    told(ask(made, provider, "/v1/messages", again, headers=(*ANTHROPIC, ("anthropic-beta", "files"))))
    sent = provider.sent()
    assert sent["container"] == "container_011CPR5CNjB747bTd36fQLFk"
    assert sent["messages"][1]["content"] == MESSAGE["content"]
    assert sent["messages"][2]["content"][0]["source"]["file_id"] == own_file
    refused = told(ask(made, provider, "/v1/messages", again, key="bob", headers=ANTHROPIC), 400)
    assert "nothing is kept for this key under an id file_" in refused["error"]["message"]
    skill: dict[str, Any] = {**asked, "container": {"skills": [{"type": "anthropic", "skill_id": "pptx"}]}}
    assert ask(made, provider, "/v1/messages", skill, headers=ANTHROPIC).status == 200
    skill["container"]["skills"][0]["skill_id"] = "skill_01AbCd"
    assert ask(made, provider, "/v1/messages", skill, headers=ANTHROPIC).status == 400


def test_batches_of_messages_are_their_owners(made: Gateway) -> None:
    """In the path, and for what a batch's requests name."""
    batch: dict[str, Any] = {"id": "msgbatch_01HkcTjaV5uDC8jWR4ZsDV8d", "type": "message_batch", "results_url": None}
    provider = Provider(batch)
    params: dict[str, Any] = {
        "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1"}]}]
    }
    body = {"requests": [{"custom_id": "a", "params": params}]}
    given = told(ask(made, provider, "/v1/messages/batches", body, headers=ANTHROPIC))["id"]
    assert given == signed(made, batch["id"], provider="anthropic")
    path = f"/v1/messages/batches/{given}"
    assert told(ask(made, provider, path, method="GET", headers=ANTHROPIC))["id"] == given
    assert provider.requests[-1].url == f"https://api.anthropic.com/v1/messages/batches/{batch['id']}"
    assert told(ask(made, provider, path, method="GET", key="bob", headers=ANTHROPIC), 404)["type"] == "error"
    assert ask(made, provider, "/v1/messages/batches", method="GET", headers=ANTHROPIC).status == 403
    document = {"type": "document", "source": {"type": "file", "file_id": "file_011CNha8iCJcU1wXNR6q4V8w"}}
    params["messages"][0]["content"] = [document]
    assert ask(made, provider, "/v1/messages/batches", body, headers=ANTHROPIC).status == 400


# Gemini

URI = "https://generativelanguage.googleapis.com/v1beta/files/abc123def456"


def test_files_and_caches_of_google_are_signed_in_their_names(made: Gateway) -> None:
    """As a resource name, and at the end of a URI; in lower case, as its SDK wants them."""
    headers = (("x-goog-api-key", "alice"),)
    file = {"file": {"name": "files/abc123def456", "uri": URI, "displayName": "files/of mine"}}
    uploaded = told(ask(made, Provider(file), "/upload/v1beta/files", {"file": {}}, headers=headers))["file"]
    name = signed(made, "files/abc123def456", provider="google")
    assert uploaded["name"] == name
    assert name.removeprefix("files/").islower()
    assert uploaded["uri"] == URI.replace("files/abc123def456", name)
    provider = Provider(file["file"])
    assert told(ask(made, provider, f"/v1beta/{name}", method="GET", headers=headers))["name"] == name
    assert provider.requests[-1].url == URI
    part = {"fileData": {"mimeType": "text/plain", "fileUri": uploaded["uri"]}}
    body: dict[str, Any] = {"model": "google/gemini-2.5-pro", "contents": [{"role": "user", "parts": [part]}]}
    cached = told(ask(made, Provider({"name": "cachedContents/xyz789"}), "/v1beta/cachedContents", body))
    assert cached["name"] == signed(made, "cachedContents/xyz789", provider="google")
    provider = Provider({"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]})
    body = {"contents": body["contents"], "cachedContent": cached["name"]}
    path = "/v1beta/models/google/gemini-2.5-pro:generateContent"
    assert ask(made, provider, path, body).status == 200
    assert provider.sent()["cachedContent"] == "cachedContents/xyz789"
    assert provider.sent()["contents"][0]["parts"][0]["fileData"]["fileUri"] == URI
    assert ask(made, provider, path, body, key="bob").status == 400
    assert ask(made, provider, "/v1beta/files", method="GET", headers=headers).status == 403


@pytest.mark.parametrize(
    ("uri", "status"),
    [
        (URI, 400),
        ("files/abc123def456", 400),
        ("https://GenerativeLanguage.googleapis.com/v1beta/files/abc123def456", 400),
        ("https://generativelanguage.googleapis.com:443/v1beta/../v1beta/files/abc123def456", 400),
        ("https://x@generativelanguage.googleapis.com/v1beta/files/abc123def456", 400),
        ("//generativelanguage.googleapis.com/v1beta/files/abc123def456", 400),
        (" https://generativelanguage.googleapis.com/v1beta/files/abc123def456", 400),
        ("https://generativelanguage.googleapis.com./v1beta/files%2Fabc123def456", 400),
        ("gs://bucket/of/the/account", 400),
        ("https://www.youtube.com/watch?v=9hE5-98ZeCg", 200),
        ("https://example.com/files/abc", 200),
    ],
)
def test_own_01_an_address_that_google_resolves_needs_a_signed_id(made: Gateway, uri: str, status: int) -> None:
    """However it is spelled; what is public may be named."""
    provider = Provider({"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]})
    for name in ("fileUri", "file_uri"):
        body = {"contents": [{"role": "user", "parts": [{"fileData": {"mimeType": "video/mp4", name: uri}}]}]}
        assert ask(made, provider, "/v1beta/models/google/gemini-2.5-pro:generateContent", body).status == status


@pytest.mark.parametrize("path", ["/model/{model}/converse", "/unified/v1/generate"])
def test_own_01_a_location_in_s3_is_not_read_with_the_accounts_rights(made: Gateway, path: str) -> None:
    """A client names no bucket of whoever runs the gateway, in Converse and in our own format."""
    provider = Provider({})
    raw = {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket-of-the-account/a.png"}}}}
    if "converse" in path:
        body: dict[str, Any] = {"messages": [{"role": "user", "content": [raw, {"text": "Hi"}]}]}
    else:
        opaque = {"type": "opaque", "dialect": "bedrock", "kind": "media_ref", "raw": raw}
        body = {"model": "openai-chat/gpt-4.1", "messages": [{"role": "user", "parts": [opaque]}]}
    reply = ask(made, provider, path.format(model="openai-chat%2Fgpt-4.1"), body)
    assert reply.status == 400
    assert isinstance(reply.body, bytes)
    assert b"/s3Location/uri" in reply.body
    assert not provider.requests


# Chat and our own format


def test_own_01_an_id_in_any_dialect_is_refused(made: Gateway) -> None:
    """Files and audio of Chat, and what our own format carries for another dialect."""
    provider = Provider({})
    user: dict[str, Any] = {
        "role": "user",
        "content": [{"type": "file", "file": {"file_id": "file-6F2ksmvXxt4VdoqmH"}}],
    }
    audio = {"role": "assistant", "audio": {"id": "audio_abc123"}}
    for messages in ([user], [{"role": "user", "content": "Hi"}, audio]):
        body = {"model": "openai-chat/gpt-4.1", "messages": messages}
        assert ask(made, provider, "/v1/chat/completions", body).status == 400
    said = [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]
    extra = {"openai-responses": {"previous_response_id": "resp_68af"}}
    prompt = {"openai-responses": {"prompt": {"id": "pmpt_1"}}}
    raws = ({"source": {"file_id": "file_01"}}, {"type": "item_reference", "id": "msg_1"})
    opaques = [{"type": "opaque", "dialect": "openai-responses", "kind": "media_ref", "raw": raw} for raw in raws]
    for members in (
        {"messages": said, "extra": extra},
        {"messages": said, "extra": prompt},
        *[{"messages": [{"role": "user", "parts": [opaque]}]} for opaque in opaques],
    ):
        body = {"model": "openai/gpt-5.6", **members}
        assert ask(made, provider, "/unified/v1/generate", body).status == 400
    assert provider.requests == []


def test_an_id_leads_to_the_provider_that_keeps_what_it_names(made: Gateway) -> None:
    """Of a chain the others are not asked; a model that does not lead there is refused, by the name of the provider."""
    provider = Provider({"id": "chatcmpl-1", "choices": [{"message": {"role": "assistant", "content": "Hi"}}]})
    file = signed(made, "file-6F2ksmvXxt4VdoqmH", provider="openai")
    content = [{"type": "file", "file": {"file_id": file}}]
    body = {"model": "groq/llama,openai-chat/gpt-4.1", "messages": [{"role": "user", "content": content}]}
    assert ask(made, provider, "/v1/chat/completions", body).status == 200
    assert provider.requests[-1].url == "https://api.openai.com/v1/chat/completions"
    assert provider.sent()["messages"][0]["content"][0]["file"]["file_id"] == "file-6F2ksmvXxt4VdoqmH"
    refused = told(ask(made, provider, "/v1/chat/completions", {**body, "model": "groq/llama"}), 400)
    assert refused["error"]["message"] == (
        "the request names by its id what openai keeps, and its model does not lead there"
    )


# Responses

RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "gpt-5.6",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}],
}


def test_an_item_that_says_everything_loses_an_id_that_nobody_can_prove(made: Gateway) -> None:
    """With an entry, or refused where nothing may be dropped; what is looked up by its id is refused in any case."""
    provider = Provider(RESPONSE)
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "id": "msg_1", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get", "arguments": "{}"},
        {"type": "function_call_output", "id": "fco_1", "call_id": "call_1", "output": "4"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"},
    ]
    body = {"model": "openai/gpt-5.6", "input": items}
    reply = ask(made, provider, "/v1/responses", body)
    assert reply.status == 200
    without = [{name: value for name, value in item.items() if name != "id"} for item in items]
    assert provider.sent() == {"model": "gpt-5.6", "input": without}
    entries = [f"dropped id_foreign /input/{number}/id" for number in range(4)]
    assert dict(reply.headers)["x-interlingua-changes"] == ", ".join(entries)
    assert ask(made, provider, "/v1/responses", body, headers=(("x-interlingua-strict", "1"),)).status == 400
    others: tuple[dict[str, Any], ...] = (
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "image_generation_call", "id": "ig_1", "status": "completed"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "item_reference", "id": "msg_1"},
        {"id": "msg_1"},
    )
    for item in others:
        told(ask(made, provider, "/v1/responses", {**body, "input": [item, *items]}), 400)


def test_files_of_containers_are_their_owners(made: Gateway) -> None:
    """Two ids in one path, each for its own."""
    provider = Provider({"id": "cfile_68af", "object": "container.file", "container_id": "cntr_68af"})
    container, file = [signed(made, own, provider="openai") for own in ("cntr_68af", "cfile_68af")]
    path = f"/v1/containers/{container}/files/{file}"
    assert told(ask(made, provider, path, method="GET")) == {
        "id": file,
        "object": "container.file",
        "container_id": container,
    }
    assert provider.requests[-1].url == "https://api.openai.com/v1/containers/cntr_68af/files/cfile_68af"
    for wrong in (f"/v1/containers/{container}/files/cfile_68af", f"/v1/containers/cntr_68af/files/{file}"):
        assert ask(made, provider, wrong, method="GET").status == 404
    assert ask(made, provider, path, method="GET", key="bob").status == 404
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b'name="file_id"', 400),
        (b"name=File_Id", 400),
        (b"name*=utf-8''file_id", 400),
        (b'filename="a"; name = "file_id"', 400),
        (b'name="file"; filename="file_id"', 200),
    ],
)
def test_own_01_a_form_takes_no_id(made: Gateway, head: bytes, status: int) -> None:
    """Forms are passed on as they came, so that a field that may be an id is refused; a file may hold anything."""
    provider = Provider({"id": "cfile_68af"})
    container = signed(made, "cntr_68af", provider="openai")
    body = b"--x\r\nContent-Disposition: form-data; %b\r\n\r\nname=file_id\r\n--x--\r\n" % head
    headers = (("content-type", "multipart/form-data; boundary=x"), ("authorization", "Bearer alice"))
    request = GatewayRequest(
        path=f"/v1/containers/{container}/files", headers=headers, body=body, peer="127.0.0.1", method="POST"
    )
    blocking, awaited = ReplayTransport(script=provider), AsyncReplayTransport(script=provider)
    with overriding(Override(lambda _: blocking, lambda _: awaited)):
        assert asyncio.run(made(request)).status == status


def test_data_of_a_client_is_no_id(made: Gateway) -> None:
    """Arguments, schemas, metadata, variables of a prompt and a mere mention stay as they are."""
    provider = Provider(RESPONSE)
    schema = {"type": "object", "properties": {"file_id": {"type": "string", "default": "file-1"}}}
    body: dict[str, Any] = {
        "model": "openai/gpt-5.6",
        "input": 'say "file_id": "file-1"',
        "metadata": {"id": "1", "file_id": "file-1", "conversation": "conv_1"},
        "tools": [{"type": "function", "name": "get", "parameters": schema}],
        "text": {"format": {"type": "json_schema", "name": "x", "schema": schema}},
        "prompt": {"variables": {"id": "4711", "file_id": "mine"}},
    }
    assert ask(made, provider, "/v1/responses", body).status == 200
    assert provider.sent() == {**body, "model": "gpt-5.6"}
    body["prompt"]["variables"]["doc"] = {"type": "input_file", "file_id": "file-1"}
    refused = told(ask(made, provider, "/v1/responses", body), 400)
    assert refused["error"]["param"] == "prompt.variables.doc.file_id"


def test_own_01_parameters_of_a_tool_that_a_provider_runs_are_no_data(made: Gateway) -> None:
    """Settings of such a tool name what is kept as its own members do; those of a function are a schema."""
    provider = Provider(RESPONSE)
    tool: dict[str, Any] = {"type": "openrouter:file_search", "parameters": {"vector_store_ids": ["vs_of_bob"]}}
    body: dict[str, Any] = {"model": "openai/gpt-5.6", "input": "Hi", "tools": [tool]}
    refused = told(ask(made, provider, "/v1/responses", body), 400)
    assert refused["error"]["param"] == "tools[0].parameters.vector_store_ids"
    tool["parameters"]["vector_store_ids"] = [signed(made, "vs_1", provider="openai")]
    assert ask(made, provider, "/v1/responses", body).status == 200
    assert provider.sent()["tools"][0]["parameters"] == {"vector_store_ids": ["vs_1"]}


def test_the_rest_of_a_body_stays_as_it_came(made: Gateway) -> None:
    """Spaces, numbers and escapes: only the text of members with an id is another one."""
    provider = Provider(RESPONSE)
    given = signed(made, "resp_68af", provider="openai").encode()
    body = b'{"model": "openai/gpt-5.6",  "temperature": 1.50, "previous_response_id" : "%b", "input": "\\u00e9" }'
    assert ask(made, provider, "/v1/responses", body % given).status == 200
    assert provider.requests[-1].body == body.replace(b"openai/", b"") % b"resp_68af"


def test_an_error_of_a_provider_names_the_id_that_its_client_knows(made: Gateway) -> None:
    """The provider's own id stays here."""
    provider = Provider(b"")
    error = b'{"error":{"message":"Previous response with id \'resp_68af\' not found.","type":"invalid_request_error"}}'
    provider.line = Line(pieces=(error,), status=400, headers=(("content-type", "application/json"),))
    given = signed(made, "resp_68af", provider="openai")
    body = {"model": "openai/gpt-5.6", "input": "Hi", "previous_response_id": given}
    for reply in (
        ask(made, provider, "/v1/responses", body),
        ask(made, provider, f"/v1/responses/{given}", method="GET"),
    ):
        assert isinstance(reply.body, bytes)
        assert reply.status == 400
        assert given.encode() in reply.body
        assert b"resp_68af" not in reply.body


def test_an_explanation_shows_the_ids_that_its_client_knows(made: Gateway) -> None:
    """The provider's own id stays here, too, where nothing is sent."""
    given = signed(made, "resp_68af", provider="openai")
    body = {"model": "openai/gpt-5.6", "input": "Hi", "previous_response_id": given}
    plan = told(ask(made, Provider({}), "/explain/v1/responses", body))
    assert plan["http"]["body"]["previous_response_id"] == given
    assert told(ask(made, Provider({}), "/explain/v1/responses", body, key="bob"), 400)["error"]


def test_own_01_a_thousand_forged_ids_reach_no_provider(made: Gateway) -> None:
    """Ids of the provider, of another owner and changed ones, in a body and in a path."""
    provider = Provider(RESPONSE)
    forged: list[str] = []
    for number in range(334):
        own = f"resp_{number:050x}"
        given = signed(made, own, provider="openai")
        place = 5 + number % (len(given) - 5)
        symbol = "b" if given[place] == "a" else "a"
        forged += [own, signed(made, own, provider="openai", key="bob"), given[:place] + symbol + given[place + 1 :]]
    assert len(set(forged)) > 1_000
    headers = (("authorization", "Bearer alice"), ("content-type", "application/json"))

    async def statuses() -> set[int]:
        found: set[int] = set()
        for one in forged:
            body = encode({"model": "openai/gpt-5.6", "input": "Hi", "previous_response_id": one})
            asked = GatewayRequest(path="/v1/responses", headers=headers, body=body, peer="127.0.0.1")
            read = GatewayRequest(method="GET", path=f"/v1/responses/{one}", headers=headers, peer="127.0.0.1")
            found |= {(await made(asked)).status, (await made(read)).status}
        return found

    blocking, awaited = ReplayTransport(script=provider), AsyncReplayTransport(script=provider)
    with overriding(Override(lambda _: blocking, lambda _: awaited)):
        assert asyncio.run(statuses()) == {400, 404}
    assert provider.requests == []


def test_a_stream_that_breaks_off_still_has_signed_ids(made: Gateway) -> None:
    """Every frame that goes out was signed, before the error that ends it."""
    frames = (
        b'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_68af",'
        b'"object":"response","status":"in_progress","model":"gpt-5.6","output":[]}}\n\n'
        b'event: response.output_item.added\ndata: {"type":"response.output_item.added","sequence_number":1,'
        b'"output_index":0,"item":{"id":"msg_68af","type":"message","role":"assistant","content":[]}}\n\n'
        b'event: response.content_part.added\ndata: {"type":"response.content_part.added","sequence_number":2,'
        b'"item_id":"msg_68af","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}\n\n'
        b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":3,'
        b'"item_id":"msg_68af","output_index":0,"content_index":0,"delta":"Hi"}\n\n'
    )
    body = {"model": "openai/gpt-5.6", "input": "Hi", "stream": True}
    reply = ask(made, Provider(frames, SSE), "/v1/responses", body)
    assert isinstance(reply.body, bytes)
    assert reply.body.count(signed(made, "msg_68af", provider="openai").encode()) >= 3
    assert reply.body.count(signed(made, "resp_68af", provider="openai").encode()) >= 1
    assert b"_68af" not in reply.body


def test_an_id_that_a_provider_echoes_is_not_signed_once_more(made: Gateway) -> None:
    """It was signed for alice: she gets it as it is, and whoever else gets it signed for himself."""
    own = signed(made, "msg_68af", provider="openai")
    answer = {
        "id": "resp_68af",
        "object": "response",
        "status": "completed",
        "model": "gpt-5.6",
        "output": [{"id": own}],
    }
    for key, is_same in (("alice", True), ("bob", False)):
        reply = ask(
            made, Provider(answer), "/v1/responses/compact", {"model": "openai/gpt-5.6", "input": "Hi"}, key=key
        )
        assert isinstance(reply.body, bytes)
        assert (f'"{own}"'.encode() in reply.body) is is_same


def test_an_owner_is_a_team_or_a_key() -> None:
    """Keys that were revoked count: what was theirs is nobody's."""

    def made(*keys: GatewayKey) -> Gateway:
        return gateway(ENVIRONMENT, keys=keys)

    one, two = GatewayKey(name="a", hash=hash_key("a")), GatewayKey(name="b", hash=hash_key("b"))
    red = [GatewayKey(name=name, hash=hash_key(name), team="red") for name in ("a", "b")]
    revoked = GatewayKey(name="b", hash=hash_key("b"), revoked_s=1.0)
    again = GatewayKey(name="a", hash=hash_key("a-2"), revoked_s=1.0)
    assert [made(*keys).ids.has_several for keys in ((one,), (one, two), red, (one, revoked), (one, again))] == [
        False, True, False, True, False,
    ]  # fmt: skip
    assert not gateway(ENVIRONMENT).ids.is_on
