"""Names that `docs/guides/cluster.md` uses: a provider, and a Ray that carries everything out in this process."""

from __future__ import annotations

import os
import sys
from typing import Any, cast

from tests.support.ray_in_place import RayInPlace

os.environ["LLM_WORK"] = "openai://tok-1234@gateway.example/v1"
sys.modules["ray"] = cast("Any", RayInPlace())

REPLIES = ["Small."] * 8
"""The script of the fake model: more replies than the blocks need."""
