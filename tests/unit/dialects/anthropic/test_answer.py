"""Whole answers and errors, both ways: each test feeds what broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua import errors
from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.anthropic import DIALECT
from interlingua.dialects.anthropic.reasons import CODE_CLASSES, TYPE_CLASSES
from interlingua.errors import (
    APIConnectionError,
    BillingError,
    DecodeError,
    Error,
    MalformedArgumentsError,
    RateLimitError,
    UpstreamError,
)
from interlingua.stream.unfold import unfold
from interlingua.types.content import (
    BrokenToolCall,
    Citation,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ToolCall,
)
from interlingua.types.message import user
from interlingua.types.request import Request, ServerState
from interlingua.types.response import Response
from interlingua.types.tool import Tool
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply, header
from tests.support.messages import NAME, codes, decode, decode_error, encode, encode_reply, known, reply, wire

OWN = ServerContext(source=NAME)
COUNTED = Usage(input_tokens=1, output_tokens=1)


def test_an_answer_in_its_own_form() -> None:
    """All the members that clients insist on, nothing else."""
    said = Response(
        parts=(TextPart("Hi"), ToolCall("a", "f", '{"x":1}')),
        finish_reason="tool_calls",
        usage=Usage(input_tokens=10, output_tokens=3, cache_read_tokens=4),
        wire_model="m",
    )
    context = ServerContext(make_id=lambda: "msg_made")
    assert encode_reply(said, context) == {
        "id": "msg_made",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hi"}, {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 3},
    }
    assert encode_reply(said, ServerContext(model="shown"))["model"] == "shown"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("compaction", "other"),
        ("", "other"),
    ],
)
def test_use_14_every_stop_reason_is_known_or_other(raw: str, reason: str) -> None:
    """The word itself is kept and goes back (USE-08)."""
    said = reply('[{"type":"text","text":"a"}]', raw)
    assert (said.finish_reason, said.finish_reason_raw) == (reason, raw)
    assert encode_reply(said, OWN)["stop_reason"] == raw


@pytest.mark.parametrize(
    ("reason", "word", "exact"),
    [
        ("stop", "end_turn", True),
        ("length", "max_tokens", True),
        ("pause", "pause_turn", True),
        ("refusal", "refusal", True),
        ("content_filter", "refusal", False),
        ("other", "end_turn", False),
    ],
)
def test_every_finish_reason_has_a_legal_word(reason: Any, word: str, exact: bool) -> None:
    """With an entry where it says less."""
    entries: list[Any] = []
    told = encode_reply(
        Response(parts=(TextPart("a"),), finish_reason=reason, usage=COUNTED), ServerContext(changes=entries)
    )
    assert told["stop_reason"] == word
    assert codes(entries) == ([] if exact else ["approximated finish_reason_approximated /finish_reason"])


def test_use_10_calls_decide_over_the_stop_reason() -> None:
    """`end_turn` with calls is tool_calls, `tool_use` without is stop, a limit stays (USE-12, USE-13)."""
    use = '[{"type":"tool_use","id":"a","name":"f","input":{}}]'
    assert reply(use, "end_turn").finish_reason == "tool_calls"
    assert reply("[]", "tool_use").finish_reason == "stop"
    assert codes(reply("[]", "tool_use").changes) == ["repaired finish_reason_derived /finish_reason"]
    assert reply(use, "max_tokens").finish_reason == "length"


def test_cho_12_an_empty_refusal_is_a_refusal() -> None:
    """Not an empty success; its details are kept."""
    said = reply("[]", "refusal", ',"stop_details":{"type":"refusal","category":"bio"}')
    assert (said.parts, said.finish_reason) == ((), "refusal")
    assert encode_reply(said, OWN)["stop_details"] == {"type": "refusal", "category": "bio"}


def test_a_refusal_in_words_is_text_and_the_reason_refusal() -> None:
    """The wire has no part for it."""
    entries: list[Any] = []
    said = Response(parts=(RefusalPart("No."),), finish_reason="refusal", usage=COUNTED)
    told = encode_reply(said, ServerContext(changes=entries))
    assert (told["content"], told["stop_reason"]) == ([{"type": "text", "text": "No."}], "refusal")
    assert codes(entries) == ["approximated refusal_as_text /parts/0"]


def test_usage_is_summed_and_taken_apart_again() -> None:
    """What the wire counts apart is in the input; the rest comes back as it was."""
    usage = {
        "input_tokens": 42,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 1024,
        "cache_creation": {"ephemeral_5m_input_tokens": 7},
        "output_tokens": 95,
        "output_tokens_details": {"thinking_tokens": 30, "other": 1},
        "service_tier": "standard",
        "server_tool_use": None,
    }
    body: Any = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "usage": usage}
    said = DIALECT.decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext())
    assert said.usage is not None
    assert (said.usage.input_tokens, said.usage.cache_read_tokens, said.usage.cache_write_tokens) == (1073, 1024, 7)
    assert (said.usage.output_tokens, said.usage.reasoning_tokens) == (95, 30)
    del usage["server_tool_use"]
    assert encode_reply(said)["usage"] == usage


def test_counts_that_overlap_never_go_below_zero() -> None:
    """Where another provider counts a token as read and written, writes give way."""
    entries: list[Any] = []
    usage = Usage(input_tokens=2168, output_tokens=1, cache_read_tokens=2161, cache_write_tokens=2161)
    said = Response(parts=(TextPart("a"),), finish_reason="stop", usage=usage)
    told = encode_reply(said, ServerContext(changes=entries))["usage"]
    assert told == {
        "input_tokens": 0,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 2161,
        "output_tokens": 1,
    }
    assert codes(entries) == ["approximated parameter_adjusted /usage/cache_write_tokens"]


def test_srv_05_blocks_that_are_not_known_come_back_verbatim_and_in_place() -> None:
    """Server tools, MCP, compaction, fallback; failures keep their flag (SRV-08)."""
    content = [
        {"type": "text", "text": "a"},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "f", "server_name": "s", "input": {"q": None}},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "mcptoolu_1",
            "is_error": True,
            "content": [{"type": "text", "text": ""}],
        },
        {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
        {"type": "text", "text": "b", "citations": [{"type": "page_location", "cited_text": "x"}]},
    ]
    said = reply(json.dumps(content))
    assert [type(part) for part in said.parts] == [TextPart, ServerToolPart, ServerToolPart, OpaquePart, TextPart]
    assert said.parts[-1] == TextPart("b", (Citation(NAME, {"type": "page_location", "cited_text": "x"}, quote="x"),))
    assert encode_reply(said, OWN)["content"] == content
    turn = {"role": "assistant", "content": content}
    assert wire(decode({"messages": [{"role": "user", "content": "Hi"}, turn]}).request)["messages"][1] == turn


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [("[1]", "not_object"), ('"x"', "malformed"), ('{"a":1,"a":2}', "duplicate_key"), ("5", "not_object")],
)
def test_arg_09_an_input_that_is_not_one_object_is_broken(arguments: str, reason: str) -> None:
    """Kept as it came, the same as in a stream (ARG-11)."""
    said = reply(f'[{{"type":"tool_use","id":"a","name":"f","input":{arguments}}}]', "tool_use")
    (call,) = said.parts
    assert isinstance(call, BrokenToolCall)
    assert call.reason == reason


def test_arg_01_an_input_that_is_missing_or_null_is_empty() -> None:
    """`{}`, and recorded."""
    for rest in ("", ',"input":null'):
        said = reply(f'[{{"type":"tool_use","id":"a","name":"f"{rest}}}]', "tool_use")
        assert said.parts == (ToolCall("a", "f", "{}"),)
        assert codes(said.changes) == ["repaired arguments_empty /parts/0/arguments_json"]


def test_arg_04_arguments_sent_as_text_are_read_once() -> None:
    """Another dialect's habit, with an entry; what we send is always an object (ARG-05)."""
    said = reply('[{"type":"tool_use","id":"a","name":"f","input":"{\\"x\\":[1]}"}]', "tool_use")
    assert said.parts == (ToolCall("a", "f", '{"x":[1]}'),)
    assert codes(said.changes) == ["repaired foreign_shape /parts/0/arguments_json"]
    assert encode_reply(said)["content"][0]["input"] == {"x": [1]}


