"""Plans: what of the media of a request is done for a target, what is refused, and that others pay nothing."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image

import interlingua as il
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Facts, Target
from interlingua.dialects.table import get_dialect
from interlingua.media import convert, plan
from interlingua.media.fit import has_media, plan_media
from interlingua.providers.media_limits import MediaLimits
from interlingua.registry.endpoint import Endpoint
from interlingua.registry.resolve import Registry
from interlingua.types.content import Sealed
from interlingua.types.request import Request
from interlingua.wire.http import HttpRequest
from tests.support.pictures import ACCEPTED, reference
from tests.support.steps import steps_of
from tests.support.tiny import PNG

pytest.importorskip("pillow_heif")

REGISTRY = Registry(environ={})
PATHS = {"google": "/v1beta/models/m:generateContent"}
"""Where a request is sent, for dialects that name the model there."""
TO_SOMEBODY = EncodeOptions(target=Target(model="m"))
MADE = {name: make for made in ACCEPTED.values() for name, make in made.items()}


@cache
def endpoint(spec: str = "openai-chat/gpt-4.1") -> Endpoint:
    """The endpoint of a target."""
    return REGISTRY.resolve(spec)[0]


@cache
def jpeg(name: str = "jpeg-orientation-1") -> il.ImagePart:
    """An image in a good format, the same object each time."""
    return il.image(MADE[name]())


def planned(
    *parts: Any, spec: str = "openai-chat/gpt-4.1", allow: frozenset[Any] = frozenset()
) -> plan.MediaPlan | None:
    """The plan of one user message."""
    return plan_media(Request(messages=(il.user(*parts),)), endpoint(spec), allow)


def done(found: plan.MediaPlan | None) -> tuple[Request, list[tuple[str, str, str]]]:
    """What a plan comes to: the request, and each change as action, code and path."""
    assert found is not None
    request, changes = found.run()
    return request, [(change.action, change.code, change.path) for change in changes]


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if neither Pillow nor pillow-heif were installed."""

    def no(media_type: str) -> bool:
        return False

    monkeypatch.setattr(plan, "can_convert", no)


def _limited(monkeypatch: pytest.MonkeyPatch, limits: MediaLimits) -> None:
    """Give every target these limits."""

    def found(family: str, model: str) -> MediaLimits:
        return limits

    monkeypatch.setattr(plan, "media_limits", found)


# Who has no media


def conversation(turns: int) -> tuple[il.Message, ...]:
    """A conversation with calls and results, without media."""
    call = il.ToolCall("call_1", "weather", "{}")
    turn = (
        il.user("Hello."),
        il.assistant("One moment.", call),
        il.Message("tool", (il.ToolResult("call_1", "weather", "rain"),)),
    )
    return turn * turns


def test_without_media_there_is_no_plan() -> None:
    """Texts, calls and results of text need nothing."""
    messages = conversation(4)
    assert not has_media(messages)
    assert plan_media(Request(messages=messages), endpoint()) is None


def test_without_media_a_plan_costs_next_to_nothing() -> None:
    """Each part is looked at in some twenty steps of the interpreter, which is less than 0.1 µs."""
    messages = conversation(4)[:10]
    parts = sum(len(message.parts) for message in messages)
    assert steps_of(lambda: has_media(messages)) < 30 * parts


@pytest.mark.parametrize(
    "dialect", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified"]
)
def test_images_of_a_client_are_seen_each_time(dialect: str) -> None:
    """However often a client sends a conversation, in whatever dialect."""
    image = il.ImagePart(PNG, "image/png")
    call = il.ToolCall("call_1", "look", "{}")
    result = il.ToolResult("call_1", "look", (il.TextPart("This:"), image))
    talk = il.user("Tell me a long story. " * 20)
    own = get_dialect(dialect)
    for messages in ((talk, il.user(image)), (talk, il.assistant(call), il.Message("tool", (result,)))):
        tool = il.Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
        body = own.encode_request(Request(messages=messages, tools=(tool,), max_tokens=9), TO_SOMEBODY).body
        for _ in range(4):
            asked = HttpRequest(url=f"http://test{PATHS.get(dialect, '/')}", body=body)
            assert has_media(own.decode_request(asked, DecodeOptions()).request.messages)


