"""Calls with media: fitted for each target of the chain, off the event loop, with every change on the answer."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import threading
import warnings
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.media import plan
from interlingua.wire.http import HttpReply
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunk, scripted, sse
from tests.support.pictures import ACCEPTED, FAULTY

pytest.importorskip("pillow_heif")

MADE = {name: make for made in ACCEPTED.values() for name, make in made.items()}
PHOTO = il.image(MADE["heic-orientation-6"]())

faces = pytest.mark.parametrize("face", [BLOCKING, AWAITED], ids=["blocking", "awaited"])


def sent(body: bytes) -> list[str]:
    """The data URLs of the images of a Chat request."""
    content = json.loads(body)["messages"][-1]["content"]
    return [part["image_url"]["url"] for part in content if part["type"] == "image_url"]


def answered(body: dict[str, Any]) -> HttpReply:
    """A whole reply of another dialect."""
    return HttpReply(status=200, headers=(("content-type", "application/json"),), body=json.dumps(body).encode())


@faces
def test_r44_a_photo_is_converted_for_the_target(face: Face) -> None:
    """It goes out as JPEG; the answer says what was done to it, and holds the caller's own request."""
    with scripted(chat("A slope.")) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1"), ["What is it?", PHOTO])
    [url] = sent(script.requests[0].body)
    assert url.startswith("data:image/jpeg;base64,")
    assert base64.b64decode(url.partition(",")[2]).startswith(b"\xff\xd8\xff")
    assert [(change.code, change.stage, change.path) for change in reply.changes] == [
        ("image_transcoded", "media", "/messages/0/parts/1")
    ]
    assert reply.request is not None
    assert reply.request.messages[0].parts[1] == PHOTO


@faces
def test_r44_a_streamed_call_is_fitted_as_well(face: Face) -> None:
    """The end of the stream tells the changes."""
    pieces = [chunk({"role": "assistant", "content": "A slope."}), chunk({}, "stop"), b"data: [DONE]\n\n"]
    with scripted(sse(*pieces)) as script:
        reply = face.finish(face.model("openai-chat/gpt-4.1").stream(["What is it?", PHOTO]))
    assert sent(script.requests[0].body)[0].startswith("data:image/jpeg;base64,")
    assert [change.code for change in reply.changes] == ["image_transcoded"]


@faces
def test_what_needs_nothing_goes_out_as_it_is(face: Face) -> None:
    """Byte for byte, without a change."""
    data = MADE["jpeg-orientation-1"]()
    with scripted(chat("A slope.")) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1"), [il.image(data)])
    assert sent(script.requests[0].body) == [f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"]
    assert reply.changes == ()


def test_images_are_converted_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a thread of their own, while the loop goes on; the blocking face works where it is called."""
    threads: list[str] = []
    real = plan.convert

    def watched(*given: Any) -> Any:
        threads.append(threading.current_thread().name)
        return real(*given)

    monkeypatch.setattr(plan, "convert", watched)
    monkeypatch.setattr(plan, "_KEPT", plan.KeptImages())

    async def call() -> None:
        await aio.model("openai-chat/gpt-4.1").generate([PHOTO])

    with scripted(chat(), chat()):
        asyncio.run(call())
        monkeypatch.setattr(plan, "_KEPT", plan.KeptImages())
        il.model("openai-chat/gpt-4.1").generate([PHOTO])
    assert threads[0] != threading.main_thread().name
    assert threads[1] == threading.current_thread().name


@pytest.mark.parametrize(
    "name", ["jpeg-orientation-6", "png-orientation-3", "webp-orientation-8", "heic-orientation-6"]
)
def test_r44_what_is_sent_is_upright_and_of_the_type_that_its_bytes_say(name: str) -> None:
    """The caller says a wrong type and a turned picture; a target gets one that it takes, turned, within its sides."""
    image = pytest.importorskip("PIL.Image")
    with scripted(chat()) as script:
        il.model("openai-chat/gpt-4.1").generate([il.ImagePart(MADE[name](), "image/gif")])
    [url] = sent(script.requests[0].body)
    head, _, data = url.partition(";base64,")
    picture = image.open(io.BytesIO(base64.b64decode(data)))
    assert head == f"data:image/{picture.format.lower()}"
    assert head != "data:image/gif"
    assert picture.getexif().get(0x0112, 1) == 1
    assert picture.size == (120, 80)


@faces
def test_r44_a_target_that_cannot_take_an_image_is_passed_over_without_penalty(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often: it is asked again at once when there is no image."""

    def no(media_type: str) -> bool:
        return False

    monkeypatch.setattr(plan, "can_convert", no)
    answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}
    model = face.model("openai-chat/gpt-4.1,google/gemini-2.5-pro")
    with scripted(*[answered(answer)] * 3, chat("Hello.")) as script:
        for _ in range(3):
            face.generate(model, ["What?", PHOTO])
        assert face.generate(model, "Hi").model == "openai-chat/gpt-4.1"
    assert len(script.requests) == 4
    assert il.health.snapshot() == {}


