"""What `docs/guides/agents.md` takes for granted."""

from __future__ import annotations

from interlingua.testing import tool_call

OSLO = tool_call("get_weather", city="Oslo")
BERGEN = tool_call("get_weather", city="Bergen")

REPLIES = [
    [OSLO, BERGEN],
    "Neither.",
    "Colder.",
    OSLO,
    '{"city": "Oslo", "days": 2}',
    [OSLO, BERGEN, tool_call("get_weather", city="Narvik")],
    "All three are cold.",
    [OSLO, BERGEN],
    "Neither.",
    [OSLO, BERGEN],
    "4 degrees in Oslo.",
    OSLO,
    "It is 4 degrees.",
    tool_call("look_up", name="Ada"),
    "In Oslo.",
    tool_call("weatherman", task="The weather in Oslo."),
    OSLO,
    "4 degrees.",
    "Cold, but dry.",
    [OSLO, BERGEN],
    "Neither.",
]
"""The script of the fake model."""
