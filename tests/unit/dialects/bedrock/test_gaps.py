"""Converse: nothing of a stream, a choice or a guardrail is taken in silence."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, Facts, ServerContext, Target
from interlingua.dialects.bedrock.client_stream import ConverseStreamDecoder
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, UnsupportedError
from interlingua.types.content import DocumentPart, Sealed, ThinkingPart
from interlingua.types.event import StreamEnd, StreamError
from interlingua.types.message import assistant, user
from interlingua.types.request import Request
from interlingua.wire.eventstream import encode_event_frame
from interlingua.wire.http import HttpReply, HttpRequest

START: tuple[str, Any] = ("messageStart", {"role": "assistant"})
STOP: tuple[str, Any] = ("messageStop", {"stopReason": "end_turn"})
USAGE: tuple[str, Any] = ("metadata", {"usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}})


def _delta(**delta: Any) -> tuple[str, Any]:
    return ("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta})


def _read(*events: tuple[str, Any]) -> Any:
    """The last event of a stream of these."""
    decoder = ConverseStreamDecoder(DecodeContext())
    headers = {":content-type": "application/json", ":message-type": "event"}
    frames = [
        encode_event_frame({":event-type": name, **headers}, json.dumps(event).encode()) for name, event in events
    ]
    return [*decoder.feed(b"".join(frames)), *decoder.close()][-1]


def _sent(body: dict[str, Any]) -> dict[str, Any]:
    """A body of a client as it goes out to the service."""
    dialect = get_dialect("bedrock")
    asked = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}], **body}
    http = HttpRequest(url="/model/m/converse", body=json.dumps(asked).encode())
    request = dialect.decode_request(http, DecodeOptions()).request
    return json.loads(dialect.encode_request(request, EncodeOptions(target=Target(model="m"))).body)


@pytest.mark.parametrize(
    "late",
    [_delta(text="More."), ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"name": "f"}}})],
    ids=["text", "call"],
)
def test_a_block_behind_the_end_is_refused(late: tuple[str, Any]) -> None:
    """`messageStop` ends the message: the answer so far is kept, and an error says what came behind it."""
    last = _read(START, _delta(text="Hi"), ("contentBlockStop", {"contentBlockIndex": 0}), STOP, late, USAGE)
    assert isinstance(last, StreamError)
    assert (last.error, last.partial is not None and last.partial.text) == ("DecodeError", "Hi")
    assert "behind messageStop" in last.message


def test_pieces_of_a_signature_are_one() -> None:
    """A signature that comes in two pieces goes back whole."""
    first, second = _delta(reasoningContent={"signature": "c2ln"}), _delta(reasoningContent={"signature": "bmVk"})
    last = _read(START, _delta(reasoningContent={"text": "Hm."}), first, second, STOP, USAGE)
    assert isinstance(last, StreamEnd)
    assert last.response.parts == (ThinkingPart("Hm.", Sealed("bedrock", {"signature": "c2lnbmVk"})),)


def test_pieces_of_redacted_reasoning_are_one() -> None:
    """Base64 is joined by its bytes, since a piece may end in padding."""
    pieces = [_delta(reasoningContent={"redactedContent": b64encode(piece).decode()}) for piece in (b"a", b"bc")]
    last = _read(START, *pieces, STOP, USAGE)
    assert last.response.parts[0].sealed.data == {"redactedContent": b64encode(b"abc").decode()}


def test_reasoning_is_signed_or_redacted() -> None:
    """One block is not both."""
    both = [_delta(reasoningContent={"signature": "c2ln"}), _delta(reasoningContent={"redactedContent": "YQ=="})]
    last = _read(START, *both, STOP, USAGE)
    assert (last.error, "not both" in last.message) == ("DecodeError", True)


def test_a_citation_belongs_to_a_text() -> None:
    """One for reasoning has no place, and is no text of it."""
    last = _read(START, _delta(reasoningContent={"text": "Hm."}), _delta(citation={"title": "t"}), STOP, USAGE)
    assert (last.error, "citation" in last.message) == ("DecodeError", True)


@pytest.mark.parametrize(
    "choice", [{"auto": {"depth": 1}}, {"any": {}, "mood": {"calm": True}}, {"tool": {"name": "f", "times": 2}}]
)
def test_further_members_of_a_choice_go_on(choice: dict[str, Any]) -> None:
    """Unknown members survive a trip within the dialect."""
    tools = [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]
    assert _sent({"toolConfig": {"tools": tools, "toolChoice": choice}})["toolConfig"]["toolChoice"] == choice


GUARDRAIL = {"guardrailIdentifier": "5zwrmdlsra2e", "guardrailVersion": "DRAFT", "trace": "enabled"}
ARN = "arn:aws:bedrock:us-east-1:123456789012:guardrail/5zwrmdlsra2e"


@pytest.mark.parametrize("more", [{}, {"guardrailIdentifier": ARN}, {"guardrailVersion": "12"}])
def test_a_guardrail_goes_on(more: dict[str, Any]) -> None:
    """An id or an ARN, and a version."""
    assert _sent({"guardrailConfig": {**GUARDRAIL, **more}})["guardrailConfig"] == {**GUARDRAIL, **more}


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ("x", "/guardrailConfig"),
        ({**GUARDRAIL, "guardrailIdentifier": "../other"}, "/guardrailConfig/guardrailIdentifier"),
        ({**GUARDRAIL, "guardrailIdentifier": 7}, "/guardrailConfig/guardrailIdentifier"),
        ({**GUARDRAIL, "guardrailVersion": "01"}, "/guardrailConfig/guardrailVersion"),
    ],
)
def test_no_guardrail_is_named_so(config: Any, path: str) -> None:
    """A name that the service model has no room for is refused with its place."""
    with pytest.raises(DecodeError) as caught:
        _sent({"guardrailConfig": config})
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("exception", "status", "streamed"),
    [
        ("ServiceQuotaExceededException", 400, "validationException"),
        ("ModelTimeoutException", 408, "modelStreamErrorException"),
        ("ModelErrorException", 424, "modelStreamErrorException"),
        ("ModelNotReadyException", 429, "serviceUnavailableException"),
    ],
)
def test_an_exception_of_the_service_keeps_its_name(exception: str, status: int, streamed: str) -> None:
    """A client of Bedrock behind Bedrock reads what its SDK would have read; in a stream the nearest of five."""
    dialect = get_dialect("bedrock")
    headers = (("x-amzn-errortype", exception), ("content-type", "application/json"))
    error = dialect.decode_error(HttpReply(status=status, headers=headers, body=b'{"message":"No."}'), DecodeContext())
    reply = dialect.encode_error(error, ServerContext())
    assert (reply.status, dict(reply.headers)["x-amzn-errortype"]) == (status, exception)
    event = StreamError(type(error).__name__, error.message, error.status, error.code)
    assert streamed.encode() in dialect.stream_encoder(ServerContext()).encode(event)


def test_a_blank_turn_hides_no_turn_that_was_begun() -> None:
    """What is left out behind an assistant's turn leaves it the last one, which newer Claude does not finish."""
    messages = (user("Hi"), assistant("Once"), user(" "))
    target = Target(model="m", facts=Facts(prefill=False))
    with pytest.raises(UnsupportedError) as caught:
        get_dialect("bedrock").encode_request(Request(messages=messages), EncodeOptions(target=target))
    assert [(change.code, change.path) for change in caught.value.changes if change.action == "refused"] == [
        ("prefill", "/messages/1")
    ]


