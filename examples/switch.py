"""Two providers share one tool loop, with thinking on: each goes on where the other one stopped.

Run: python examples/switch.py     (no key: a fake answers in each provider's own wire format; without `use` they do)
"""

import interlingua as il
from interlingua.testing import FakeModel, tool_call, use

SPECS = ("anthropic/claude-opus-5", "google/gemini-3-pro", "anthropic/claude-opus-5")
SEALED = il.Sealed("anthropic", {"signature": "c2lnbmVk"}, "anthropic", "claude-opus-5")
SCRIPT = FakeModel(
    [
        [il.ThinkingPart("I need a forecast.", SEALED), tool_call("get_weather", city="Oslo")],
        [il.ThinkingPart("And another one."), tool_call("get_weather", city="Bergen")],
        "In Bergen.",
    ]
)


def get_weather(city: str) -> str:
    """Weather of a city."""
    return {"Oslo": "4 degrees", "Bergen": "7 degrees"}[city]


def main() -> None:
    """Ask once; every turn of the loop goes to another provider, the last one back to the first."""
    tools = il.Toolbox([get_weather])
    reply = None
    for spec in SPECS:
        prompt = tools.execute(reply.tool_calls) if reply else "Is it warmer in Oslo or in Bergen?"
        reply = il.model(spec, tools=tools, effort="high", max_tokens=2000).generate(prompt, history=reply)
        print(reply.model, "→", reply.text or [call.arguments for call in reply.tool_calls])
        print(*[f"  {change}\n" for change in reply.changes], sep="", end="")


if __name__ == "__main__":
    with use(SCRIPT):
        main()
    thought = SCRIPT.last_request.messages[1].parts[0]
    print("back at its issuer:", isinstance(thought, il.ThinkingPart) and thought.sealed and thought.sealed.data)
