"""langchain-openai: one `ChatOpenAI` with its tools bound, `invoke`."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

from bench.canned import MAX_TOKENS, TEXT, TURNS, request_body
from bench.peers.libraries import Calls, key, url


def calls(port: int) -> Calls:
    """Its calls."""
    chat = ChatOpenAI(model="gpt-test", base_url=url(port, "/v1"), api_key=key, max_tokens=MAX_TOKENS)
    bound = chat.bind_tools(request_body("gpt-test")["tools"])
    turns = [AIMessage(TEXT) if number % 2 else HumanMessage(TEXT) for number in range(TURNS)]
    said = [SystemMessage(TEXT), *turns]

    def whole() -> int:
        return len(bound.invoke(said).tool_calls)

    def streamed() -> int:
        return sum(len(chunk.content) for chunk in bound.stream(said))

    async def awaited() -> int:
        return len((await bound.ainvoke(said)).tool_calls)

    return Calls(whole, streamed, awaited)
