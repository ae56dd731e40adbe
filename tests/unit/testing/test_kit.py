"""The kit under real models of both faces: fakes, tapes and drills are what the code under test meets."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import interlingua as il
from interlingua import aio
from interlingua.testing import NetworkForbiddenError, TapeMissError, cassette, faults, no_network, tool_call, use


def test_a_model_made_before_is_the_fake() -> None:
    """A model that exists already, and one whose name nothing defines, are the fake; no key is needed."""
    model = il.model("openai/gpt-5.6")
    with no_network(), use(["One.", "Two."]) as fake:
        assert model.generate("Hi").text == "One."
        assert il.model("nobody/knows", system="Be terse.").generate("Hi").text == "Two."
    assert fake.models == ["openai/gpt-5.6", "nobody/knows"]
    assert [part.text for part in fake.last_request.system] == ["Be terse."]


def test_a_model_without_a_name_is_the_fake() -> None:
    """Not even `INTERLINGUA_MODEL` has to be set."""
    with use("Yes."):
        assert il.model().generate("Hi").text == "Yes."


def test_threads_meet_the_fake() -> None:
    """A thread of the code under test meets the same fake."""
    found: list[str] = []
    with use("Yes."):
        thread = threading.Thread(target=lambda: found.append(il.model("a/b").generate("Hi").text))
        thread.start()
        thread.join()
    assert found == ["Yes."]


async def test_the_twin_meets_the_fake() -> None:
    """Awaited models, whole and streamed, meet it as well."""
    with use([tool_call("get_weather", city="Oslo"), "One two."]):
        model = aio.model("openai/gpt-4o")
        reply = await model.generate("Weather?", tools=[il.Tool(name="get_weather")])
        assert [call.arguments for call in reply.tool_calls] == [{"city": "Oslo"}]
        async with model.stream("Hi") as stream:
            assert [piece async for piece in stream.text_stream] == ["One ", "two."]


def test_a_scripted_error_is_raised() -> None:
    """A provider's error in the script is the error that the code has to deal with."""
    with use([il.RateLimitError("Slow down.", status=429)]), pytest.raises(il.RateLimitError, match="Slow down"):
        il.model("openai/gpt-4o").generate("Hi")


def test_a_stream_is_cut_with_what_came() -> None:
    """A drill that cuts the connection in a stream leaves an incomplete stream with its beginning."""
    with use("One two three four."), faults({"openai/*": "truncate:500"}):
        stream = il.model("openai/gpt-4o").stream("Count.")
        with pytest.raises(il.IncompleteStreamError) as caught:
            stream.finish()
    assert caught.value.partial is not None
    assert "One two three four.".startswith(caught.value.partial.text)


def test_a_tape_replays_for_another_model(tmp_path: Path) -> None:
    """A conversation recorded with one model replays with another, and knobs do not matter."""
    tape = tmp_path / "tape.json"

    def main(name: str, temperature: float | None = None) -> list[str]:
        model = il.model(name)
        first = model.generate("Hi", temperature=temperature)
        return [first.text, model.generate("And?", history=first, temperature=temperature).text]

    with use(["One.", "Two."]), cassette(tape):
        recorded = main("openai/gpt-4o")
    with no_network(), cassette(tape):
        assert main("groq/llama-4", temperature=0.5) == recorded
        with pytest.raises(TapeMissError):
            il.model("openai/gpt-4o").generate("Something else")


def test_without_a_stand_in_the_network_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under `no_network` alone a call fails at once, with the host in the sentence."""
    monkeypatch.setenv("LLM_NEAR", "openai-chat://key@127.0.0.1:9/v1?tls=0")
    with no_network(loopback=False), pytest.raises(NetworkForbiddenError, match=r"127\.0\.0\.1"):
        il.model("near/model").generate("Hi")


async def test_without_a_stand_in_the_twin_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for awaited calls."""
    monkeypatch.setenv("LLM_NEAR", "openai-chat://key@127.0.0.1:9/v1?tls=0")
    with no_network(loopback=False), pytest.raises(NetworkForbiddenError, match=r"127\.0\.0\.1"):
        await aio.model("near/model").generate("Hi")


def test_the_fake_provider_answers_by_itself() -> None:
    """`fake/…` needs nothing at all, and says that it is no model."""
    with no_network():
        assert il.model("fake/any").generate("Hi").text.startswith("This is the fake of interlingua, not a model.")