@pytest.mark.parametrize(
    "part",
    [jpeg(), il.AudioPart(b"ID3", "audio/mpeg"), il.DocumentPart(b"%PDF-1.7", "application/pdf")],
)
def test_media_are_found_in_messages_and_results(part: Any) -> None:
    """Directly, or in the content of a tool result."""
    result = il.ToolResult("call_1", "look", (il.TextPart("This:"), part))
    assert has_media((il.user("Hi."), il.user(part)))
    assert has_media((il.user("Hi."), il.Message("tool", (result,))))


# What passes


@pytest.mark.parametrize(
    "name", ["jpeg-orientation-1", "png-alpha", "png-palette", "png-16-bits", "webp-lossless", "gif"]
)
def test_what_is_within_the_limits_has_no_plan(name: str) -> None:
    """It goes out byte for byte, so that its encoding is the same in every turn."""
    assert planned(jpeg(name)) is None


@pytest.mark.usefixtures("without_extra")
@pytest.mark.parametrize("name", ["jpeg-orientation-1", "png-alpha", "webp-lossless", "jpeg-9000x200"])
def test_what_is_within_the_limits_needs_no_extra(name: str) -> None:
    """Not even what the target scales down itself."""
    assert planned(jpeg(name)) is None


@pytest.mark.parametrize("detail", ["full", "original"])
def test_the_full_image_is_not_scaled_down(detail: str) -> None:
    """Below the limits of the target; by default it is brought to what the target looks at."""
    large = MADE["jpeg-9000x200"]()
    assert planned(il.image(large, detail=detail)) is None
    request, changes = done(planned(il.image(large)))
    assert changes == [("approximated", "image_resized", "/messages/0/parts/0")]
    assert _size(request) == (2_048, 45)


def test_the_full_image_ends_at_the_limits() -> None:
    """Beyond them it is made smaller, and the code of its own says that the caller's word did not hold."""
    found = planned(il.image(MADE["jpeg-9000x200"](), detail="full"), spec="anthropic/claude-opus-5")
    request, changes = done(found)
    assert changes == [("approximated", "detail_adjusted", "/messages/0/parts/0")]
    assert _size(request) == (8_000, 177)


def _size(request: Request, message: int = 0, part: int = 0) -> tuple[int, int]:
    import io

    image = request.messages[message].parts[part]
    assert isinstance(image, il.ImagePart)
    return Image.open(io.BytesIO(image.data)).size


def test_an_image_with_sealed_state_is_left_alone() -> None:
    """It is its issuer's own; what the target would refuse is converted all the same."""
    sealed = Sealed("google", {"thoughtSignature": "c2ln"}, "google")
    turned = il.ImagePart(MADE["jpeg-orientation-6"](), "image/jpeg", sealed=sealed)
    assert planned(turned, spec="google/gemini-3-pro") is None
    request, _ = done(planned(il.ImagePart(MADE["bmp"](), "image/bmp", sealed=sealed), spec="google/gemini-3-pro"))
    part = request.messages[0].parts[0]
    assert isinstance(part, il.ImagePart)
    assert (part.media_type, part.sealed) == ("image/png", sealed)


def _knowing(facts: Facts, spec: str = "openai-chat/gpt-4.1") -> Endpoint:
    """A target of which something else is known."""
    return replace(endpoint(spec), target=replace(endpoint(spec).target, facts=facts))


def test_a_model_that_takes_no_images_is_the_encoders_business() -> None:
    """Nothing is converted for it."""
    request = Request(messages=(il.user(il.image(MADE["bmp"]())),))
    assert plan_media(request, _knowing(Facts(images=False))) is None


# The extra is missing


@pytest.mark.usefixtures("without_extra")
def test_what_needs_the_extra_is_refused_without_it() -> None:
    """The sentence names the image, why it cannot go, and the command."""
    with pytest.raises(il.UnsupportedError) as caught:
        planned("Look.", il.image(MADE["heic-orientation-1"]()))
    assert caught.value.message == (
        "openai-chat/gpt-4.1 cannot take /messages/0/parts/1 (image/heic is not taken, and the [media] extra, which "
        "would convert it, is not installed: pip install 'interlingua[media]')"
    )
    assert [(change.code, change.stage) for change in caught.value.changes] == [("images", "media")]