def test_a_broken_call_of_another_dialect_is_never_shown_as_one() -> None:
    """Half an object is sent as text, so that no client runs it; what is JSON stays what it is."""
    entries: list[Any] = []
    cut = Response(parts=(BrokenToolCall("a", "f", '{"x', "cut_off"),), finish_reason="length", usage=COUNTED)
    told = encode_reply(cut, ServerContext(changes=entries))
    assert (told["content"], told["stop_reason"]) == ([{"type": "text", "text": 'f({"x)'}], "max_tokens")
    assert codes(entries) == ["approximated broken_call_as_text /parts/0"]
    listed = Response(parts=(BrokenToolCall("a", "f", "[1]", "not_object"),), finish_reason="stop")
    assert encode_reply(listed)["content"][0]["input"] == [1]


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"role":"assistant"}', b'{"content":{}}'])
def test_what_is_no_answer_is_a_decode_error(body: bytes) -> None:
    """With the place where it is known."""
    with pytest.raises(DecodeError):
        DIALECT.decode_response(HttpReply(status=200, body=body), DecodeContext())


# Errors


@pytest.mark.parametrize(
    ("status", "kind", "name", "retryable"),
    [
        (400, "invalid_request_error", "BadRequestError", False),
        (401, "authentication_error", "AuthenticationError", False),
        (402, "billing_error", "BillingError", False),
        (403, "permission_error", "PermissionDeniedError", False),
        (404, "not_found_error", "NotFoundError", False),
        (409, "conflict_error", "UpstreamError", True),
        (413, "request_too_large", "RequestTooLargeError", False),
        (429, "rate_limit_error", "RateLimitError", True),
        (500, "api_error", "InternalServerError", True),
        (504, "timeout_error", "APITimeoutError", True),
        (529, "overloaded_error", "OverloadedError", True),
        (529, "new_error", "OverloadedError", True),
        (503, "api_error", "OverloadedError", True),
        (422, "invalid_request_error", "BadRequestError", False),
    ],
)
def test_r43_each_error_has_its_class(status: int, kind: str, name: str, retryable: bool) -> None:
    """By type and status, with the id of the request."""
    body = {"type": "error", "error": {"type": kind, "message": "No."}, "request_id": "req_1"}
    found = decode_error(status, json.dumps(body).encode(), (("request-id", "req_header"), ("retry-after", "7")))
    assert type(found).__name__ == name
    assert (found.message, found.status, found.code, found.request_id) == ("No.", status, kind, "req_1")
    assert (found.retryable, found.retry_after_s) == (retryable, 7.0)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.",
            "BillingError",
        ),
        (
            "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
            "BillingError",
        ),
        ("prompt is too long: 216370 tokens > 200000 maximum", "ContextWindowExceededError"),
        (
            "input length and `max_tokens` exceed context limit: 199999 + 8192 > 200000",
            "ContextWindowExceededError",
        ),
        ("messages: field required", "BadRequestError"),
    ],
)
def test_use_17_a_bad_request_may_mean_something_else(message: str, name: str) -> None:
    """The service has no code for these; the sentences are its own."""
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    assert type(decode_error(400, json.dumps(body).encode())).__name__ == name


