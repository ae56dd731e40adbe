"""Many questions at once, on one event loop: the same names, awaited.

Run: INTERLINGUA_MODEL=openai/gpt-5.6 python examples/gather.py
"""

from __future__ import annotations

import asyncio

import interlingua.aio as il

CITIES = ("Oslo", "Bergen", "Tromsø")


async def main() -> None:
    """Ask about every city at the same time; one failure does not spoil the others."""
    model = il.model(max_tokens=60, timeout_s=30)
    asked = [model.generate(f"One line on {city}, please.") for city in CITIES]
    for city, reply in zip(CITIES, await asyncio.gather(*asked, return_exceptions=True), strict=True):
        print(f"{city}: {reply if isinstance(reply, BaseException) else reply.text}")


if __name__ == "__main__":
    asyncio.run(main())