@pytest.mark.usefixtures("without_extra")
@pytest.mark.parametrize(
    ("name", "spec", "why"),
    [
        ("gif-animated", "openai-chat/gpt-4.1", "animated images are not taken"),
        ("jpeg-9000x200", "anthropic/claude-opus-5", "9,000 x 200 pixels are too many"),
        ("tiff-lzw", "anthropic/claude-opus-5", "image/tiff is not taken"),
        ("webp-lossless", "xai/grok-4", "image/webp is not taken"),
        ("large.png", "groq/llama-4-scout", r"\d{3},\d{3} bytes, and 570,000 are the most of an image"),
    ],
)
def test_the_refusal_says_why(name: str, spec: str, why: str) -> None:
    """Format, frames, sides or bytes."""
    data = MADE[name]() if name in MADE else noise(500, 400, "PNG")
    with pytest.raises(il.UnsupportedError, match=why):
        planned(il.image(data), spec=spec)


@pytest.mark.usefixtures("without_extra")
@pytest.mark.parametrize("name", ["jpeg-orientation-6", "jpeg-cmyk"])
def test_what_should_be_converted_goes_as_it_is_with_an_entry(name: str) -> None:
    """A turned photo is better than none; that it may be seen on its side is said."""
    request, changes = done(planned(jpeg(name)))
    assert changes == [("approximated", "image_as_given", "/messages/0/parts/0")]
    assert request.messages[0].parts[0] == jpeg(name)


@pytest.mark.usefixtures("without_extra")
def test_a_chain_goes_on_where_the_extra_is_missing() -> None:
    """The refusal is an UnsupportedError: Google takes HEIC as it is."""
    photo = il.image(MADE["heic-orientation-1"]())
    with pytest.raises(il.UnsupportedError):
        planned(photo)
    assert planned(photo, spec="google/gemini-2.5-pro") is None


def test_what_can_be_converted_is_asked_of_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow for most formats, pillow-heif for HEIC, neither without Pillow."""
    assert convert.can_convert("image/bmp")
    assert convert.can_convert("image/heic")
    convert.can_convert.cache_clear()
    missing = {"pillow_heif"}

    def find(name: str) -> object:
        return None if name in missing else object()

    monkeypatch.setattr(convert, "find_spec", find)
    assert convert.can_convert("image/bmp")
    assert not convert.can_convert("image/heic")
    convert.can_convert.cache_clear()
    missing.add("PIL")
    assert not convert.can_convert("image/bmp")
    convert.can_convert.cache_clear()


# Types that are wrong


def test_a_wrong_media_type_is_corrected() -> None:
    """The bytes decide; the rest of the part stays."""
    part = il.ImagePart(MADE["jpeg-orientation-1"](), "image/png", "high", "5m", extra={"openai-chat": {"a": 1}})
    found = planned(part)
    assert found is not None
    assert not found.heavy
    request, changes = done(found)
    assert changes == [("repaired", "media_type_corrected", "/messages/0/parts/0/media_type")]
    assert request.messages[0].parts[0] == il.ImagePart(
        part.data, "image/jpeg", "high", "5m", extra={"openai-chat": {"a": 1}}
    )


@pytest.mark.parametrize("spelling", ["image/jpg", "IMAGE/JPEG", "image/jpeg; q=1", "image/pjpeg"])
def test_another_spelling_of_a_type_is_no_correction(spelling: str) -> None:
    """It is told in the usual way, without an entry."""
    request, changes = done(planned(il.ImagePart(MADE["jpeg-orientation-1"](), spelling)))
    assert changes == []
    part = request.messages[0].parts[0]
    assert isinstance(part, il.ImagePart)
    assert part.media_type == "image/jpeg"


def test_an_image_of_another_kind_is_refused() -> None:
    """The sentence names the builder that takes it."""
    with pytest.raises(
        il.UsageError, match=r"^/messages/0/parts/0: the image is application/pdf; il.document\(…\) takes that$"
    ):
        planned(il.ImagePart(b"%PDF-1.7", "image/png"))


def test_an_image_in_an_unknown_format_is_not_supported() -> None:
    """Nobody here knows it, so the target is not asked either; the chain may go on."""
    with pytest.raises(il.UnsupportedError, match="image/jxl is not taken, and not known here"):
        planned(il.ImagePart(b"\xff\x0a\x00\x01", "image/jxl"))
    request, changes = done(planned(il.ImagePart(b"\xff\x0a\x00\x01", "image/jxl"), allow=frozenset({"images"})))
    assert changes == [("dropped", "images", "/messages/0/parts/0")]
    assert request.messages[0].text == "[image left out: image/jxl is not taken, and not known here]"


# Too many


@pytest.fixture
def three_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that takes three images."""
    _limited(monkeypatch, MediaLimits(max_images=3))