def test_a_spent_limit_under_429_is_no_rate_limit() -> None:
    """The machine code in the details counts, and it is not tried again."""
    error = {"type": "rate_limit_error", "message": "x", "details": {"error_code": "contract_spend_limit_reached"}}
    found = decode_error(429, json.dumps({"type": "error", "error": error}).encode())
    assert (type(found), found.retryable) == (BillingError, False)


@pytest.mark.parametrize("body", [b"<html>413</html>", b"", b"null", b'"no"', b"[]", b'{"error":"no"}', b"{}"])
def test_an_error_body_may_be_anything(body: bytes) -> None:
    """A CDN answers with pages; the status decides then."""
    assert type(decode_error(413, body)).__name__ == "RequestTooLargeError"


def test_use_15_an_error_under_200_is_raised() -> None:
    """Not an answer without content."""
    body = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    with pytest.raises(UpstreamError, match="Overloaded"):
        DIALECT.decode_response(HttpReply(status=200, body=body), DecodeContext())


def test_use_22_retry_after_is_read_in_all_its_forms() -> None:
    """Milliseconds, and a date against the answer's own; a wish not to retry counts."""
    body = b'{"type":"error","error":{"type":"rate_limit_error","message":"x"}}'
    assert decode_error(429, body, (("retry-after-ms", "250"),)).retry_after_s == 0.25
    dated = (("date", "Sat, 21 Nov 2026 10:00:00 GMT"), ("retry-after", "Sat, 21 Nov 2026 10:00:09 GMT"))
    assert decode_error(429, body, dated).retry_after_s == 9
    assert decode_error(429, body, (("x-should-retry", "false"),)).retryable is False


