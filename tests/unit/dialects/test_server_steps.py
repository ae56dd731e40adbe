"""Steps of tools that providers run: read alike whole and streamed, verbatim at home, in words everywhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects._steps import step_text
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import UnsupportedError
from interlingua.stream.fold import fold
from interlingua.stream.unfold import unfold
from interlingua.types.change import Change
from interlingua.types.content import ServerToolPart, Source, TextPart, ThinkingPart
from interlingua.types.dump import dump, load
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import OpaqueTool
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply, HttpRequest

OTHERS = tuple(name for name in DIALECTS if name not in ("anthropic", "unified"))
SEARCH: dict[str, Any] = {
    "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Oslo"},
}  # fmt: skip
PAGES: dict[str, Any] = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "url": "https://a.test", "title": "A", "encrypted_content": "c2VjcmV0"},
    ],
}
CALLED = ServerToolPart("anthropic", "server_tool_use", SEARCH, "web_search", "srvtoolu_1", {"query": "Oslo"})
SHOWN = ServerToolPart(
    "anthropic", "web_search_tool_result", PAGES, "web_search", "srvtoolu_1", None, "", (Source("https://a.test", "A"),)
)  # fmt: skip
ANSWER: Response[Any] = Response(
    parts=(CALLED, SHOWN, TextPart("Rain.")), finish_reason="stop", usage=Usage(input_tokens=1, output_tokens=1)
)
WORDS = '[web_search {"query":"Oslo"}]\n\n[web_search result]\n- A: https://a.test'
"""The steps as the thinking of one answer."""


def read(dialect: str, raw: dict[str, Any]) -> ServerToolPart:
    """The step that a wire value is, in an answer of its dialect."""
    bodies: dict[str, Any] = {
        "anthropic": {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [raw], "usage": {"input_tokens": 1, "output_tokens": 1},
        },
        "openai-responses": {
            "id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [raw],
        },
        "google": {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [raw]}}]},
    }  # fmt: skip
    reply = HttpReply(status=200, body=json.dumps(bodies[dialect]).encode())
    [part] = get_dialect(dialect).decode_response(reply, DecodeContext()).parts
    assert isinstance(part, ServerToolPart)
    return part


CASES: list[tuple[str, dict[str, Any], str]] = [
    ("anthropic", {"type": "mcp_tool_use", "id": "i", "name": "f", "server_name": "s", "input": {}}, "[s/f {}]"),
    (
        "anthropic",
        {"type": "mcp_tool_result", "tool_use_id": "i", "is_error": True, "content": [{"type": "text", "text": "no"}]},
        "[mcp result (failed)]\nno",
    ),
    (
        "anthropic",
        {
            "type": "bash_code_execution_tool_result",
            "tool_use_id": "i",
            "content": {"type": "bash_code_execution_result", "stdout": "1\n", "stderr": "w", "return_code": 2},
        },
        "[bash_code_execution result]\n1\n\nw\nreturn code 2",
    ),
    (
        "anthropic",
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "i",
            "content": {
                "type": "web_fetch_result", "url": "https://a.test",
                "content": {"type": "document", "title": "A", "source": {"type": "text", "data": "page"}},
            },
        },
        "[web_fetch result]\npage\n- A: https://a.test",
    ),
    (
        "anthropic",
        {"type": "tool_search_tool_result", "tool_use_id": "i", "content": {"tool_references": [{"tool_name": "f"}]}},
        "[tool_search result]\nf",
    ),
    ("anthropic", {"type": "x_tool_result", "tool_use_id": "i", "content": {"odd": 1}}, '[x result]\n{"odd":1}'),
    ("anthropic", {"type": "x_tool_result", "content": 7}, "[x result]"),
    (
        "openai-responses",
        {
            "type": "web_search_call", "id": "ws", "status": "completed",
            "action": {"type": "search", "query": "q", "sources": [{"type": "url", "url": "https://a.test"}]},
        },
        '[web_search {"type":"search","query":"q"}]\n- https://a.test',
    ),
    (
        "openai-responses",
        {"type": "code_interpreter_call", "id": "ci", "code": "a\nb", "outputs": [{"type": "logs", "logs": "1"}]},
        "[code_interpreter]\ncode:\na\nb\n1",
    ),
    (
        "openai-responses",
        {
            "type": "file_search_call", "id": "fs", "queries": ["q"],
            "results": [{"file_id": "file-1", "filename": "a.txt", "text": "words"}],
        },
        '[file_search {"queries":["q"]}]\nwords\n- a.txt: file-1',
    ),
    (
        "openai-responses",
        {"type": "mcp_call", "id": "m", "server_label": "s", "name": "f", "arguments": '{"x":1}', "error": "broke"},
        '[s/f {"x":1} (failed)]\nbroke',
    ),
    (
        "openai-responses",
        {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "a", "stderr": "b"}]},
        "[shell result]\na\nb",
    ),
    (
        "openai-responses",
        {"type": "computer_call", "id": "c", "call_id": "c", "status": "in_progress", "action": {"type": "click"}},
        '[computer {"action":{"type":"click"}} (running)]',
    ),
    (
        "google",
        {"executableCode": {"language": "PYTHON", "code": "a\nb"}},
        '[code_execution {"language":"PYTHON"}]\ncode:\na\nb',
    ),
    (
        "google",
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}},
        "[code_execution result (failed)]\nno",
    ),
    (
        "google",
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "t", "response": {"search_suggestions": "<p>"}}},
        "[google_search_web result]",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "raw", "words"), CASES)
def test_a_step_says_what_was_called_and_what_came(dialect: str, raw: dict[str, Any], words: str) -> None:
    """Each kind, in words; what is odd in one is left out and never an error."""
    part = read(dialect, raw)
    assert step_text(part) == words
    assert part.raw == raw


def test_r63_steps_go_home_verbatim_and_elsewhere_as_text() -> None:
    """R63: sealed members go to their own service alone; every other one reads the step in its place."""
    request = Request(messages=(user("?"), assistant(CALLED, SHOWN, TextPart("Rain.")), user("And?")))
    home = get_dialect("anthropic").encode_request(request, EncodeOptions(target=Target(model="m")))
    assert json.loads(home.body)["messages"][1]["content"][:2] == [SEARCH, PAGES]
    assert [change.code for change in home.changes if "server" in change.code] == []
    for name in OTHERS:
        sent = get_dialect(name).encode_request(request, EncodeOptions(target=Target(model="m")))
        text = sent.body.decode()
        assert "c2VjcmV0" not in text
        assert "srvtoolu" not in text
        assert r"[web_search {\"query\":\"Oslo\"}]" in text
        assert "- A: https://a.test" in text
        steps = [(change.path, change.action) for change in sent.changes if change.code == "server_tool_as_text"]
        assert steps == [("/messages/1/parts/0", "approximated"), ("/messages/1/parts/1", "approximated")]


def test_a_step_goes_home_to_its_provider_alone() -> None:
    """Another provider of the same dialect cannot read what the first one sealed; one that is not known may be it."""
    part = ServerToolPart("anthropic", "server_tool_use", SEARCH, "web_search", None, {}, provider="anthropic")
    request = Request(messages=(user("?"), assistant(part, TextPart("Rain.")), user("And?")))
    for provider, kind in (("anthropic", "server_tool_use"), ("", "server_tool_use"), ("deepseek", "text")):
        target = Target(model="m", provider=provider)
        sent = get_dialect("anthropic").encode_request(request, EncodeOptions(target=target))
        assert json.loads(sent.body)["messages"][1]["content"][0]["type"] == kind


def test_a_definition_stays_refused_unless_it_is_allowed() -> None:
    """A tool that the target lacks changes what is asked; its steps do not."""
    tools = (OpaqueTool("anthropic", "web_search_20250305", {"type": "web_search_20250305", "name": "web_search"}),)
    request = Request(messages=(user("?"), assistant(CALLED, SHOWN, TextPart("Rain.")), user("And?")), tools=tools)
    chat = get_dialect("openai-chat")
    with pytest.raises(UnsupportedError) as caught:
        chat.encode_request(request, EncodeOptions(target=Target(model="m")))
    assert [(change.code, change.path) for change in caught.value.changes] == [("server_tools", "/tools/0")]
    allowed = EncodeOptions(target=Target(model="m"), allow=frozenset({"server_tools"}))
    codes = [change.code for change in chat.encode_request(request, allowed).changes]
    assert sorted(codes) == ["server_tool_as_text", "server_tool_as_text", "server_tools"]


@pytest.mark.parametrize("name", OTHERS)
def test_r63_an_answer_tells_steps_as_thinking(name: str) -> None:
    """R63: whole and streamed say the same, and the text of the answer is what the model said."""
    dialect = get_dialect(name)
    entries: list[Change] = []
    reply = dialect.encode_response(ANSWER, ServerContext(source="anthropic", changes=entries))
    whole = dialect.decode_response(reply, DecodeContext())
    assert (whole.thinking, whole.text) == (WORDS, "Rain.")
    assert [change.path for change in entries if change.code == "server_tool_as_text"] == ["/parts/0", "/parts/1"]
    late: list[Change] = []
    encoder = dialect.stream_encoder(ServerContext(source="anthropic", changes=late))
    data = b"".join([encoder.encode(event) for event in unfold(ANSWER)])
    decoder = dialect.stream_decoder(DecodeContext())
    streamed = fold([*decoder.feed(data), *decoder.close()])
    assert "".join(streamed.thinking.split()) == "".join(WORDS.split())
    assert streamed.text == "Rain."
    assert [change.path for change in late if change.code == "server_tool_as_text"] == ["/parts/0", "/parts/1"]


def test_an_answer_of_responses_is_thinking_for_a_claude_client() -> None:
    """A block of its own, unsigned, streamed as a delta."""
    step = ServerToolPart("openai-responses", "web_search_call", {"type": "web_search_call"}, "web_search", None, {})
    response = Response[Any](parts=(step, TextPart("Hi")), finish_reason="stop")
    claude = get_dialect("anthropic")
    body = json.loads(claude.encode_response(response, ServerContext()).body)
    assert body["content"][0] == {"type": "thinking", "thinking": "[web_search {}]", "signature": ""}
    encoder = claude.stream_encoder(ServerContext())
    data = b"".join([encoder.encode(event) for event in unfold(response)])
    assert b'"delta":{"type":"thinking_delta","thinking":"[web_search {}]"}' in data


def test_r63_the_unified_dialect_has_the_step_itself() -> None:
    """R63: in a request and in an answer, equal when read again."""
    unified = get_dialect("unified")
    request = Request(messages=(user("?"), Message("assistant", (CALLED, SHOWN, TextPart("Rain."))), user("And?")))
    body = unified.encode_request(request, EncodeOptions(target=Target(model="m"))).body
    again = unified.decode_request(HttpRequest(url="/unified/v1/generate", body=body), DecodeOptions()).request
    assert again.messages[1].parts == request.messages[1].parts
    reply = unified.encode_response(ANSWER, ServerContext())
    assert unified.decode_response(reply, DecodeContext()).parts == ANSWER.parts


def test_a_step_is_canonical_json() -> None:
    """The tag `server_tool`, empty members left out."""
    stored = dump([assistant(CALLED)])
    assert json.loads(stored)["messages"][0]["parts"] == [
        {
            "type": "server_tool", "dialect": "anthropic", "kind": "server_tool_use", "raw": SEARCH,
            "name": "web_search", "call_id": "srvtoolu_1", "input": {"query": "Oslo"},
        }
    ]  # fmt: skip
    assert tuple(load(stored)) == (assistant(CALLED),)


def test_thinking_before_a_step_stays_apart() -> None:
    """The model's own thinking and the step are two."""
    chat = get_dialect("openai-chat")
    response = Response[Any](parts=(ThinkingPart("Hm."), CALLED, TextPart("Hi")), finish_reason="stop")
    message = json.loads(chat.encode_response(response, ServerContext()).body)["choices"][0]["message"]
    assert message["reasoning_content"] == 'Hm.\n\n[web_search {"query":"Oslo"}]'


def test_a_step_is_told_in_about_as_many_bytes_as_it_has() -> None:
    """The name of a member with a thousand texts of several lines in it is told once."""
    step = ServerToolPart(
        "anthropic", "server_tool_use", {}, "f", "i", {"k" * 10_000: {f"c{n}": "\n" for n in range(999)}}
    )
    assert len(step_text(step)) < 20_000
    assert step_text(ServerToolPart("anthropic", "x", {}, "f", "i", {"a": {"code": "1\n2"}, "b": 3})) == (
        '[f {"a":{},"b":3}]\ncode:\n1\n2'
    )