@pytest.mark.usefixtures("three_at_most")
def test_r44_too_many_images_are_refused() -> None:
    """The sentence says how many there are and how many are taken."""
    with pytest.raises(il.UnsupportedError, match="5 images, and 3 are the most in one request") as caught:
        planned(*[jpeg()] * 5)
    assert [change.path for change in caught.value.changes] == ["/messages/0/parts/0", "/messages/0/parts/1"]
    assert planned(*[jpeg()] * 3) is None


@pytest.mark.usefixtures("three_at_most")
def test_r44_the_oldest_become_a_note_where_images_may_be_let_go() -> None:
    """Each with an entry; images in tool results count, too."""
    result = il.ToolResult("call_1", "look", (il.TextPart("Both:"), jpeg(), jpeg()))
    messages = (il.user("One.", jpeg()), il.Message("tool", (result,)), il.user(jpeg(), jpeg()))
    found = plan_media(Request(messages=messages), endpoint(), frozenset({"images"}))
    request, changes = done(found)
    note = il.TextPart("[image left out: 5 images, and 3 are the most in one request]")
    assert changes == [
        ("dropped", "images", "/messages/0/parts/1"),
        ("dropped", "images", "/messages/1/parts/0/content/1"),
    ]
    assert request.messages[0].parts == (il.TextPart("One."), note)
    kept = request.messages[1].parts[0]
    assert isinstance(kept, il.ToolResult)
    assert kept.content == (il.TextPart("Both:"), note, jpeg())
    assert request.messages[2] is messages[2]


def test_a_crowd_of_images_makes_each_smaller() -> None:
    """Anthropic takes 8,000 pixels a side, and 2,000 in requests of more than twenty images."""
    wide = il.image(MADE["jpeg-9000x200"](), detail="full")
    small = il.image(MADE["png-1x1"]())
    request, _ = done(planned(wide, *[small] * 19, spec="anthropic/claude-opus-5"))
    assert _size(request) == (8_000, 177)
    request, _ = done(planned(wide, *[small] * 20, spec="anthropic/claude-opus-5"))
    assert _size(request) == (2_000, 44)


def test_there_is_a_bound_of_media_parts() -> None:
    """Four thousand, whatever a target takes."""
    with pytest.raises(il.UsageError, match="4,001 media parts, and 4,000 are the most"):
        planned(*[jpeg()] * 4_001, spec="together/any")


# Images of tool results


@pytest.mark.parametrize(
    "spec", ["openai-chat/gpt-4.1", "openai/gpt-5.5", "anthropic/claude-opus-5", "google/gemini-3-pro", "ollama/llava"]
)
def test_r44_images_in_tool_results_are_converted(spec: str) -> None:
    """In their place, beside what else the result says."""
    result = il.ToolResult("call_1", "look", (il.TextPart("This:"), il.image(MADE["tiff-orientation-6"]())))
    call = il.assistant(il.ToolCall("call_1", "look", "{}"))
    messages = (il.user("Look."), call, il.Message("tool", (result,)))
    request, changes = done(plan_media(Request(messages=messages), endpoint(spec)))
    kept = request.messages[2].parts[0]
    assert isinstance(kept, il.ToolResult)
    assert isinstance(kept.content, tuple)
    assert isinstance(kept.content[1], il.ImagePart)
    assert kept.content[1].media_type == "image/png"
    assert {path for _, _, path in changes} == {"/messages/2/parts/0/content/1"}
    assert request.messages[:2] == messages[:2]


# All together


