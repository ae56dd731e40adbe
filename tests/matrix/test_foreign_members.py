"""Members that one dialect alone knows: in every other dialect they are in the body, or in `changes`."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from interlingua import codec
from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.stream.unfold import unfold
from interlingua.wire.http import HttpReply

NOTHING: dict[str, Any] = {}
MARK = "mark-of-a-member"
ODD = {"x_odd": MARK}
PNG = b64encode(b"\x89PNG\r\n\x1a\n").decode()
DIALECTS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "bedrock")
PATHS = {"google": "/v1beta/models/m:generateContent", "ollama": "/api/chat"}
PAIRS = [(one, other) for one in DIALECTS for other in (*DIALECTS, "unified") if one != other]
TOKEN = {
    "token": "x", "logprob": -0.5, "bytes": [120], "top_logprobs": [{"token": "x", "logprob": -0.5, "bytes": [120]}],
}  # fmt: skip
GOOGLE_TOKEN = {"token": "x", "logProbability": -0.5}
HELLO: dict[str, dict[str, Any]] = {
    "openai-chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "openai-responses": {"model": "m", "input": "hi"},
    "anthropic": {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]},
    "google": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "ollama": {"model": "m", "stream": False, "messages": [{"role": "user", "content": "hi"}]},
    "cohere": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "bedrock": {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
    "unified": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
}


# Answers


def _chat(*, top: Any = NOTHING, choice: Any = NOTHING, message: Any = NOTHING) -> dict[str, Any]:
    body = {"role": "assistant", "content": "x", **message}
    return {
        "id": "a", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": body, "finish_reason": "stop", **choice}], **top,
    }  # fmt: skip


def _responses(*, top: Any = NOTHING, item: Any = NOTHING, part: Any = NOTHING) -> dict[str, Any]:
    content: list[Any] = [{"type": "output_text", "text": "x", "annotations": [], **part}]
    message: dict[str, Any] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": content,
        **item,
    }
    return {"id": "a", "object": "response", "status": "completed", "model": "m", "output": [message], **top}


def _anthropic(*, top: Any = NOTHING, block: Any = NOTHING) -> dict[str, Any]:
    return {
        "id": "a", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "x", **block}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1}, **top,
    }  # fmt: skip


def _google(*, top: Any = NOTHING, candidate: Any = NOTHING, part: Any = NOTHING) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": "x", **part}]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0, **candidate}], **top}


def _ollama(*, top: Any = NOTHING, message: Any = NOTHING) -> dict[str, Any]:
    body = {"role": "assistant", "content": "x", **message}
    return {"model": "m", "message": body, "done": True, "done_reason": "stop", **top}


def _cohere(*, top: Any = NOTHING, message: Any = NOTHING, block: Any = NOTHING) -> dict[str, Any]:
    body = {"role": "assistant", "content": [{"type": "text", "text": "x", **block}], **message}
    return {"id": "a", "message": body, "finish_reason": "COMPLETE", **top}


def _bedrock(*, top: Any = NOTHING, message: Any = NOTHING, block: Any = NOTHING) -> dict[str, Any]:
    body = {"role": "assistant", "content": [{"text": "x"}, *([block] if block else [])], **message}
    return {"output": {"message": body}, "stopReason": "end_turn", **top}


COUNTS: dict[str, dict[str, Any]] = {
    "openai-chat": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    "openai-responses": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
    "anthropic": {"input_tokens": 1, "output_tokens": 1},
    "google": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    "cohere": {"tokens": {"input_tokens": 1, "output_tokens": 1}},
    "bedrock": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
}


def _counted(make: Callable[..., dict[str, Any]], name: str, **members: Any) -> dict[str, Any]:
    """An answer with further members beside its counts."""
    return make(top={"usageMetadata" if name == "google" else "usage": {**COUNTS[name], **members}})


_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ANSWERS: list[tuple[str, str, dict[str, Any]]] = [
    ("openai-chat", "top", _chat(top=ODD)),
    ("openai-chat", "choice", _chat(choice=ODD)),
    ("openai-chat", "message", _chat(message=ODD)),
    ("openai-chat", "call", _chat(message={"tool_calls": [_CALL | ODD]}, choice={"finish_reason": "tool_calls"})),
    ("openai-responses", "top", _responses(top=ODD)),
    ("openai-responses", "part", _responses(part=ODD)),
    ("anthropic", "top", _anthropic(top=ODD)),
    ("anthropic", "stop-sequence", _anthropic(top={"stop_reason": "stop_sequence", "stop_sequence": MARK})),
    ("anthropic", "container", _anthropic(top={"container": {"id": MARK, "expires_at": "2026"}})),
    ("anthropic", "block", _anthropic(block=ODD)),
    ("google", "top", _google(top=ODD)),
    ("google", "candidate", _google(candidate=ODD)),
    ("google", "part", _google(part=ODD)),
    ("google", "call", _google(part={"text": None, "functionCall": {"name": "f", "args": {}}, **ODD})),
    ("ollama", "top", _ollama(top=ODD)),
    ("ollama", "message", _ollama(message=ODD)),
    ("cohere", "top", _cohere(top=ODD)),
    ("cohere", "message", _cohere(message=ODD)),
    ("cohere", "block", _cohere(block=ODD)),
    ("bedrock", "top", _bedrock(top={"additionalModelResponseFields": ODD})),
    ("bedrock", "message", _bedrock(message=ODD)),
    ("bedrock", "call", _bedrock(block={"toolUse": {"toolUseId": "c1", "name": "f", "input": {}, **ODD}})),
    ("openai-chat", "usage", _counted(_chat, "openai-chat", **ODD)),
    ("openai-chat", "usage-details", _counted(_chat, "openai-chat", prompt_tokens_details=ODD)),
    ("openai-responses", "usage", _counted(_responses, "openai-responses", **ODD)),
    ("anthropic", "usage", _counted(_anthropic, "anthropic", server_tool_use=ODD)),
    ("google", "usage", _counted(_google, "google", **ODD)),
    ("cohere", "usage", _counted(_cohere, "cohere", **ODD)),
    ("bedrock", "usage", _counted(_bedrock, "bedrock", **ODD)),
    ("openai-chat", "tier", _chat(top={"service_tier": MARK})),
    ("openai-responses", "tier", _responses(top={"service_tier": MARK})),
    ("anthropic", "tier", _counted(_anthropic, "anthropic", service_tier=MARK)),
    ("google", "tier", _counted(_google, "google", serviceTier=MARK)),
    ("bedrock", "tier", _bedrock(top={"serviceTier": {"type": MARK}})),
]
ANSWERED = [
    pytest.param(source, client, body, id=f"{source}-{place}-{client}")
    for source, place, body in ANSWERS
    for client in (*DIALECTS, "unified")
    if client != source
]


def _bridge(client: str, service: str, *, streamed: bool = False) -> codec.Bridge:
    bridge = codec.bridge(client, service, model="m", history="mend")
    path = PATHS.get(client, "")
    body = dict(HELLO[client])
    if streamed and client == "google":
        path = path.replace("generateContent", "streamGenerateContent")
    elif streamed and client != "bedrock":
        body["stream"] = True
    bridge.request(body, path=path)
    return bridge


def _stream_of(service: str, body: dict[str, Any]) -> bytes:
    """The answer as the service streams it."""
    dialect = get_dialect(service)
    response = dialect.decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext())
    encoder = dialect.stream_encoder(ServerContext(source=service))
    return b"".join([encoder.encode(event) for event in unfold(response)])


@pytest.mark.parametrize(("service", "client", "body"), ANSWERED)
def test_a_member_of_an_answer_is_not_lost_in_silence(service: str, client: str, body: dict[str, Any]) -> None:
    """A whole answer: what the client's dialect cannot say has an entry."""
    bridge = _bridge(client, service)
    reply = json.dumps(bridge.response(body))
    assert MARK in reply or "extra_foreign" in {change.code for change in bridge.changes}, (reply, bridge.changes)