EVERY_ERROR = [
    kind
    for name in errors.__all__
    if isinstance(kind := getattr(errors, name), type) and issubclass(kind, UpstreamError | errors.APITimeoutError)
]


@pytest.mark.parametrize("kind", EVERY_ERROR, ids=lambda kind: kind.__name__)
def test_every_class_survives_its_own_body(kind: type[Error]) -> None:
    """Whole and as an event of a stream; with when to come back and the id of the request (USE-18)."""
    facts: dict[str, Any] = {"phase": "upstream"} if kind is errors.APITimeoutError else {}
    error = kind("No.", retry_after_s=3, request_id="req_1", status=409 if kind is UpstreamError else None, **facts)
    told = DIALECT.encode_error(error, ServerContext())
    found = DIALECT.decode_error(told, DecodeContext())
    assert type(found) is kind
    assert (found.message, found.retry_after_s, found.request_id) == ("No.", 3, "req_1")
    assert found.retryable == error.retryable or kind is UpstreamError
    assert header(told.headers, "request-id") == "req_1"


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (errors.OverloadedError("x", status=503), 529, "overloaded_error"),
        (errors.HistoryError("x"), 400, "invalid_request_error"),
        (errors.UnknownModelError("x"), 404, "not_found_error"),
        (errors.ConfigError("x"), 500, "api_error"),
        (errors.LimitExceededError("x"), 413, "request_too_large"),
        (MalformedArgumentsError("x"), 502, "api_error"),
        (APIConnectionError("x"), 502, "api_error"),
        (errors.ChainExhaustedError("x"), errors.ChainExhaustedError.http_status, "api_error"),
        (UpstreamError("x", status=418), 418, "invalid_request_error"),
    ],
)
def test_use_16_errors_of_ours_are_told_in_the_protocols_own_words(error: Error, status: int, kind: str) -> None:
    """So that a client can classify them."""
    told = DIALECT.encode_error(error, ServerContext())
    assert (told.status, json.loads(told.body)["error"]["type"]) == (status, kind)


def test_a_decode_error_is_the_clients_or_the_upstreams() -> None:
    """400 when it was the client's body, 502 otherwise."""
    assert DIALECT.encode_error(DecodeError("x"), ServerContext()).status == 502
    assert DIALECT.encode_error(DecodeError("x", status=400), ServerContext()).status == 400


def test_whether_to_retry_is_said_where_the_status_misleads() -> None:
    """A rate limit that is not to be tried again."""
    told = DIALECT.encode_error(RateLimitError("x", retryable=False), ServerContext())
    assert header(told.headers, "x-should-retry") == "false"


def test_the_tables_name_real_classes() -> None:
    """Each an error of ours."""
    assert all(issubclass(kind, Error) for kind in (*CODE_CLASSES.values(), *TYPE_CLASSES.values()))


# The rest of a request