@pytest.fixture
def a_small_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that takes 200,000 bytes in one request."""
    limits = MediaLimits(image_types=frozenset({"image/png", "image/jpeg"}), max_request_bytes=200_000)
    _limited(monkeypatch, limits)


def noise(width: int, height: int, kind: str = "BMP", **options: int) -> bytes:
    """A file that does not compress well."""
    import io

    written = io.BytesIO()
    Image.merge("RGB", [Image.effect_noise((width, height), 90) for _ in "RGB"]).save(written, kind, **options)
    return written.getvalue()


@pytest.mark.usefixtures("a_small_request")
def test_images_that_are_too_large_together_are_compressed_harder() -> None:
    """Two of them share what there is room for."""
    alone, _ = done(planned(il.image(noise(500, 400))))
    [first] = [len(part.data) for part in alone.messages[0].parts if isinstance(part, il.ImagePart)]
    small = il.image(MADE["png-1x1"]())
    request, changes = done(planned(il.image(noise(500, 400)), il.image(noise(501, 400)), small))
    sizes = [len(part.data) for part in request.messages[0].parts if isinstance(part, il.ImagePart)]
    assert sum(sizes) <= (200_000 - 65_536) * 3 // 4 < 2 * first
    assert max(sizes) < first
    assert [code for _, code, _ in changes].count("image_compressed") == 2
    assert request.messages[0].parts[2] == small


@pytest.mark.usefixtures("a_small_request")
def test_images_that_fit_alone_and_not_together_are_compressed() -> None:
    """Two photos that would each go as they are; alone they do."""
    photos = [il.image(jpeg_of_noise(300 + place)) for place in range(2)]
    assert [planned(photo) for photo in photos] == [None, None]
    assert sum(len(photo.data) for photo in photos) > (200_000 - 65_536) * 3 // 4
    request, changes = done(planned(*photos))
    assert sum(len(part.data) for part in request.messages[0].parts if isinstance(part, il.ImagePart)) <= 100_848
    assert {code for _, code, _ in changes} == {"image_compressed"}


def jpeg_of_noise(width: int) -> bytes:
    """A photo of some seventy kilobytes."""
    return noise(width, 240, "JPEG", quality=90)


def test_a_photo_that_cannot_be_decoded_goes_as_it_is_unless_it_has_to_be() -> None:
    """Its header is whole, its pixels are not those of a JPEG; that it was left as it is, is said."""
    good = MADE["jpeg-orientation-6"]()
    at = good.index(b"\xff\xc0")
    arithmetic = good[:at] + b"\xff\xcb" + good[at + 2 :]
    request, changes = done(planned(il.image(arithmetic)))
    assert changes == [("approximated", "image_as_given", "/messages/0/parts/0")]
    assert request.messages[0].parts[0] == il.image(arithmetic)
    broken = MADE["tiff-cmyk"]()
    with pytest.raises(
        il.UnsupportedError, match=r"cannot take /messages/0/parts/0 \(the image/tiff file cannot be decoded"
    ):
        done(planned(il.image(broken[: len(broken) * 2 // 3])))


@pytest.mark.usefixtures("a_small_request")
def test_an_image_is_not_made_tiny_for_the_sake_of_others() -> None:
    """Below twenty kilobytes each the request is refused instead."""
    with pytest.raises(il.UnsupportedError, match="30 media parts have"):
        done(planned(*[il.image(noise(120, 100 + place)) for place in range(30)]))


@pytest.mark.usefixtures("a_small_request")
def test_media_that_are_too_large_together_are_refused() -> None:
    """Nothing of a document is left out to make it fit."""
    with pytest.raises(
        il.UnsupportedError, match="1 media parts have 150,000 bytes together, and one request has room"
    ):
        planned(il.DocumentPart(b"%PDF-1.7" + bytes(149_992), "application/pdf"))
    with pytest.raises(il.UnsupportedError, match="one request has room for 100,848"):
        done(planned(il.DocumentPart(b"%PDF-1.7" + bytes(149_992), "application/pdf"), il.image(MADE["bmp"]())))


# Documents and audio


def test_what_a_model_does_not_take_at_all_is_the_encoders_business() -> None:
    """Nothing is said twice of a model that takes neither documents nor sound."""
    facts = Facts(documents=False, audio=False)
    parts = (il.DocumentPart(b"PK\x03\x04\x00", "application/zip"), il.AudioPart(b"OggS", "audio/ogg"))
    assert plan_media(Request(messages=(il.user(*parts),)), _knowing(facts, "anthropic/claude-opus-5")) is None


@pytest.mark.parametrize(
    ("part", "spec", "told"),
    [
        (il.AudioPart(b"OggS", "audio/ogg"), "openai-chat/gpt-4.1", "audio/ogg is not taken"),
        (il.AudioPart(b"ID3", "audio/mpeg"), "anthropic/claude-opus-5", "audio/mpeg is not taken"),
        (
            il.DocumentPart(b"PK\x03\x04\x00", "application/zip"),
            "anthropic/claude-opus-5",
            "application/zip is not taken",
        ),
    ],
)
def test_documents_and_audio_are_checked_by_type(part: Any, spec: str, told: str) -> None:
    """What the target does not take is refused, or becomes a note where that is allowed."""
    with pytest.raises(il.UnsupportedError, match=told):
        planned(part, spec=spec)
    kind = "audio" if isinstance(part, il.AudioPart) else "documents"
    request, changes = done(planned(part, spec=spec, allow=frozenset({kind})))
    assert changes == [("dropped", kind, "/messages/0/parts/0")]
    noun = "sound" if kind == "audio" else "document"
    assert request.messages[0].text == f"[{noun} left out: {told}]"


@pytest.mark.parametrize(
    ("part", "spec"),
    [
        (il.AudioPart(b"RIFF\x00\x00\x00\x00WAVE", "audio/wav"), "openai-chat/gpt-4o-audio"),
        (il.AudioPart(b"OggS", "audio/ogg"), "google/gemini-2.5-pro"),
        (il.DocumentPart(b"%PDF-1.7", "application/pdf"), "anthropic/claude-opus-5"),
        (il.DocumentPart(b"a,b", "text/csv"), "anthropic/claude-opus-5"),
        (il.DocumentPart(b"{}", "application/json"), "anthropic/claude-opus-5"),
        (il.DocumentPart(b"PK\x03\x04\x00", "application/zip"), "together/any"),
    ],
)
def test_documents_and_audio_that_are_taken_or_unknown_pass(part: Any, spec: str) -> None:
    """Texts are documents everywhere; where nobody knows, the target is asked."""
    assert planned(part, spec=spec) is None


def test_a_document_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the limit of a single document."""
    _limited(monkeypatch, MediaLimits(max_document_bytes=10))
    with pytest.raises(il.UnsupportedError, match="12 bytes, and 10 are the most of a document"):
        planned(il.DocumentPart(b"%PDF-1.7 abc", "application/pdf"))
    assert planned(il.DocumentPart(b"%PDF-1.7 a", "application/pdf")) is None


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (il.AudioPart(b"", "audio/wav"), "the file is empty"),
        (il.DocumentPart(b"", "text/plain"), "the file is empty"),
        (il.DocumentPart(b"GIF89a", "application/pdf"), "said to be application/pdf, and its bytes are image/gif"),
        (il.ImagePart(b"", "image/png"), "the image is empty"),
        (il.ImagePart(bytes(40), "image/png"), "said to be image/png, and its bytes are no image known here"),
    ],
)
def test_r45_empty_and_mislabelled_files_are_refused(part: Any, told: str) -> None:
    """By the caller's fault, whoever is asked."""
    with pytest.raises(il.UsageError, match=f"^/messages/0/parts/0: .*{told}"):
        planned(part, spec="together/any")