@pytest.mark.parametrize(("service", "client", "body"), ANSWERED)
def test_a_member_of_a_stream_is_not_lost_in_silence(service: str, client: str, body: dict[str, Any]) -> None:
    """The same of a stream, as far as the service's own stream can say the member."""
    frames = _stream_of(service, body)
    if MARK.encode() not in frames:
        pytest.skip("a stream of the service has no place for it")
    bridge = _bridge(client, service, streamed=True)
    told = b"".join(bridge.stream([frames]))
    assert MARK.encode() in told or "extra_foreign" in {change.code for change in bridge.changes}, (told, frames)


# Log probabilities

LOGPROBS: dict[str, dict[str, Any]] = {
    "openai-chat": _chat(choice={"logprobs": {"content": [TOKEN], "refusal": None}}),
    "openai-responses": _responses(part={"logprobs": [TOKEN]}),
    "google": _google(
        candidate={
            "avgLogprobs": -0.5,
            "logprobsResult": {"topCandidates": [{"candidates": [GOOGLE_TOKEN]}], "chosenCandidates": [GOOGLE_TOKEN]},
        }
    ),
    "ollama": _ollama(top={"logprobs": [TOKEN]}),
}


def _logprobs_in(client: str, body: Any) -> Any:
    match client:
        case "openai-chat":
            return body["choices"][0]["logprobs"]
        case "openai-responses":
            return body["output"][0]["content"][0].get("logprobs")
        case "google":
            return body["candidates"][0].get("logprobsResult")
        case _:
            return body.get("logprobs")