def test_a_document_alone_gets_a_text() -> None:
    """The service insists on one, and an entry says so."""
    request = Request(messages=(user(DocumentPart(b"%PDF", "application/pdf", "a")),))
    encoded = get_dialect("bedrock").encode_request(request, EncodeOptions(target=Target(model="m")))
    [message] = json.loads(encoded.body)["messages"]
    assert [next(iter(block)) for block in message["content"]] == ["document", "text"]
    assert [(change.code, change.path) for change in encoded.changes] == [("parameter_added", "/messages/0")]


CLASSES = {
    "validationException": "BadRequestError",
    "serviceQuotaExceededException": "BadRequestError",
    "conflictException": "UpstreamError",
    "accessDeniedException": "PermissionDeniedError",
    "unrecognizedClientException": "AuthenticationError",
    "resourceNotFoundException": "NotFoundError",
    "modelTimeoutException": "APITimeoutError",
    "modelErrorException": "InternalServerError",
    "modelStreamErrorException": "InternalServerError",
    "modelNotReadyException": "OverloadedError",
    "throttlingException": "RateLimitError",
    "internalServerException": "InternalServerError",
    "serviceUnavailableException": "OverloadedError",
}
"""Exceptions as a stream names them, and the class of each; no status tells it there."""


@pytest.mark.parametrize(("name", "kind"), CLASSES.items())
def test_an_exception_frame_has_the_class_of_its_name(name: str, kind: str) -> None:
    """In the middle of a stream, with what came before it."""
    decoder = ConverseStreamDecoder(DecodeContext())
    headers = {":content-type": "application/json", ":message-type": "event"}
    events = [
        encode_event_frame({":event-type": kind_of, **headers}, json.dumps(event).encode())
        for kind_of, event in (START, _delta(text="Hi"))
    ]
    failed = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    data = b"".join([*events, encode_event_frame(failed, b'{"message":"No."}')])
    last = [*decoder.feed(data), *decoder.close()][-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.message, last.partial is not None and last.partial.text) == (kind, "No.", "Hi")


@pytest.mark.parametrize("tier", ["priority", "default", "flex", "reserved", "batch"])
def test_a_tier_of_converse_is_sent_and_another_one_is_said(tier: str) -> None:
    """There are four of them."""
    request = Request(messages=(user("Hi"),), service_tier=tier)
    encoded = get_dialect("bedrock").encode_request(request, EncodeOptions(target=Target(model="m")))
    is_known = tier != "batch"
    assert json.loads(encoded.body).get("serviceTier") == ({"type": tier} if is_known else None)
    assert [change.path for change in encoded.changes] == ([] if is_known else ["/service_tier"])