# The same again


def test_the_same_image_is_always_the_same_bytes() -> None:
    """A turn that is added changes nothing in the turns before it, and nothing is converted twice."""
    photo = il.image(MADE["heic-orientation-6"]())
    first = Request(messages=(il.user("Look.", photo),))
    before, _ = done(plan_media(first, endpoint()))
    longer = Request(
        messages=(*first.messages, il.assistant("Nice."), il.user("And this?", jpeg("jpeg-orientation-8")))
    )
    after, _ = done(plan_media(longer, endpoint()))
    assert after.messages[0] == before.messages[0]
    image, again = before.messages[0].parts[1], after.messages[0].parts[1]
    assert isinstance(image, il.ImagePart)
    assert isinstance(again, il.ImagePart)
    assert again.data is image.data


def test_the_callers_request_stays_what_it_is() -> None:
    """A plan makes another request."""
    request = Request(messages=(il.user(il.image(MADE["bmp"]())),), max_tokens=5)
    found = plan_media(request, endpoint())
    fitted, _ = done(found)
    assert fitted is not request
    assert (fitted.max_tokens, request.messages[0].parts[0].__class__) == (5, il.ImagePart)
    assert request.messages[0].parts[0] == il.image(MADE["bmp"]())
    assert done(found)[0] == fitted


def test_reference_pictures_are_made_by_their_formula() -> None:
    """The corners of the motif: black and blue, red, green, yellow."""
    image = reference(100, 100)
    places = [(0, 0), (99, 0), (0, 99), (99, 99)]
    assert [image.getpixel(place) for place in places] == [(1, 1, 252), (253, 1, 1), (1, 253, 1), (253, 253, 0)]