@pytest.mark.parametrize(("service", "client"), [(one, two) for one, two in PAIRS if one in LOGPROBS])
def test_log_probabilities_of_an_answer_are_translated(service: str, client: str) -> None:
    """A dialect that has them gets them in its own form without an entry, any other one gets an entry."""
    bridge = _bridge(client, service)
    before = len(bridge.changes)
    reply = bridge.response(LOGPROBS[service])
    codes = {change.code for change in bridge.changes[before:]}
    if client in LOGPROBS:
        assert _logprobs_in(client, reply) == _logprobs_in(client, LOGPROBS[client])
        assert "extra_foreign" not in codes
    else:
        assert "extra_foreign" in codes or client == "unified"


@pytest.mark.parametrize(("service", "client"), [(one, two) for one, two in PAIRS if one in LOGPROBS])
def test_log_probabilities_of_a_stream_are_translated(service: str, client: str) -> None:
    """A stream folds to the answer that has them; in Responses they stand in the last event, since they come last."""
    bridge = _bridge(client, service, streamed=True)
    before = len(bridge.changes)
    told = b"".join(bridge.stream([_stream_of(service, LOGPROBS[service])]))
    codes = {change.code for change in bridge.changes[before:]}
    if client not in LOGPROBS:
        assert "extra_foreign" in codes or client == "unified"
        return
    assert "extra_foreign" not in codes
    if client == "openai-responses":
        last = json.loads(told.rpartition(b"\ndata: ")[2])
        assert _logprobs_in(client, last["response"]) == [TOKEN]
        return
    dialect = get_dialect(client)
    decoder = dialect.stream_decoder(DecodeContext())
    end: Any = [*decoder.feed(told), *decoder.close()][-1]
    again = json.loads(dialect.encode_response(end.response, ServerContext(source=client)).body)
    assert _logprobs_in(client, again) == _logprobs_in(client, LOGPROBS[client])


