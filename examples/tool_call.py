"""A function is a tool: the model asks for it, we run it, the model answers.

Run: INTERLINGUA_MODEL=openai/gpt-5.6 python examples/tool_call.py
"""

from __future__ import annotations

import interlingua as il

CELSIUS = {"Oslo": 4, "Bergen": 7}


def get_weather(city: str) -> dict[str, int]:
    """Weather of today.

    Args:
        city: City name, in English.
    """
    if city not in CELSIUS:
        raise il.ToolError(f"no weather for {city!r}; there is {', '.join(CELSIUS)}")
    return {"celsius": CELSIUS[city]}


def main() -> None:
    """Ask a question that needs the tool, perhaps twice at once."""
    model = il.model()
    tools = il.Toolbox([get_weather])
    reply = model.generate("Is it warmer in Oslo or in Bergen?", tools=tools)
    while reply.tool_calls:
        for call in reply.tool_calls:
            print("→", call.name, call.arguments)
        reply = model.generate(tools.execute(reply.tool_calls), history=reply, tools=tools)
    print(reply.text)


if __name__ == "__main__":
    main()
