"""An agent: the model calls tools until it is done, and what costs much is not approved.

Run: INTERLINGUA_MODEL=openai/gpt-5.6 python examples/agent.py
"""

from __future__ import annotations

import interlingua as il

FARES = {"Oslo": 900, "Bergen": 700}


def find_fare(city: str) -> int:
    """The fare of tomorrow's train."""
    return FARES[city]


def book(city: str) -> str:
    """Book a seat in tomorrow's train."""
    return f"seat 12 to {city}"


def approve(call: il.ToolCall) -> bool | str:
    """Whether a call may run; a text says why not."""
    return "too expensive" if call.name == "book" and FARES[call.arguments["city"]] > 800 else True


def main() -> None:
    """Have a seat booked, and tell every step."""
    agent = il.Agent(il.model(), tools=[find_fare, book], approve=approve, max_steps=8)
    with agent.stream("Book the cheaper train of those to Oslo and Bergen.") as run:
        for event in run:
            if isinstance(event, il.ToolFinished):
                print(event.step, event.call.name, "→", event.result.content)
    print(run.output)


if __name__ == "__main__":
    main()
