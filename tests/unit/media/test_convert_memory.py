"""How much memory a conversion takes at its peak, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.support.pictures import reference

pytest.importorskip("pillow_heif")
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the kernel tells no peak of memory")

MEGABYTE = 1_000_000

PROBE = """
import json, sys
from pathlib import Path
from typing import Any
from interlingua.media.convert import convert
from interlingua.media.header import read_header
from interlingua.media.need import Recipe

data = Path(sys.argv[1]).read_bytes()
recipe = Recipe(types=("image/jpeg", "image/png", "image/webp"), side_px=1568, max_bytes=3_932_160)
found = convert(data, read_header(data), recipe)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(json.dumps({"peak": int(peak.split()[1]) * 1024, "bytes": len(found.data)}))
"""


def peak_bytes(path: Path) -> int:
    """The most memory that the whole process had: interpreter, file, decoder and result."""
    done = subprocess.run([sys.executable, "-I", "-c", PROBE, str(path)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["peak"]


def large(width: int, height: int, mode: str) -> Image.Image:
    """The motif in the size of a photo."""
    image = reference(400, 300).getchannel("R") if mode == "P" else reference(400, 300).convert(mode)
    found = image.resize((width, height))
    if mode == "P":
        found.putpalette([value for gray in range(256) for value in (gray, 255 - gray, 0)])
    return found


@pytest.mark.parametrize("size", [(4_032, 3_024), (9_200, 6_900)], ids=["12 megapixels", "63 megapixels"])
@pytest.mark.parametrize("mode", ["RGB", "CMYK"])
def test_a_jpeg_takes_120_megabytes_at_most(tmp_path: Path, size: tuple[int, int], mode: str) -> None:
    """It is decoded at about the size that is needed, in whatever colours it is stored."""
    path = tmp_path / "photo.jpg"
    large(*size, mode).save(path, "JPEG", quality=85)
    assert peak_bytes(path) <= 120 * MEGABYTE


@pytest.mark.parametrize(
    ("name", "mode", "options"),
    [
        ("photo.jpg", "RGB", {"progressive": True}),
        ("screen.png", "RGB", {"compress_level": 1}),
        ("screen.png", "RGBA", {"compress_level": 1}),
        ("screen.png", "P", {"compress_level": 1}),
        ("scan.tiff", "CMYK", {}),
        ("scan.bmp", "RGB", {}),
        ("photo.avif", "RGB", {"speed": 10}),
    ],
)
def test_anything_else_takes_60_megabytes_and_8_bytes_a_pixel(
    tmp_path: Path, name: str, mode: str, options: dict[str, Any]
) -> None:
    """Its pixels are decoded once."""
    path = tmp_path / name
    large(3_264, 2_448, mode).save(path, **options)
    assert peak_bytes(path) <= 60 * MEGABYTE + 8 * 3_264 * 2_448


def test_a_heic_takes_no_more(tmp_path: Path) -> None:
    """The same bound, with a picture that is written in reasonable time."""
    import pillow_heif

    path = tmp_path / "photo.heic"
    image = pillow_heif.from_pillow(large(3_264, 2_448, "RGB"))
    image.save(path, quality=50, enc_params={"preset": "ultrafast"})  # pyright: ignore[reportUnknownMemberType]
    assert peak_bytes(path) <= 60 * MEGABYTE + 8 * 3_264 * 2_448


def test_a_webp_takes_16_bytes_a_pixel(tmp_path: Path) -> None:
    """Pillow reads every WebP as a film: two canvases, a frame and the picture."""
    path = tmp_path / "photo.webp"
    large(3_264, 2_448, "RGB").save(path, method=0)
    assert peak_bytes(path) <= 60 * MEGABYTE + 16 * 3_264 * 2_448
