"""What the fake answers while the README's blocks run, in the order of the calls."""

from __future__ import annotations

from interlingua.testing import tool_call

REPLIES = [
    tool_call("get_weather", city="Oslo"),
    "It is raining in Oslo.",
    "Oslo is the capital of Norway.",
    "Bergen is the rainy one.",
    "Oslo governs, Bergen rains.",
    '{"number": "7", "total": 12.5}',
    "Once upon a time there was a wire.",
]
