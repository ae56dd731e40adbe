"""What `docs/guides/media.md` takes for granted: a photo, a map, a thumbnail, and a model that looks at them."""

from __future__ import annotations

import pytest
from PIL import Image

from interlingua.types.request import Request
from tests.support.pictures import reference
from tests.support.tiny import PNG

pillow_heif = pytest.importorskip("pillow_heif")

with open("photo.heic", "wb") as photo:  # noqa: PTH123 - the block has no Path either
    pillow_heif.from_pillow(reference(2_400, 30)).save(photo, quality=50)
Image.new("RGB", (3_000, 20), "green").save("map.png")
with open("thumb.png", "wb") as thumb:  # noqa: PTH123 - the same
    thumb.write(PNG)


def _answer(request: Request) -> str:
    return f"I see {sum(len(message.parts) - 1 for message in request.messages)} of them."


REPLIES = _answer
"""The script of the fake model."""