def test_par_01_members_that_are_not_known_stay_in_their_own_dialect() -> None:
    """Back to this dialect; to another they are dropped with an entry (PAR-10)."""
    body: Any = {
        "context_management": {"edits": []},
        "container": "c",
        "new_member": 1,
        "metadata": {"user_id": "u", "x": 1},
    }
    asked = decode(body).request
    assert asked.user == "u"
    again = wire(asked)
    assert {name: again[name] for name in body} == body
    foreign = Request(messages=asked.messages, extra={"openai-chat": {"response_format": {}}}, max_tokens=1)
    encoded = encode(foreign)
    assert "response_format" not in json.loads(encoded.body)
    assert codes(encoded.changes) == ["dropped extra_foreign /extra/openai-chat"]


def test_par_02_beta_features_travel_with_their_members() -> None:
    """The header is kept in the request and sent again, with the version."""
    found = decode({}, headers=(("anthropic-beta", "a-1, b-2"), ("anthropic-version", "2023-06-01")))
    assert found.request.extra == {NAME: {"betas": ["a-1", "b-2"]}}
    encoded = encode(found.request)
    assert encoded.headers == (("anthropic-version", "2023-06-01"), ("anthropic-beta", "a-1,b-2"))
    assert "betas" not in json.loads(encoded.body)
    assert encoded.path == "/messages"


def test_r17_an_output_schema_has_its_member() -> None:
    """Also under its older name; without a name, and without a strict flag."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    given = {"type": "json_schema", "schema": schema}
    for body in ({"output_config": {"format": given}}, {"output_format": given}):
        asked = decode(body).request
        assert asked == Request(messages=(user("Hi"),), output_schema=schema, max_tokens=100)
        assert wire(asked)["output_config"] == {"format": given}
    named = encode(Request(output_schema=schema, schema_name="x", schema_strict=False, max_tokens=1))
    assert json.loads(named.body)["output_config"] == {"format": given}
    assert codes(named.changes) == ["dropped strict_unsupported /schema_strict"]


def test_r17_a_model_without_output_schemas_refuses_them() -> None:
    """By its facts; let go with an entry."""
    asked = Request(output_schema={"type": "object"}, max_tokens=1)
    with pytest.raises(errors.UnsupportedError):
        encode(asked, known(output_schema=False))
    let = encode(asked, known(output_schema=False), allow=frozenset({"output_schema"}))
    assert codes(let.changes) == ["dropped output_schema /output_schema"]


def test_json_mode_is_asked_for_in_words() -> None:
    """The wire has no member for it."""
    encoded = encode(Request(messages=(user("Hi"),), json_mode=True, max_tokens=1))
    assert "JSON" in json.loads(encoded.body)["system"]
    assert codes(encoded.changes) == ["approximated output_schema_prompted /json_mode"]


def test_what_only_another_provider_keeps_is_refused() -> None:
    """A conversation of its own, several choices, tools where none are taken."""
    asked = Request(
        n=2, tools=(Tool(name="f"),), continues=ServerState("openai-responses", {"previous_response_id": "r"})
    )
    with pytest.raises(errors.UnsupportedError) as caught:
        encode(asked, known(tools=False))
    assert codes(caught.value.changes) == [
        "refused tools /tools/0",
        "refused choices /n",
        "refused server_state /continues",
    ]


def test_lone_surrogates_are_repaired_and_said() -> None:
    """In requests, and in answers."""
    found = decode(b'{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a\\ud800"}]}')
    assert found.request.messages[0].text == "a\ufffd"
    assert codes(found.changes) == ["repaired lone_surrogate "]
    assert codes(reply('[{"type":"text","text":"\\ud800"}]').changes) == ["repaired lone_surrogate "]


def test_a_streamed_block_without_a_type_goes_out_as_it_is() -> None:
    """A step of the provider's whose wire object lost its type, from a server of our own format."""
    part = ServerToolPart("anthropic", "web_search", {"id": "srvtoolu_1"})
    response: Response[Any] = Response(parts=(part,), finish_reason="stop")
    context = ServerContext(model="m", created=1, make_id=lambda: "msg_1", request=Request())
    encode_event = DIALECT.stream_encoder(context).encode
    body = b"".join([encode_event(event) for event in unfold(response)])
    assert b'"content_block":{"id":"srvtoolu_1"}' in body
    assert body.endswith(b'data: {"type":"message_stop"}\n\n')