def _google_logprobs(*, token: Any = NOTHING, likely: Any = NOTHING, result: Any = NOTHING) -> dict[str, Any]:
    top = [{"candidates": [{**GOOGLE_TOKEN, **likely}]}]
    chosen = [{**GOOGLE_TOKEN, **token}]
    return _google(candidate={"logprobsResult": {"topCandidates": top, "chosenCandidates": chosen, **result}})


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("client", ["openai-chat", "openai-responses", "ollama"])
@pytest.mark.parametrize(
    "odd", [{"token": {"tokenId": 7}}, {"likely": {"tokenId": 7}}, {"result": {"logProbabilitySum": -0.5}}]
)
def test_what_google_says_beside_its_log_probabilities_has_an_entry(
    odd: dict[str, Any], client: str, *, streamed: bool
) -> None:
    """The number of a token, chosen or likely, and their sum: no other dialect has a place, the rest is translated."""
    bridge = _bridge(client, "google", streamed=streamed)
    before, answer = len(bridge.changes), _google_logprobs(**odd)
    if streamed:
        body = b"".join(bridge.stream([_stream_of("google", answer)])).decode()
    else:
        body = json.dumps(bridge.response(answer))
    paths = [change.path for change in bridge.changes[before:] if change.code == "extra_foreign"]
    assert paths == ["/extra/google"]
    assert '"logprob":-0.5' in body.replace(": ", ":")


@pytest.mark.parametrize(("service", "path"), [("openai-chat", ""), ("openai-responses", "/parts/0"), ("ollama", "")])
@pytest.mark.parametrize("odd", [{"bytes": [240, 159]}, {"x_odd": 1}])
def test_tokens_that_googles_form_does_not_hold_have_an_entry(odd: dict[str, Any], service: str, path: str) -> None:
    """Bytes that are half a character, and members that nobody knows; bytes of the token itself need none."""
    tokens = [{**TOKEN, **odd}]
    answers = {
        "openai-chat": _chat(choice={"logprobs": {"content": tokens, "refusal": None}}),
        "openai-responses": _responses(part={"logprobs": tokens}),
        "ollama": _ollama(top={"logprobs": tokens}),
    }
    bridge = _bridge("google", service)
    before = len(bridge.changes)
    reply = bridge.response(answers[service])
    assert _logprobs_in("google", reply)["chosenCandidates"] == [GOOGLE_TOKEN]
    paths = [change.path for change in bridge.changes[before:] if change.code == "extra_foreign"]
    assert paths == [f"{path}/extra/{service}"]


@pytest.mark.parametrize("client", DIALECTS[1:])
def test_log_probabilities_without_a_form_have_an_entry(client: str) -> None:
    """What is no list of tokens stays where it was, and is noted."""
    bridge = _bridge(client, "openai-chat")
    bridge.response(_chat(choice={"logprobs": {"content": [{"odd": 1}]}}))
    assert "extra_foreign" in {change.code for change in bridge.changes}


@pytest.mark.parametrize("client", ["anthropic", "openai-responses"])
def test_log_probabilities_without_a_text_have_an_entry(client: str) -> None:
    """Responses has them in a text: an answer of calls alone has no place for them."""
    bridge = _bridge(client, "openai-chat")
    body = _chat(
        message={"content": None, "tool_calls": [_CALL]},
        choice={"finish_reason": "tool_calls", "logprobs": {"content": [TOKEN]}},
    )
    bridge.response(body)
    assert "extra_foreign" in {change.code for change in bridge.changes}


# Requests


def _asked(client: str, *parts: Any) -> dict[str, Any]:
    match client:
        case "openai-responses":
            return HELLO[client] | {"input": [{"role": "user", "content": list(parts)}]}
        case "google":
            return {"contents": [{"role": "user", "parts": list(parts)}]}
        case _:
            return HELLO[client] | {"messages": [{"role": "user", "content": list(parts)}]}


def _chat_result(content: Any) -> list[Any]:
    turn = {"role": "assistant", "tool_calls": [_CALL]}
    return [{"role": "user", "content": "hi"}, turn, {"role": "tool", "tool_call_id": "c1", "content": content}]


