"""Plain tools: those that are fitted and written in one go."""

from __future__ import annotations

from interlingua.dialects._schemas import plain_tools
from interlingua.types.tool import Freeform, OpaqueTool, Tool

SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": "City."}}}
TOOL = Tool(name="look", description="Looks.", parameters=SCHEMA)


def test_plain() -> None:
    """Plain are tools of which nothing else is said, whatever their notes and handlers are."""
    noted = Tool(name="put", handler=print, metadata={"a": 1})
    assert plain_tools((TOOL, noted)) == [TOOL, noted]
    assert plain_tools((Tool(name="put", strict=False),)) == [Tool(name="put", strict=False)]
    for other in (
        Tool(name="put", strict=True),
        Tool(name="put", cache="5m"),
        Tool(name="put", freeform=Freeform()),
        Tool(name="put", extra={"openai-chat": {}}),
        OpaqueTool("anthropic", "web_search", {}),
    ):
        assert plain_tools((TOOL, other)) is None
