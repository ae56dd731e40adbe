"""Cassettes: recorded once, scrubbed, replayed through any dialect, strict about what they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlingua.errors import ConfigError, IncompleteStreamError, RateLimitError
from interlingua.testing import FakeModel, TapeMissError, cassette, tool_call, use
from interlingua.testing.tape import request_members
from interlingua.transport.base import Timeouts
from interlingua.transport.override import overridden, overridden_async
from interlingua.types.content import TextPart, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpRequest
from tests.support.asking import ask, ask_async, chat_request

WEATHER = Tool(name="get_weather", description="Weather.")


def _transport() -> Any:
    inner: Any = None
    return overridden(inner)


def _conversation(call_id: str) -> Request:
    call = tool_call("get_weather", call_id=call_id, city="Oslo")
    result = Message("tool", (ToolResult(call_id, "get_weather", "4 degrees"),))
    return Request(messages=(user("Weather?"), assistant(call), result), tools=(WEATHER,))


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    """A place for a tape, in a folder that is not there yet."""
    return tmp_path / "tapes" / "oslo.json"


@pytest.mark.parametrize("streams", [(False, False), (True, True), (False, True), (True, False)])
def test_it_records_once_and_replays(tape: Path, streams: tuple[bool, bool]) -> None:
    """What was recorded whole or streamed comes back whole or streamed, without the provider."""
    recorded, replayed = streams
    with use([tool_call("get_weather", city="Oslo"), "4 degrees."]), cassette(tape):
        first = ask(_transport(), Request(messages=(user("Weather?"),), tools=(WEATHER,)), stream=recorded)
        second = ask(_transport(), _conversation("call_0"), stream=recorded)
    with cassette(tape):
        again = ask(_transport(), Request(messages=(user("Weather?"),), tools=(WEATHER,)), stream=replayed)
        assert (again.parts, again.finish_reason, again.usage) == (first.parts, first.finish_reason, first.usage)
        assert ask(_transport(), _conversation("call_0"), stream=replayed).parts == second.parts


async def test_the_awaited_face_records_and_replays(tape: Path) -> None:
    """Awaited calls are recorded and replayed as well."""
    inner: Any = None
    fake = FakeModel("Fine.")
    for _ in range(2):
        with use(fake), cassette(tape):
            assert (await ask_async(overridden_async(inner), "Hi", stream=True)).text == "Fine."
    assert len(fake.requests) == 1


def test_ids_and_knobs_do_not_count(tape: Path) -> None:
    """A request is found although its call ids, its knobs and its model are others."""
    with use("4 degrees."), cassette(tape):
        ask(_transport(), _conversation("call_0"))
    with cassette(tape):
        request = _conversation("a1B2c3D4e")
        assert ask(_transport(), request, model="mistral/small").text == "4 degrees."


def test_the_tape_is_canonical_and_readable(tape: Path) -> None:
    """The file is indented canonical JSON, ends with a newline, and holds no header."""
    with use("Grüße."), cassette(tape):
        ask(_transport(), "Hi")
    text = tape.read_text(encoding="utf-8")
    document = json.loads(text)
    assert text == json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    [exchange] = document["exchanges"]
    assert (document["interlingua"], document["kind"]) == (1, "cassette")
    assert exchange["model"] == "openai/gpt-4o"
    assert exchange["request"] == {"messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}
    assert exchange["answer"]["response"]["parts"] == [{"type": "text", "text": "Grüße."}]


def test_secrets_are_scrubbed(tape: Path) -> None:
    """What looks like a key is starred out, and what the caller's own function finds; the replay still matches."""
    question = "My key is sk-proj-abcdefghijklmnop and my name is Ada."
    with use("Your key is sk-proj-abcdefghijklmnop."), cassette(tape, scrub=lambda text: text.replace("Ada", "NAME")):
        ask(_transport(), question)
    assert "sk-proj" not in tape.read_text()
    assert "my name is NAME" in tape.read_text()
    with cassette(tape, scrub=lambda text: text.replace("Ada", "NAME")):
        assert ask(_transport(), question).text == "Your key is ***."


def test_a_miss_shows_the_nearest(tape: Path) -> None:
    """A request that is not on the tape names the exchange nearest to it and the first difference."""
    with use("Fine."), cassette(tape):
        ask(_transport(), "Weather in Oslo?")
        ask(_transport(), Request(messages=(user("Quite"), assistant("another"), user("thing"))))
    with cassette(tape), pytest.raises(TapeMissError) as caught:
        ask(_transport(), "Weather in Bergen?")
    assert caught.value.message == (
        f"{tape} has no such request to openai/gpt-4o; the nearest is exchange 0, where "
        "/messages/0/parts/0/text: 'Weather in Oslo?' != 'Weather in Bergen?'; "
        "record it anew with INTERLINGUA_CASSETTE=record"
    )


