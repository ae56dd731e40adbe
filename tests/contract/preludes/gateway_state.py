"""What `docs/guides/gateway-state.md` takes for granted: a model that answers, and a web framework."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="the guide asks the gateway by a client of FastAPI")
REPLIES = ["Felix.", "Mira."]
"""The script of the fake model."""
