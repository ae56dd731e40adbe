"""What happens is seen without being asked for: logger, notes of the command, printed replies, help, errors' words.

Servers on loopback answer; the command runs in processes of its own.
"""

from __future__ import annotations

import inspect
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import interlingua as il
import interlingua.compat
from interlingua.client.keywords import Options
from interlingua.testing import FakeModel, tool_call, use
from tests.support.chat_server import KEY, chat_serving

REPLY = il.Response(
    parts=(il.TextPart("Private answer."),),
    finish_reason="stop",
    usage=il.Usage(input_tokens=1_000, output_tokens=500),
    model="m",
)
BUSY = il.OverloadedError("no capacity", status=503)


def _lines(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_a_failover_is_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """INFO: which target failed, with what, and which is asked instead; no content and no key."""
    caplog.set_level(logging.INFO, "interlingua")
    with chat_serving(BUSY) as first, chat_serving(REPLY) as second:
        monkeypatch.setenv("LLM_FIRST", first.dsn)
        monkeypatch.setenv("LLM_SECOND", second.dsn)
        model = il.model("first/m,second/m", retries=0)
        assert model.generate("Private question?").model == "second/m"
        for _ in range(4):
            model.generate("Private question?")
    told = _lines(caplog, logging.INFO)
    assert told[0] == "first/m: 503 no capacity; falling back to second/m"
    assert any(line.startswith("the circuit breaker of first/m opens for ") for line in told)
    assert any(line.startswith("first/m is skipped: circuit breaker open") for line in told)
    assert not any(word in line for line in told for word in ("Private", KEY))
    assert _lines(caplog, logging.DEBUG) == []


async def test_each_call_is_a_line_for_those_who_debug(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """DEBUG: one line for the request, one for the answer, in both faces; of a failure its class and status."""
    caplog.set_level(logging.DEBUG, "interlingua")
    with chat_serving(REPLY, REPLY, BUSY) as server:
        monkeypatch.setenv("LLM_WORK", f"{server.dsn}&price_in=1&price_out=2")
        il.model("work/m").generate("Private question?")
        async with il.aio.model("work/m").stream("Private question?") as stream:
            await stream.finish()
        with pytest.raises(il.OverloadedError):
            il.model("work/m", retries=0).generate("Private question?")
    told = [line.partition(" ")[2] for line in _lines(caplog, logging.DEBUG)]
    assert [told[0], told[2], told[4]] == ["calls work/m", "calls work/m for a stream", "calls work/m"]
    assert told[1].startswith("is answered by work/m after ")
    assert told[1].endswith(" s: stop, 1000 tokens in, 500 out, $0.002")
    assert told[3].endswith(" s: stop, 1000 tokens in, 500 out, $0.002")
    assert told[5].startswith("failed after ")
    assert told[5].endswith(" s: OverloadedError 503")
    assert not any(word in line for line in told for word in ("Private", KEY))


def test_nothing_is_logged_unasked(caplog: pytest.LogCaptureFixture) -> None:
    """A level that is taken back is taken back."""
    with use(FakeModel(["a", "b", "c"])):
        caplog.set_level(logging.DEBUG, "interlingua")
        il.model("openai/m").generate("Hi")
        caplog.set_level(logging.WARNING, "interlingua")
        caplog.clear()
        il.model("openai/m").generate("Hi")
    assert caplog.records == []


def test_a_bound_that_ends_a_run_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """INFO: the budget's name."""
    caplog.set_level(logging.INFO, "interlingua")
    tool = il.Tool(name="again", description="Again.", parameters={"type": "object"}, handler=lambda: "more")
    with use(FakeModel([tool_call("again")] * 3)):
        run = il.Agent("openai/m", tools=[tool], max_steps=2).run("Go.")
    assert run.stop_reason == "max_steps"
    assert "a run ended after 2 steps: max_steps" in _lines(caplog, logging.INFO)


def _il(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "interlingua", *arguments],
        env={**os.environ, "INTERLINGUA_HOME": str(home), **environ},
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_the_command_tells_failovers_and_the_cost(tmp_path: Path) -> None:
    """One note for each target that was left, on stderr; `--usage` has the price; `-q` leaves the notes out."""
    with chat_serving(BUSY) as first, chat_serving(REPLY) as second:
        environ = {
            "LLM_FIRST": first.dsn,
            "LLM_SECOND": f"{second.dsn}&price_in=1&price_out=2",
            "LLM_BOTH": "first/m,second/m",
        }
        arguments = ("ask", "-m", "both", "--usage", "--option", "retries=0", "Hi")
        told = _il(tmp_path, *arguments, **environ)
        quiet = _il(tmp_path, *arguments, "-q", **environ)
    usage = "usage: 1000 input tokens, 500 output tokens, $0.002; second/m"
    assert told.stderr.splitlines() == ["il: first/m: 503 no capacity; falling back to second/m", usage]
    assert quiet.stderr.splitlines() == [usage]
    assert (told.stdout, quiet.stdout) == ("Private answer.\n", "Private answer.\n")


async def test_counts_are_always_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer without counts has `usage` all the same, whole and streamed, in both faces."""
    with chat_serving(il.Response(parts=REPLY.parts, finish_reason="stop", model="m")) as server:
        monkeypatch.setenv("LLM_WORK", server.dsn)
        model, awaited = il.model("work/m"), il.aio.model("work/m")
        with model.stream("Hi") as stream:
            streamed = stream.finish()
        replies = [model.generate("Hi"), streamed, await awaited.generate("Hi"), await awaited.stream("Hi").finish()]
    assert [reply.usage for reply in replies] == [il.Usage()] * 4
    assert replies[0] == replies[1]


def test_a_printed_reply_is_its_text() -> None:
    """`print(reply)` and `print(message)`; what says nothing is shown as a value."""
    with use(FakeModel(["Hello.", tool_call("f")])):
        reply = il.model("openai/m").generate("Hi")
        called = il.model("openai/m").generate("Hi", tools=[il.Tool(name="f")])
    assert (str(reply), f"{reply.message}") == ("Hello.", "Hello.")
    assert str(called) == repr(called)


@pytest.mark.parametrize("face", [il.Model, il.aio.Model])
def test_help_lists_every_option(face: type) -> None:
    """`help(model.generate)`, and the docstring that an editor shows: each option once, and nothing else."""
    told = inspect.getdoc(getattr(face, "generate")) or ""  # noqa: B009 - either face has it
    block = told.partition("take as well:\n")[2].partition("\n\n")[0]
    names = [word for line in block.splitlines() for word in line.partition(": ")[2].split()]
    assert sorted(names) == sorted(Options.__annotations__)


@pytest.mark.parametrize(
    ("place", "name", "sentence"),
    [
        ("reply", "content", "'Response' object has no attribute 'content': text is what it says, parts is everything"),
        ("reply", "choices", "'Response' object has no attribute 'choices': text is what it says, alternatives has"),
        ("reply", "nonsense", "'Response' object has no attribute 'nonsense'$"),
        ("usage", "prompt_tokens", "'Usage' object has no attribute 'prompt_tokens': it is called input_tokens"),
        (
            "message",
            "content",
            "'Message' object has no attribute 'content': text is what it says, parts is everything",
        ),
        ("call", "function", "'ToolCall' object has no attribute 'function': name and arguments are"),
        ("model", "invoke", "'Model' object has no attribute 'invoke': generate asks"),
        ("awaited", "chat", "'AsyncModel' object has no attribute 'chat': generate asks, history= goes on"),
        ("il", "completion", "'interlingua' has no attribute 'completion': il.model"),
        ("aio", "completion", "'interlingua.aio' has no attribute 'completion': il.model"),
        ("compat", "Router", "no attribute 'Router': a chain 'a/b,c/d' as the model's name"),
    ],
)
def test_words_of_other_libraries_lead_to_ours(place: str, name: str, sentence: str) -> None:
    """An AttributeError that names what there is; `hasattr` says no."""
    with use(FakeModel("Hello.")):
        reply = il.model("openai/m").generate("Hi")
    places = {
        "reply": reply,
        "usage": reply.usage,
        "message": reply.message,
        "call": il.ToolCall("1", "f", "{}"),
        "model": il.model("a/b"),
        "awaited": il.aio.model("a/b"),
        "il": il,
        "aio": il.aio,
        "compat": interlingua.compat,
    }
    with pytest.raises(AttributeError, match=sentence):
        getattr(places[place], name)
    assert not hasattr(places[place], name)


def test_a_command_line_has_no_header_that_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is neither there nor needed has no header in `curl()`; one that is there names its variable."""
    model = il.model("ollama/qwen3")
    assert "authorization" not in model.explain("Hi").curl()
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    assert '-H "authorization: Bearer $OLLAMA_API_KEY"' in model.explain("Hi").curl()
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert '-H "x-goog-api-key: $GOOGLE_API_KEY"' in il.model("google/m").explain("Hi").curl()


def test_an_mcp_server_that_dies_at_its_start_is_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    """The last line that it wrote and its command line, without a secret; its traceback is not shown."""
    command = f"{sys.executable} -c 'import no_such_module' --api-key secret-12345"
    with pytest.raises(il.APIConnectionError) as caught:
        il.mcp(command).open()
    assert str(caught.value) == (
        "MCP server python could not be opened: ModuleNotFoundError: No module named 'no_such_module' "
        f"(started as `{sys.executable} -c 'import no_such_module' --api-key ***`)"
    )
    assert capfd.readouterr().err == ""
