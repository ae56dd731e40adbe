"""What `docs/guides/tools.md` takes for granted."""

from __future__ import annotations

from pathlib import Path

from interlingua.testing import tool_call

REPLIES = [[tool_call("get_weather", city="Oslo"), tool_call("get_weather", city="Bergen", days=2)]]
"""The script of the fake model."""

Path("orders_server.py").write_text(
    (Path(__file__).parents[3] / "docs" / "guides" / "tools.md")
    .read_text(encoding="utf-8")
    .split("```python no-run\n# orders_server.py\n")[1]
    .split("```")[0],
    encoding="utf-8",
)