_TEXT_SOURCE = {"type": "text", "media_type": "text/plain", "data": "words"}
_IMAGE_SOURCE = {"type": "base64", "media_type": "image/png", "data": PNG}
_ANTHROPIC_DOCUMENT: dict[str, Any] = {"type": "document", "source": _TEXT_SOURCE}
_ANTHROPIC_TURN: dict[str, Any] = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}],
}
_BEDROCK_DOCUMENT: dict[str, Any] = {"format": "txt", "name": "d", "source": {"bytes": b64encode(b"words").decode()}}
_BEDROCK_TURN: dict[str, Any] = {
    "role": "assistant",
    "content": [{"toolUse": {"toolUseId": "c1", "name": "f", "input": {}}}],
}
_COHERE_DOCUMENT = {"type": "document", "document": {"id": MARK, "data": {"text": "words"}}}
REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("openai-chat", "text", _asked("openai-chat", {"type": "text", "text": "x", **ODD})),
    (
        "openai-chat",
        "image",
        _asked("openai-chat", {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}, **ODD}),
    ),
    (
        "openai-chat",
        "result",
        HELLO["openai-chat"] | {"messages": [*_chat_result("x")[:2], _chat_result("x")[2] | ODD]},
    ),
    (
        "openai-chat",
        "text-of-a-result",
        HELLO["openai-chat"] | {"messages": _chat_result([{"type": "text", "text": "x", **ODD}])},
    ),
    ("openai-responses", "text", _asked("openai-responses", {"type": "input_text", "text": "x", **ODD})),
    (
        "openai-responses",
        "image",
        _asked("openai-responses", {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", **ODD}),
    ),
    ("anthropic", "text", _asked("anthropic", {"type": "text", "text": "x", **ODD})),
    ("anthropic", "image", _asked("anthropic", {"type": "image", "source": _IMAGE_SOURCE, **ODD})),
    ("anthropic", "context", _asked("anthropic", _ANTHROPIC_DOCUMENT | {"context": MARK})),
    ("anthropic", "citations", _asked("anthropic", _ANTHROPIC_DOCUMENT | {"citations": {"enabled": True, **ODD}})),
    (
        "anthropic",
        "document-in-a-result",
        HELLO["anthropic"]
        | {
            "messages": [
                {"role": "user", "content": "hi"},
                _ANTHROPIC_TURN,
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c1",
                            "content": [{"type": "text", "text": "y", **ODD}, _ANTHROPIC_DOCUMENT | {"context": MARK}],
                        }
                    ],
                },
            ]
        },
    ),
    (
        "google",
        "image",
        _asked("google", {"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": MARK}}),
    ),
    ("google", "text", _asked("google", {"text": "x", **ODD})),
    ("bedrock", "context", _asked("bedrock", {"text": "x"}, {"document": _BEDROCK_DOCUMENT | {"context": MARK}})),
    (
        "bedrock",
        "citations",
        _asked("bedrock", {"text": "x"}, {"document": _BEDROCK_DOCUMENT | {"citations": {"enabled": True, **ODD}}}),
    ),
    (
        "bedrock",
        "result",
        {
            "messages": [
                *HELLO["bedrock"]["messages"],
                _BEDROCK_TURN,
                {
                    "role": "user",
                    "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "y", **ODD}]}}],
                },
            ]
        },
    ),
    ("cohere", "document-in-a-result", HELLO["cohere"] | {"messages": _chat_result([_COHERE_DOCUMENT])}),
    (
        "cohere",
        "documents",
        HELLO["cohere"] | {"documents": [{"id": MARK, "data": {"text": "words"}}]},
    ),
]
ASKED = [
    pytest.param(client, service, body, id=f"{client}-{place}-{service}")
    for client, place, body in REQUESTS
    for service in (*DIALECTS, "unified")
    if service != client
]
LOSSES = frozenset({"extra_foreign", "media_as_text"})


@pytest.mark.parametrize(("client", "service", "body"), ASKED)
def test_a_member_beside_a_part_is_not_lost_in_silence(client: str, service: str, body: dict[str, Any]) -> None:
    """Texts, media and results of a request: what the service's dialect cannot say has an entry."""
    everything: Any = ("images", "documents", "media_refs")
    bridge = codec.bridge(client, service, model="m", allow=everything)
    sent = json.dumps(bridge.request(body, path=PATHS.get(client, "")))
    noted = {change.code for change in bridge.changes if change.path.startswith("/messages/")}
    assert MARK in sent or noted & (LOSSES | set(everything)), (sent, bridge.changes)
