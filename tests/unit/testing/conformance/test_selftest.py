"""The conformance command passes good servers, and fails broken ones with the check that names the break."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from interlingua.testing.conformance import CHECKS, Report, check_server
from interlingua.testing.conformance.__main__ import main
from interlingua.testing.conformance.session import TONGUES, Session
from interlingua.testing.upstream import Cut, Fail, Say, Upstream
from interlingua.testing.upstream.refusals import error_reply

BASES = {
    "openai-chat": "/v1",
    "openai-responses": "/v1",
    "anthropic": "/v1",
    "google": "/v1beta",
    "ollama": "",
    "cohere": "/v2",
    "bedrock": "",
    "unified": "",
}
Spoil = Callable[[list[bytes]], list[bytes]]


def _report(dialect: str, spoil: Spoil | None = None, *, key: str = "") -> Report:
    upstream = Upstream(dialect, models=frozenset({"some-model"}), key=key or None, spoil=spoil)
    with upstream.serving() as url:
        return check_server(Session(url + BASES[dialect], dialect, "some-model", key or "any", timeout_s=20))


@pytest.mark.parametrize("dialect", TONGUES)
def test_our_own_upstream_passes(dialect: str) -> None:
    """Every check passes on the strict upstream; the one skip is that of a dialect without the rule."""
    report = _report(dialect, key="sesame")
    skipped = [outcome.name for outcome in report.outcomes if outcome.state != "pass"]
    assert skipped == (["error: result without a call"] if dialect == "ollama" else [])
    assert report.ok


def _without_last(frames: list[bytes]) -> list[bytes]:
    return frames[:-1] if len(frames) > 1 else frames


def _swapped(old: str, new: str) -> Spoil:
    return lambda frames: [re.sub(old.encode(), new.encode(), frame) for frame in frames]


def _without(pattern: str) -> Spoil:
    return lambda frames: [frame for frame in frames if len(frames) == 1 or not re.search(pattern.encode(), frame)]


def _twice(pattern: str) -> Spoil:
    return lambda frames: [
        copy for frame in frames for copy in [frame] * (2 if re.search(pattern.encode(), frame) else 1)
    ]


def _error_under_200(dialect: str) -> Spoil:
    reply = error_reply(dialect, 500)
    return lambda frames: [reply.body] if len(frames) == 1 else frames


BREAKS: tuple[tuple[str, str, Spoil, str, str], ...] = (
    ("openai-chat", "no terminal event", _without_last, "text, streamed", r"no \[DONE\]"),
    ("openai-responses", "no terminal event", _without_last, "text, streamed", "no response.completed"),
    ("anthropic", "no terminal event", _without_last, "text, streamed", "no message_stop"),
    ("google", "no terminal event", _without_last, "text, streamed", "no finishReason"),
    ("ollama", "no terminal event", _without_last, "text, streamed", "no line that says done"),
    ("openai-chat", "wrong index", _swapped(r'"index":1\b', '"index":5'), "parallel calls, streamed", "call index 5"),
    ("openai-responses", "wrong index", _swapped(r'"output_index":1\b', '"output_index":5'), "parallel calls, streamed",
     "item 5 where 1"),
    ("anthropic", "wrong index", _swapped(r'"index":1\b', '"index":5'), "parallel calls, streamed",
     "block 5 where 1"),
    ("openai-chat", "malformed arguments", _swapped(r'\{\\"city\\"', "city"), "tool call, whole", "malformed"),
    ("openai-responses", "malformed arguments", _swapped(r'\{\\"city\\"', "city"), "tool call, whole", "malformed"),
    ("anthropic", "malformed arguments", _swapped(r'\{\\"ci', "ci"), "tool call, streamed", "malformed"),
    ("google", "arguments as text", _swapped(r'"args":\{[^}]*\}', '"args":"{}"'), "tool call, whole", "args"),
    ("ollama", "arguments as text", _swapped(r'"arguments":\{[^}]*\}', '"arguments":"{}"'), "tool call, whole",
     "arguments"),
    ("openai-chat", "missing usage", _swapped(r',"usage":\{.*\}(,"service_tier|\}\n)', r"\1"), "text, whole", "usage"),
    ("openai-responses", "missing usage", _swapped('"usage"', '"counts"'), "text, whole", "usage"),
    ("anthropic", "missing usage", _swapped('"usage"', '"counts"'), "text, streamed", "usage"),
    ("google", "missing usage", _swapped('"usageMetadata"', '"counts"'), "text, streamed", "usage"),
    ("ollama", "missing usage", _swapped('"eval_count"', '"counts"'), "text, streamed", "eval_count"),
    ("unified", "no terminal event", _without_last, "text, streamed", "no stream_end"),
    ("unified", "wrong index", _swapped(r'"index":1\b', '"index":5'), "parallel calls, streamed", "block 5 where 1"),
    ("unified", "arguments as text", _swapped(r'"arguments":\{[^}]*\}', '"arguments":"{}"'), "tool call, whole",
     "arguments"),
    ("unified", "missing usage", _swapped('"usage"', '"counts"'), "text, whole", "usage"),
    ("unified", "a block that never began", _without('"block_start"'), "text, streamed", "not open"),
    *[
        (name, "error under 200", _error_under_200(name), "text, whole", "error under status 200")
        for name in BASES
        if name not in ("cohere", "bedrock")
    ],
    ("bedrock", "error under 200", _error_under_200("bedrock"), "text, whole", "`output` is missing"),
    ("bedrock", "no terminal event", _without_last, "text, streamed", "no metadata at its end"),
    ("bedrock", "no stop reason", _without("messageStop"), "text, streamed", "no messageStop"),
    ("bedrock", "no block stop", _without("contentBlockStop"), "text, streamed", "messageStop while a block is open"),
    ("bedrock", "a wrong checksum", _swapped("Hello", "Hallo"), "text, streamed", "another checksum"),
    ("bedrock", "arguments as text", _swapped(r'"input":\{[^}]*\}', '"input":"{}"'), "tool call, whole", "input"),
    ("bedrock", "missing usage", _swapped('"usage"', '"counts"'), "text, whole", "usage"),
    ("cohere", "error under 200", _error_under_200("cohere"), "text, whole", "/message: must be an object"),
    ("cohere", "no terminal event", _without("message-end"), "text, streamed", "no message-end"),
    ("cohere", "wrong index", _swapped(r'"index":1\b', '"index":5'), "parallel calls, streamed", "tool_calls 5 begins"),
    ("cohere", "malformed arguments", _swapped(r'\{\\"city\\"', "city"), "tool call, whole", "malformed"),
    ("cohere", "missing usage", _swapped('"usage"', '"counts"'), "text, whole", "usage"),
    ("openai-chat", "no finish reason", _swapped('"finish_reason":"[a-z_]+"', '"finish_reason":null'), "text, streamed",
     "no finish reason"),
    ("openai-chat", "no role", _swapped('"role":"assistant",', ""), "text, streamed", "no role"),
    ("openai-responses", "a skipped number", _swapped('"sequence_number":3,', '"sequence_number":4,'), "text, streamed",
     "sequence_number 4"),
    ("openai-responses", "no output_item.added", _without("output_item.added"), "text, streamed", "not open"),
    ("openai-responses", "a delta lost", _without('"delta":" the"'), "text, streamed", "differs from its deltas"),
    ("anthropic", "no block stop", _without('content_block_stop"'), "parallel calls, streamed", "block is open"),
    ("anthropic", "two starts", _twice('"message_start"'), "text, streamed", "message_start should be first"),
    ("anthropic", "text in a call", _swapped('"input_json_delta"', '"text_delta"'), "tool call, streamed",
     "text_delta"),
    ("anthropic", "another stop reason", _swapped('"tool_use","stop_seq', '"end_turn","stop_seq'), "tool call, whole",
     "ended with 'stop'"),
    ("google", "an id for a word", _swapped('"finishReason":"STOP"', '"finishReason":1'), "text, whole",
     "finishReason"),
    ("ollama", "no name", _swapped('"name":"get_weather"', '"name":""'), "tool call, whole", "name"),
)  # fmt: skip
"""Dialect, what is broken, how, the check that must fail, and a word of its reason."""


@pytest.mark.parametrize(
    ("dialect", "spoil", "check", "reason"),
    [(row[0], *row[2:]) for row in BREAKS],
    ids=[f"{row[0]}-{row[1]}" for row in BREAKS],
)
def test_a_broken_server_fails_the_check_that_names_it(dialect: str, spoil: Spoil, check: str, reason: str) -> None:
    """One thing is wrong with every answer, and the table says which."""
    report = _report(dialect, spoil)
    [outcome] = [outcome for outcome in report.outcomes if outcome.name == check]
    assert outcome.state == "fail", report.lines()
    assert re.search(reason, outcome.reason), outcome.reason
    assert not report.ok


def test_a_server_that_breaks_off_fails() -> None:
    """A cut connection is a reason, not an exception."""
    upstream = Upstream("openai-chat", *[Cut(Say(text="One two three four"), after=2)] * 20)
    with upstream.serving() as url:
        report = check_server(Session(f"{url}/v1", "openai-chat", "m", "any", timeout_s=20))
    [outcome] = [outcome for outcome in report.outcomes if outcome.name == "text, streamed"]
    assert "the connection broke" in outcome.reason


def test_a_server_that_does_not_answer_fails() -> None:
    """Nothing listens: every check that can be made fails with the reason."""
    report = check_server(Session("http://127.0.0.1:9/v1", "openai-chat", "m", timeout_s=2))
    assert {outcome.state for outcome in report.outcomes} == {"fail", "skip"}
    assert "the connection broke" in report.outcomes[0].reason


def test_an_unwilling_model_is_skipped() -> None:
    """A model that does not call twice, and a server without pictures, are no faults of the server."""
    upstream = Upstream("openai-chat", *["No."] * 40)
    with upstream.serving() as url:
        report = check_server(Session(f"{url}/v1", "openai-chat", "m", "any", timeout_s=20))
    assert report.state("parallel calls, whole") == "skip"
    assert report.state("tool call, whole") == "fail"
    upstream = Upstream("anthropic", *[Fail(400, "no images here")] * 40)
    with upstream.serving() as url:
        report = check_server(Session(f"{url}/v1", "anthropic", "m", "any", timeout_s=20))
    assert report.state("image") == "skip"


def test_the_command_prints_a_table_and_gives_a_status() -> None:
    """A line for each check, one that counts them, 0 or 1; the key may stand in a variable."""
    lines: list[str] = []
    with Upstream("google", models=frozenset({"m"}), key="sesame").serving() as url:
        arguments = ["--url", f"{url}/v1beta", "--dialect", "google", "--model", "m", "--key"]
        assert main([*arguments, "sesame"], lines.append) == 0
        assert len(lines) == len(CHECKS) + 1
        assert lines[-1] == f"{len(CHECKS)} passed, 0 failed, 0 skipped"
        assert main([*arguments, "wrong"], lines.append) == 1
    assert lines[len(CHECKS) + 1].startswith("fail  text, whole")


def test_the_command_takes_a_key_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no key stands in a history of commands."""
    monkeypatch.setenv("SOME_KEY", "sesame")
    with Upstream("ollama", models=frozenset({"m"}), key="sesame").serving() as url:
        assert main(["--url", url, "--dialect", "ollama", "--model", "m", "--key", "$SOME_KEY"], lambda _: None) == 0


def test_the_command_sends_headers_of_ones_own() -> None:
    """A gateway may name its upstream by one: here it is the credential."""
    with Upstream("ollama", models=frozenset({"m"}), key="sesame").serving() as url:
        arguments = ["--url", url, "--dialect", "ollama", "--model", "m"]
        assert main(arguments, lambda _: None) == 1
        assert main([*arguments, "--header", "X-API-Key: sesame"], lambda _: None) == 0
