"""Names that other libraries have at their top, answered with what there is here instead."""

from __future__ import annotations

__all__ = ["word_for"]

_MODULE = {
    "AsyncClient": "il.aio.model('provider/model') is awaited",
    "AsyncOpenAI": "interlingua.compat has AsyncOpenAI",
    "BaseTool": "il.tool(f) makes a tool of a function",
    "ChatModel": "il.model('provider/model') makes a model",
    "Client": "il.model('provider/model') makes a model; there is no client",
    "LLM": "il.model('provider/model') makes a model",
    "OpenAI": "interlingua.compat has OpenAI",
    "acompletion": "il.aio.model('provider/model').generate(…); interlingua.compat has acompletion",
    "chat": "il.model('provider/model').generate(…)",
    "complete": "il.model('provider/model').generate(…)",
    "completion": "il.model('provider/model').generate(…); interlingua.compat has completion",
    "completion_cost": "reply.cost_usd is the price of an answer, il.meter() counts over several",
    "embedding": "il.embed(texts, model='provider/model').vectors",
    "embeddings": "il.embed(texts, model='provider/model').vectors",
    "from_openai": "il.model('provider/model').generate(…, output=T) gives a value of a type",
    "from_provider": "il.model('provider/model').generate(…, output=T) gives a value of a type",
    "generate": "il.model('provider/model').generate(…)",
    "get_model": "il.model('provider/model')",
}
_COMPAT = {
    "Router": "a chain 'a/b,c/d' as the model's name, or an alias of one, goes on to its next target",
    "arerank": "il.aio.rerank(query, documents, model='provider/model')",
    "aresponses": "AsyncOpenAI().responses.create(…)",
    "batch_completion": "il.model(…).map(…) asks for many",
    "completion_cost": "reply.interlingua.cost_usd is the price of an answer, il.meter() counts over several",
    "cost_per_token": "reply.interlingua.cost_usd is the price of an answer, il.meter() counts over several",
    "embeddings": "OpenAI().embeddings.create(…)",
    "image_generation": "images are not made here; your provider's SDK does that",
    "get_llm_provider": "the model's name says who serves it: 'provider/model'",
    "moderation": "moderation is not done here; your provider's SDK does that",
    "rerank": "il.rerank(query, documents, model='provider/model')",
    "responses": "OpenAI().responses.create(…)",
    "set_verbose": "logging.getLogger('interlingua').setLevel('DEBUG') has every call logged",
    "speech": "speech is not made here; your provider's SDK does that",
    "stream_chunk_builder": "reply.interlingua of the last chunk is the whole answer",
    "text_completion": "completion(…) takes messages",
    "token_counter": "usage of an answer has the counts",
    "transcription": "speech is not transcribed here; your provider's SDK does that",
}


def word_for(module: str, name: str) -> str:
    """`: ` and what there is instead of another library's name in one of our modules; empty where nothing is known."""
    words = {"interlingua": _MODULE, "interlingua.aio": _MODULE, "interlingua.compat": _COMPAT}
    return f": {words[module][name]}" if name in words.get(module, {}) else ""