@faces
def test_r44_a_chain_goes_on_where_a_target_cannot_take_the_image(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra only the second target takes HEIC; the first is skipped, not failed."""

    def no(media_type: str) -> bool:
        return False

    monkeypatch.setattr(plan, "can_convert", no)
    answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}
    with scripted(answered(answer)) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1,google/gemini-2.5-pro"), ["What?", PHOTO])
    assert len(script.requests) == 1
    assert [(attempt.model, attempt.outcome) for attempt in reply.attempts] == [
        ("openai-chat/gpt-4.1", "skipped"),
        ("google/gemini-2.5-pro", "served"),
    ]
    assert "pip install 'interlingua[media]'" in (reply.attempts[0].error or "")


@faces
def test_r45_a_broken_image_ends_the_chain(face: Face) -> None:
    """It is the caller's fault: nobody is asked."""
    part = il.ImagePart(FAULTY["jpeg-cut"](), "image/jpeg")
    with scripted() as script, pytest.raises(il.UsageError, match="the image/jpeg file is cut off"):
        face.generate(face.model("openai-chat/gpt-4.1,groq/llama-4-scout"), [part])
    assert script.requests == []


@faces
def test_strict_refuses_to_change_an_image(face: Face) -> None:
    """Whatever would be approximated is refused; what needs nothing is sent."""
    model = face.model("openai-chat/gpt-4.1", strict=True)
    with scripted(chat()) as script:
        with pytest.raises(
            il.UnsupportedError, match=r"as it is \(strict\): approximated /messages/0/parts/0: image/heic"
        ):
            face.generate(model, [PHOTO])
        face.generate(model, [il.image(MADE["png-alpha"]())])
    assert len(script.requests) == 1


@faces
def test_the_caller_is_warned_where_the_full_image_cannot_be_sent(face: Face) -> None:
    """That is the one thing that the caller asked for; other changes are told on the answer alone."""
    wide = MADE["jpeg-9000x200"]()
    with scripted(chat(), chat()):
        model = face.model("xai/grok-4")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            face.generate(model, [il.image(wide), PHOTO])
            face.generate(model, [il.image(wide, detail="full")])
    body = {"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn", "role": "assistant"}
    told = {**body, "id": "msg_1", "type": "message", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}
    with scripted(answered(told)):
        model = face.model("anthropic/claude-opus-5")
        with pytest.warns(il.ChangeWarning, match="9000 x 200 px are 8000 x 177 px") as caught:
            face.generate(model, [il.image(wide, detail="full")])
    assert caught[0].filename.endswith(("test_media.py", "client.py"))


def test_explain_shows_what_would_be_sent() -> None:
    """The body holds the converted image, and the change is among those of the target."""
    explained = il.model("openai-chat/gpt-4.1").explain([PHOTO])
    assert explained.http is not None
    assert sent(explained.http.body)[0].startswith("data:image/jpeg;base64,")
    assert [change.code for change in explained.changes] == ["image_transcoded"]
    assert explained.request.messages[0].parts == (PHOTO,)


def test_explain_says_why_a_target_is_skipped() -> None:
    """The reason is the sentence that the call would end in."""
    explained = il.model("openai-chat/gpt-4.1").explain([il.ImagePart(b"", "image/png")])
    assert explained.targets[0].reason == "/messages/0/parts/0: the image is empty"


@faces
def test_images_of_tools_are_fitted(face: Face) -> None:
    """What a tool gives goes the same way."""
    call = il.assistant(il.ToolCall("call_1", "look", "{}"))
    result = il.ToolResult("call_1", "look", (il.TextPart("This:"), PHOTO))
    history = [il.user("Look."), call, il.Message("tool", (result,))]
    with scripted(chat("A slope.")) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1"), history)
    assert [url.partition(",")[0] for url in sent(script.requests[0].body)] == ["data:image/jpeg;base64"]
    assert [(change.code, change.path) for change in reply.changes] == [
        ("image_transcoded", "/messages/2/parts/0/content/1"),
        ("result_media_moved", "/messages/2/parts/0/content"),
    ]
