"""What the guide to the gateway takes for granted: a web application, and a file."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the guide mounts the gateway in an application")
Path("gateway.toml").write_text("[server]\nstrict = true\n", encoding="utf-8")
