"""Names that other libraries use, answered with our own words when somebody asks for them."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["WORDS", "no_attribute"]

_RESPONSE = {
    "all_messages": "messages is the whole conversation",
    "candidates": "text is what it says, alternatives has further choices",
    "choices": "text is what it says, alternatives has further choices",
    "content": "text is what it says, parts is everything in order",
    "cost": "cost_usd is the price in US dollars",
    "created": "the provider's body has it, where raw=True keeps that",
    "data": "output is the typed answer",
    "delta": "model.stream(…) gives the answer as it comes",
    "function_call": "tool_calls has the calls",
    "json": "il.dump(reply) gives canonical JSON, output the typed answer",
    "model_dump": "il.dump(reply) gives canonical JSON",
    "model_dump_json": "il.dump(reply) gives canonical JSON",
    "new_messages": "messages is the whole conversation, message this turn",
    "output_text": "text is what it says",
    "parsed": "output is the typed answer",
    "reasoning": "thinking is the readable reasoning",
    "reasoning_content": "thinking is the readable reasoning",
    "response_metadata": "model, usage, finish_reason and rate_limits are fields of their own",
    "result": "text is what it says, output the typed answer",
    "role": "message is the turn with its role",
    "stop_reason": "finish_reason says why it ended",
    "structured_output": "output is the typed answer",
    "tool_uses": "tool_calls has the calls",
    "usage_metadata": "usage has the token counts",
    "value": "output is the typed answer",
}
_MESSAGE = {
    "content": "text is what it says, parts is everything in order",
    "function_call": "tool_calls has the calls",
    "reasoning_content": "thinking is the readable reasoning",
    "tool_call_id": "tool_results has the results, each with its call_id",
}
_CALL = {
    "args": "arguments is a dict, arguments_json the exact text",
    "call_id": "id pairs the call with its result",
    "function": "name and arguments are fields of the call itself",
    "input": "arguments is a dict, arguments_json the exact text",
    "tool_name": "name is the tool's",
}
_USAGE = {
    "cache_creation_input_tokens": "it is called cache_write_tokens",
    "cache_read_input_tokens": "it is called cache_read_tokens",
    "cached_tokens": "it is called cache_read_tokens",
    "completion_tokens": "it is called output_tokens",
    "prompt_tokens": "it is called input_tokens",
    "request_tokens": "it is called input_tokens",
    "response_tokens": "it is called output_tokens",
}
_MODEL = {
    "ainvoke": "il.aio.model(…) has the same names, awaited",
    "acall": "il.aio.model(…) has the same names, awaited",
    "agenerate": "il.aio.model(…) has the same names, awaited",
    "ask": "generate asks, stream gives the answer as it comes",
    "batch": "map asks for many",
    "chat": "generate asks, history= goes on with an answer",
    "complete": "generate asks",
    "completion": "generate asks",
    "create": "generate asks",
    "invoke": "generate asks",
    "predict": "generate asks",
    "prompt": "generate asks",
    "run": "generate asks; il.Agent(model, tools=…).run(…) runs tools, too",
    "run_sync": "generate asks; il.Agent(model, tools=…).run(…) runs tools, too",
    "with_structured_output": "generate(…, output=T) gives a value of a type",
    "bind_tools": "with_options(tools=…) gives a copy with tools",
}
WORDS = {"Face": _MODEL, "Message": _MESSAGE, "Response": _RESPONSE, "ToolCall": _CALL, "Usage": _USAGE}
"""Type -> what others call it -> what it is here."""


def no_attribute(owner: object, name: str) -> NoReturn:
    """Nothing: there is no such attribute, and the error says what there is instead.

    Raises: AttributeError, always.
    """
    tables = [WORDS[base.__name__] for base in type(owner).__mro__ if base.__name__ in WORDS]
    instead = tables[0].get(name) if tables else None
    raise AttributeError(
        f"{type(owner).__name__!r} object has no attribute {name!r}{f': {instead}' if instead else ''}",
        name=name,
        obj=owner,
    )
