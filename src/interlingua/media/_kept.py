"""Cache of converted images, for the next turn of a conversation, which sends the same images again."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua.media.convert import Converted
    from interlingua.media.need import Recipe

__all__ = ["ENTRY_BYTES", "MAX_KEPT_BYTES", "MAX_WORKERS", "KeptImages"]

MAX_KEPT_BYTES = 64 * 1024 * 1024
"""How many bytes of converted images are kept in one process; the longest unused go first."""
ENTRY_BYTES = 1_000
"""The bytes of an entry beside its data."""
MAX_WORKERS = 2
"""How many images one process converts at the same time, so that memory stays bounded however many calls there are."""


class KeptImages:
    """Converted images by what they were made of and how; safe to share between threads."""

    __slots__ = ("_bytes", "_images", "_lock", "_max_bytes", "_workers")

    def __init__(self, max_bytes: int = MAX_KEPT_BYTES, max_workers: int = MAX_WORKERS) -> None:
        """Nothing is kept yet."""
        self._max_bytes = max_bytes
        self._bytes = 0
        self._images: OrderedDict[tuple[bytes, Recipe], Converted] = OrderedDict()
        self._lock = threading.Lock()
        self._workers = threading.BoundedSemaphore(max_workers)

    def get(self, data: bytes, recipe: Recipe, convert: Callable[[], Converted]) -> Converted:
        """The value of `convert` for these bytes, now or before.

        Raises: what `convert` raises; a failure is not kept.
        """
        key = (hashlib.sha256(data).digest(), recipe)
        image = self._find(key)
        if image is not None:
            return image
        with self._workers:
            image = self._find(key)  # another thread may have made it meanwhile
            if image is None:
                image = convert()
                self._keep(key, image)
        return image

    def _find(self, key: tuple[bytes, Recipe]) -> Converted | None:
        with self._lock:
            image = self._images.get(key)
            if image is not None:
                self._images.move_to_end(key)
            return image

    def _keep(self, key: tuple[bytes, Recipe], converted: Converted) -> None:
        size = len(converted.data) + ENTRY_BYTES
        if size > self._max_bytes:
            return
        with self._lock:
            if key in self._images:
                return
            self._images[key] = converted
            self._bytes += size
            while self._bytes > self._max_bytes:
                _, oldest = self._images.popitem(last=False)
                self._bytes -= len(oldest.data) + ENTRY_BYTES

    @property
    def kept_bytes(self) -> int:
        """How many bytes are kept now."""
        return self._bytes
