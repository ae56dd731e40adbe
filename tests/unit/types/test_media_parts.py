"""Media parts: base64 that stays a text until somebody reads the bytes."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.gateway.offload.tasks import Message as TaskMessage
from interlingua.gateway.offload.tasks import decoded_from, packed_request
from interlingua.gateway.state.turns import Turn, packed, unpacked
from interlingua.types.content import ImagePart, MediaPart, ToolResult, stored_data, with_bytes
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode
from interlingua.wire.media import Base64, text_data

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
BYTES = ImagePart(PNG, "image/png", cache="5m")
TEXT = ImagePart(text_data(BYTES.base64), "image/png", cache="5m")
CHAT = get_dialect("openai-chat")
URL = "https://api.test/v1/chat/completions"


def body(data: str) -> bytes:
    """A request of Chat with a picture."""
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": [image]}]}).encode()


def decoded(data: str) -> MediaPart:
    """The picture of a request as it was read."""
    part = CHAT.decode_request(HttpRequest(url=URL, body=body(data)), DecodeOptions()).request.messages[0].parts[0]
    assert isinstance(part, MediaPart)
    return part


def test_both_forms_of_the_same_bytes_are_the_same_value() -> None:
    """Equality, `repr`, JSON, pickles and copies do not tell base64 from bytes."""
    assert isinstance(stored_data(TEXT), Base64)
    assert TEXT == BYTES
    assert BYTES == TEXT
    assert repr(TEXT) == repr(BYTES)
    assert encode(TEXT) == encode(BYTES) == msgspec.json.encode(BYTES)
    assert pickle.dumps(TEXT) == pickle.dumps(BYTES)
    assert pickle.loads(pickle.dumps(TEXT)) == copy.deepcopy(TEXT) == BYTES
    assert il.load(il.dump([il.user(TEXT)])) == (il.user(BYTES),)


def test_what_differs_is_unequal() -> None:
    """Other bytes, another field and another class."""
    assert replace(TEXT, data=PNG[1:]) != BYTES
    assert replace(TEXT, media_type="image/gif") != TEXT
    assert il.AudioPart(PNG, "image/png") != il.DocumentPart(PNG, "image/png")
    assert TEXT != PNG


@pytest.mark.parametrize("part", [BYTES, TEXT], ids=["bytes", "text"])
def test_views_of_either_form(part: ImagePart) -> None:
    """`data` is bytes, `base64` a text, and the size is that of the file."""
    assert part.data == PNG
    assert part.base64 == BYTES.base64
    assert part.size_bytes == len(PNG) == 72
    with pytest.raises(TypeError, match="unhashable"):
        hash(part)


@pytest.mark.parametrize("size", range(7))
def test_sizes_with_every_padding(size: int) -> None:
    """The length of the text less its padding says how large the file is."""
    text = ImagePart(bytes(size), "image/png").base64
    assert ImagePart(text_data(text), "image/png").size_bytes == size


def test_a_picture_that_passes_is_never_decoded() -> None:
    """Base64 of a body stays the text that it was, in whichever dialect it goes on."""
    part = decoded(BYTES.base64)
    assert stored_data(part) == BYTES.base64
    request = CHAT.decode_request(HttpRequest(url=URL, body=body(BYTES.base64)), DecodeOptions()).request
    for name in DIALECTS:
        written = get_dialect(name).encode_request(request, EncodeOptions(target=Target(model="m")))
        assert written.body.count(BYTES.base64.encode()) == 1
        again = get_dialect(name).decode_request(
            HttpRequest(url=f"https://api.test{written.path}", body=written.body), DecodeOptions()
        )
        (image,) = again.request.messages[0].parts
        assert isinstance(image, ImagePart)
        assert stored_data(image) == BYTES.base64


def test_a_text_that_is_no_base64_is_refused_when_it_is_read() -> None:
    """The place is named before anybody asks for the bytes."""
    with pytest.raises(il.DecodeError) as caught:
        decoded("iVBORw0!")
    assert caught.value.path == "/messages/0/content/0/image_url"


@pytest.mark.parametrize("text", ["photo.png", "pics/cat", BYTES.base64])
def test_a_text_put_there_by_hand_is_as_it_was(text: str) -> None:
    """A part whose data is a text gives it, and `generate` refuses it at its place, though it may look like base64."""
    assert ImagePart(cast("Any", text), "image/png").data == text
    with pytest.raises(il.UsageError, match="the data of an ImagePart is a str, not bytes"):
        il.model("fake/echo").generate([il.user(ImagePart(cast("Any", text), "image/png"))])


def test_formats_that_keep_bytes_and_texts_apart_get_bytes() -> None:
    """MessagePack, in which requests go to a worker and turns are kept, holds the bytes, in results as well."""
    parts = (TEXT, ToolResult("c", "look", (TEXT, il.TextPart("x"))), ToolResult("d", "look", "y"), il.TextPart("z"))
    plain = with_bytes(parts)
    assert plain == parts
    assert stored_data(cast("ImagePart", plain[0])) == PNG
    assert unpacked(packed(Turn("k", parts, {}))).parts == parts
    decoded = CHAT.decode_request(HttpRequest(url=URL, body=body(BYTES.base64)), DecodeOptions())
    message = TaskMessage(replace(decoded, request=il.Request()), packed_request(decoded.request))
    assert decoded_from(message) == decoded