def test_an_answer_is_given_once(tape: Path) -> None:
    """The same question gets its recorded answers in order, and not one more."""
    with use(["One.", "Two."]), cassette(tape):
        assert [ask(_transport(), "Hi").text for _ in range(2)] == ["One.", "Two."]
    with cassette(tape):
        assert [ask(_transport(), "Hi").text for _ in range(2)] == ["One.", "Two."]
        with pytest.raises(TapeMissError, match="once more than was recorded"):
            ask(_transport(), "Hi")


def test_errors_are_recorded(tape: Path) -> None:
    """A provider's error and a cut stream come back as what they were."""
    partial = Response[Any](parts=(TextPart("Hel"),))
    with use([RateLimitError("Slow down.", status=429), IncompleteStreamError("cut", partial=partial)]), cassette(tape):
        with pytest.raises(RateLimitError):
            ask(_transport(), "Hi")
        with pytest.raises(IncompleteStreamError):
            ask(_transport(), "Hi", stream=True)
    with cassette(tape):
        with pytest.raises(RateLimitError, match=r"Slow down\."):
            ask(_transport(), "Hi")
        with pytest.raises(IncompleteStreamError) as caught:
            ask(_transport(), "Hi", stream=True)
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Hel"


def test_a_failed_block_writes_nothing(tape: Path) -> None:
    """A recording that ended in an exception is not kept."""

    def fail() -> None:
        with use("Fine."), cassette(tape):
            ask(_transport(), "Hi")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not tape.exists()


def test_an_unread_reply_is_no_exchange(tape: Path) -> None:
    """A reply that was closed before anything was read is not recorded."""
    with use("Fine."), cassette(tape):
        _transport().open(chat_request("Hi"), Timeouts()).close()
    assert json.loads(tape.read_text())["exchanges"] == []


def test_modes(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`replay` needs a tape, `none` touches none, `record` writes anew, the environment decides, nonsense is said."""
    with pytest.raises(ConfigError, match="no tape at"), cassette(tape, "replay"):
        pass
    monkeypatch.setenv("INTERLINGUA_CASSETTE", "none")
    with use("Fine."), cassette(tape):
        ask(_transport(), "Hi")
    assert not tape.exists()
    monkeypatch.setenv("INTERLINGUA_CASSETTE", "record")
    for answer in ("One.", "Two."):
        with use(answer), cassette(tape):
            ask(_transport(), "Hi")
    assert "Two." in tape.read_text()
    assert "One." not in tape.read_text()
    monkeypatch.setenv("INTERLINGUA_CASSETTE", "rewind")
    with pytest.raises(ConfigError, match="INTERLINGUA_CASSETTE=rewind"), cassette(tape):
        pass


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_broken_tape_is_said(tape: Path, text: str) -> None:
    """A file that is no tape is a ConfigError, not a crash."""
    tape.parent.mkdir()
    tape.write_text(text)
    with pytest.raises(ConfigError, match="is no tape"), cassette(tape):
        pass


def test_an_empty_tape_says_so(tape: Path) -> None:
    """A tape without exchanges has no nearest one."""
    with use("Fine."), cassette(tape):
        pass
    with cassette(tape), pytest.raises(TapeMissError, match="is empty"):
        ask(_transport(), "Hi")


def test_a_request_without_a_dialect_cannot_be_recorded(tape: Path) -> None:
    """A body of unknown shape has no canonical form."""
    with use("Fine."), cassette(tape) as listening, pytest.raises(ConfigError, match="names no dialect"):
        listening.record(HttpRequest(url="https://x.example/"), _reply())


def _reply() -> Any:
    return None


def test_what_a_request_is_found_by() -> None:
    """Arguments count by value, ids by order; caches, seals and extras not at all."""
    call: dict[str, Any] = {
        "type": "tool_call",
        "id": "x",
        "name": "t",
        "arguments_json": '{"a": 1}',
        "extra": {"d": {}},
    }
    result = {"type": "tool_result", "call_id": "x", "name": "t", "content": "y", "cache": "auto"}
    request: dict[str, Any] = {"temperature": 1, "messages": [{"role": "assistant", "parts": [call, result]}]}
    assert request_members(request) == {
        "messages": [
            {
                "role": "assistant",
                "parts": [
                    {"type": "tool_call", "id": "call 0", "name": "t", "arguments_json": {"a": 1}},
                    {"type": "tool_result", "call_id": "call 0", "name": "t", "content": "y"},
                ],
            }
        ]
    }


def test_a_fake_under_a_tape_is_asked_once(tape: Path) -> None:
    """While a tape replays, nothing underneath is asked."""
    fake = FakeModel("Fine.")
    for _ in range(2):
        with use(fake), cassette(tape):
            ask(_transport(), "Hi")
    assert len(fake.requests) == 1
