"""Every provider that needs no configuration but a key: one row each.

Rules
- A row is at most 20 lines and touches no other file; tests and the table in the guide are made from the rows.
- A flag is set where a source says so, and the source stands above the row.
  [wire §n] is the section of that provider in our notes on compatible servers, [SDK] a type file of an official
  client, [vendor] what is publicly said of the vendor's OpenAI-compatible endpoint, found 2026-11.
- Only the rows with a [wire] or [SDK] source were held against recorded traffic or official types. [vendor] flags, and
  addresses without a source, were never called: they are a start, to be corrected by the first who has a key.
- Where nothing is known the reference behaviour of the dialect is assumed.
"""

from __future__ import annotations

import msgspec

from interlingua.dialects._contract import Quirks
from interlingua.providers.cloud_rows import CLOUD_ROWS
from interlingua.providers.row import Operation, Provider
from interlingua.types.capabilities import Capabilities

__all__ = ["ROWS"]

CHAT = ("openai-chat",)
BEYOND_OPENAI = frozenset({"top_k", "min_p"})
"""Sampling knobs that OpenAI's own request type does not have [SDK openai, completion_create_params]."""

SERVER = Quirks(
    effort_field="reasoning_effort",
    system_role="system",
    reasoning_field="none",
    name_rule="openai",
    result_media=False,
    allowed_tools=False,
    choice_without_tools=False,
    schema_in_json_mode=False,
    json_word=True,
    freeform_tools=False,
    cache_marks="none",
)
"""The quirks and facts that every server of the dialect shares."""


def _server(**flags: object) -> Quirks:
    """`SERVER` with some flags of its own."""
    return msgspec.structs.replace(SERVER, **flags)


# Ids beyond 40 characters are refused, and more than 4 stop sequences [field]; `allowed_tools` is a form of
# tool_choice, developer a role, `custom` a kind of tool [SDK].
OPENAI = _server(
    websocket=True,
    system_role="as_read",
    allowed_tools=True,
    freeform_tools=True,
    reasoning_followed=True,
    call_id_rule="max40",
    bounds="vendor",
    video_files=False,
    service_tiers=frozenset({"auto", "default", "flex", "scale", "priority", "fast"}),
    embed_base64=True,
    embed_inputs=2_048,
    rerank_form="none",
    batches="vendor",
    unsupported=BEYOND_OPENAI,
)
# [wire, own page]: ids of exactly nine characters, random_seed, max_tokens, thinking chunks, `parameters` required,
# names on results, document_url, usage in streams without being asked for; unknown members are a 422 [field].
MISTRAL = _server(
    max_tokens_field="max_tokens",
    seed_field="random_seed",
    reasoning_field="thinking_chunks",
    tool_only_content="empty",
    call_id_rule="alnum9",
    result_media=True,
    result_name=True,
    document_part="document_url",
    parameters_required=True,
    stream_usage=False,
    embed_dimensions="output_dimension",
    embed_tokens=16_000,
    rerank_form="none",
    batches="jobs",
    unsupported=BEYOND_OPENAI | {"logit_bias", "logprobs", "store", "user", "verbosity"},
)
OPENAI_HEADERS = (("OPENAI_ORG_ID", "openai-organization"), ("OPENAI_PROJECT_ID", "openai-project"))
"""Headers that the OpenAI SDK makes of its environment beside the key, to every address [SDK openai, `_client.py`]."""
OPENAI_ADDRESS = (("OPENAI_BASE_URL", ""), ("OPENAI_API_BASE", ""))
"""Variables that the SDK reads, and those that it read before version 1; both hold the whole base [SDK openai]."""
AZURE_OPENAI = "https://cognitiveservices.azure.com/.default"
"""The scope of Azure OpenAI [SDK openai, examples of azure_ad_token_provider]."""
LEGACY_LIMIT = _server(max_tokens_field="max_tokens")
"""A server that documents `max_tokens` and not its newer name."""
OLLAMA = Quirks(output_schema_with_tools=False)
"""The Ollama family in its own dialect."""

_OPENAI_FAMILY = (
    Provider(
        name="openai",
        title="OpenAI",
        base_url="https://api.openai.com/v1",
        dialects=("openai-responses", "openai-chat"),
        models=("gpt-", "o1", "o3", "o4", "chatgpt-"),
        address_env=OPENAI_ADDRESS,
        key_env=("OPENAI_API_KEY",),
        header_env=OPENAI_HEADERS,
        quirks=OPENAI,
        elsewhere="openai-compatible",
        note="Speaks Responses where this version has it, else Chat.",
    ),
    Provider(
        name="openai-chat",
        title="OpenAI, Chat pinned",
        base_url="https://api.openai.com/v1",
        dialects=CHAT,
        address_env=OPENAI_ADDRESS,
        key_env=("OPENAI_API_KEY",),
        header_env=OPENAI_HEADERS,
        quirks=OPENAI,
        elsewhere="openai-compatible",
        note="The gpt-5.6 family takes tools on this endpoint only with effort none.",
    ),
    Provider(
        name="openai-responses",
        title="OpenAI, Responses pinned",
        base_url="https://api.openai.com/v1",
        dialects=("openai-responses",),
        address_env=OPENAI_ADDRESS,
        key_env=("OPENAI_API_KEY",),
        header_env=OPENAI_HEADERS,
        quirks=OPENAI,
    ),
    # The v1 endpoint takes the deployment's name as `model` and needs no api-version [vendor "API version lifecycle"].
    Provider(
        name="azure",
        title="Azure OpenAI",
        base_url="https://{host}/openai/v1",
        dialects=("openai-responses", "openai-chat"),
        address_env=(("AZURE_OPENAI_ENDPOINT", "/openai/v1"),),
        key_env=("AZURE_OPENAI_API_KEY",),
        token_env=("AZURE_OPENAI_AD_TOKEN",),
        auth="api-key",
        login_scope=AZURE_OPENAI,
        quirks=OPENAI,
        dated="azure-deployments",
        version_env="OPENAI_API_VERSION",
        note="The model is the name of your deployment; an older API takes ?api_version=.",
    ),
    # What AzureOpenAI sends: the deployment stands in the path, and in the body [SDK openai, lib/azure.py].
    Provider(
        name="azure-deployments",
        title="Azure OpenAI, dated API",
        base_url="https://{host}/openai",
        dialects=("openai-chat", "openai-responses"),
        key_env=("AZURE_OPENAI_API_KEY",),
        auth="api-key",
        login_scope=AZURE_OPENAI,
        operations=(
            Operation(path="/chat/completions", to="/deployments/{model}/chat/completions"),
            Operation(path="/embeddings", to="/deployments/{model}/embeddings"),
        ),
        quirks=msgspec.structs.replace(OPENAI, websocket=False, batches="none"),
        family="azure",
        note="What an azure:// DSN with a date as ?api_version= stands for.",
    ),
    Provider(
        name="openai-compatible",
        title="any OpenAI-compatible server",
        base_url="https://{host}/v1",
        dialects=CHAT,
        key_required=False,
        quirks=_server(reasoning_field="as_read"),
        note="What an openai:// DSN to another host stands for; quirks can be set as options.",
    ),
)

_HOSTED = (
    # [wire §2]: n is 1, no logprobs or logit_bias; tool messages take image parts; JSON with tools is a 400;
    # `reasoning` is accepted on assistant messages; four efforts. Its knobs have OpenAI's bounds [SDK].
    Provider(
        name="groq",
        title="Groq",
        base_url="https://api.groq.com/openai/v1",
        dialects=CHAT,
        key_env=("GROQ_API_KEY",),
        quirks=_server(
            efforts=frozenset({"none", "low", "medium", "high"}),
            reasoning_field="reasoning",
            result_media=True,
            output_schema_with_tools=False,
            batches="vendor",
            bounds="vendor",
            unsupported=BEYOND_OPENAI | {"n", "logprobs", "logit_bias"},
        ),
        note="Structured output and tools do not go together.",
    ),
    Provider(
        name="mistral",
        title="Mistral",
        base_url="https://api.mistral.ai/v1",
        dialects=CHAT,
        models=("mistral-", "magistral-", "codestral-", "ministral-", "devstral-", "pixtral-"),
        key_env=("MISTRAL_API_KEY",),
        quirks=MISTRAL,
    ),
    # [wire §3]: reasoning_content on every assistant turn, "" where there was none; thinking has a switch and three
    # efforts; JSON mode only; strict tools at another address alone.
    Provider(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com",
        dialects=CHAT,
        models=("deepseek-",),
        key_env=("DEEPSEEK_API_KEY",),
        quirks=_server(
            max_tokens_field="max_tokens",
            efforts=frozenset({"low", "high", "max"}),
            thinking_field="thinking",
            reasoning_field="reasoning_content",
            reasoning_echo="always",
            output_schema="json_object",
            strict_schemas=False,
            unsupported=BEYOND_OPENAI,
        ),
        note="Knows JSON mode and no schemas.",
    ),
    # [wire §4]: effort, budget and switch inside `reasoning`; reasoning_details go back whole and in order; marks on
    # parts; ids may be long and odd.
    Provider(
        name="openrouter",
        title="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        dialects=CHAT,
        card="openrouter",
        key_env=("OPENROUTER_API_KEY",),
        quirks=_server(
            max_tokens_field="max_tokens",
            effort_field="reasoning.effort",
            reasoning_field="reasoning",
            cache_marks="cache_control",
            assistant_images=True,
        ),
        note="The upstream decides what works; pin it with extra={'openai-chat': {'provider': …}}.",
    ),
    Provider(
        name="xai",
        title="xAI",
        base_url="https://api.x.ai/v1",
        dialects=CHAT,
        models=("grok-",),
        key_env=("XAI_API_KEY",),
        quirks=_server(reasoning_field="reasoning_content", reasoning_echo="never", unsupported=BEYOND_OPENAI),
    ),
    Provider(
        name="together",
        title="Together AI",
        base_url="https://api.together.ai/v1",
        dialects=CHAT,
        key_env=("TOGETHER_API_KEY",),
        quirks=_server(max_tokens_field="max_tokens", schema_in_json_mode=True),
    ),
    Provider(
        name="fireworks",
        title="Fireworks AI",
        base_url="https://api.fireworks.ai/inference/v1",
        dialects=CHAT,
        key_env=("FIREWORKS_API_KEY",),
        quirks=_server(max_tokens_field="max_tokens", reasoning_field="reasoning_content", schema_in_json_mode=True),
    ),
    Provider(
        name="perplexity",
        title="Perplexity",
        base_url="https://api.perplexity.ai",
        dialects=CHAT,
        models=("sonar",),
        key_env=("PERPLEXITY_API_KEY", "PPLX_API_KEY"),
        quirks=LEGACY_LIMIT,
    ),
    Provider(
        name="cerebras",
        title="Cerebras",
        base_url="https://api.cerebras.ai/v1",
        dialects=CHAT,
        key_env=("CEREBRAS_API_KEY",),
        quirks=_server(reasoning_field="reasoning"),
    ),
    Provider(
        name="nvidia",
        title="NVIDIA NIM",
        base_url="https://integrate.api.nvidia.com/v1",
        dialects=CHAT,
        key_env=("NVIDIA_API_KEY",),
        quirks=_server(max_tokens_field="max_tokens", reasoning_field="reasoning_content"),
    ),
    Provider(
        name="huggingface",
        title="Hugging Face router",
        base_url="https://router.huggingface.co/v1",
        dialects=CHAT,
        key_env=("HF_TOKEN",),
        quirks=LEGACY_LIMIT,
        note="A model may name its host after a colon: org/model:host.",
    ),
    # Replay of reasoning_content is documented as "preserved thinking" [vendor "Thinking mode"].
    Provider(
        name="zai",
        title="z.ai",
        base_url="https://api.z.ai/api/paas/v4",
        dialects=CHAT,
        models=("glm-",),
        key_env=("ZAI_API_KEY",),
        quirks=_server(
            max_tokens_field="max_tokens",
            reasoning_field="reasoning_content",
            output_schema="json_object",
        ),
    ),
    # The thinking models want reasoning_content back within a tool turn [vendor "Use thinking models"]; since k2.5 an
    # empty one counts as missing, and a blank as one [theopenco/llmgateway#2093, tried at the service, April 2026].
    Provider(
        name="moonshot",
        title="Moonshot",
        base_url="https://api.moonshot.ai/v1",
        dialects=CHAT,
        models=("kimi-", "moonshot-"),
        key_env=("MOONSHOT_API_KEY",),
        quirks=_server(max_tokens_field="max_tokens", reasoning_field="reasoning_content", reasoning_echo="calls"),
    ),
    # Older models know JSON mode only [vendor "Structured output"]; the reply has reasoning_content ["Deep thinking"].
    Provider(
        name="qwen",
        title="Qwen (Model Studio)",
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        dialects=CHAT,
        models=("qwen-", "qwq-"),
        key_env=("DASHSCOPE_API_KEY",),
        quirks=_server(max_tokens_field="max_tokens", reasoning_field="reasoning_content", output_schema="json_object"),
        note="The international endpoint; for another region write a qwen:// DSN.",
    ),
    # Vectors and rerank alone [vendor "Embeddings", "Rerankers": 1,000 texts, 120,000 tokens for its largest models].
    Provider(
        name="voyage",
        title="Voyage AI",
        base_url="https://api.voyageai.com/v1",
        dialects=CHAT,
        models=("voyage-",),
        key_env=("VOYAGE_API_KEY",),
        quirks=_server(
            embed_dimensions="output_dimension",
            embed_input_type="input_type",
            embed_base64=True,
            embed_inputs=1_000,
            embed_tokens=120_000,
            rerank_form="voyage",
        ),
        note="Embeddings and rerank alone.",
    ),
    # The same [vendor "Embeddings", "Reranker"].
    Provider(
        name="jina",
        title="Jina AI",
        base_url="https://api.jina.ai/v1",
        dialects=CHAT,
        models=("jina-",),
        key_env=("JINA_API_KEY",),
        quirks=_server(embed_input_type="task", embed_inputs=512),
        note="Embeddings and rerank alone.",
    ),
    # [wire §9]: thought signatures ride on the calls and go back; ids and indexes may be missing; no readable thoughts.
    Provider(
        name="gemini-compat",
        title="Google, OpenAI-compatible",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        dialects=CHAT,
        address_env=(("GOOGLE_GEMINI_BASE_URL", "/v1beta/openai"),),
        key_env=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        quirks=SERVER,
    ),
)

_SELF_HOSTED = (
    # [wire §8]: tool_choice, n, logit_bias and user are ignored; `reasoning` is taken back; structured output and tools
    # do not go together.
    Provider(
        name="ollama-compat",
        title="Ollama, OpenAI-compatible",
        base_url="http://localhost:11434/v1",
        dialects=CHAT,
        address_env=(("OLLAMA_HOST", "/v1"),),
        card="ollama",
        key_required=False,
        plain_loopback=True,
        quirks=_server(
            max_tokens_field="max_tokens",
            reasoning_field="reasoning",
            tool_choice="ignored",
            output_schema_with_tools=False,
            unsupported=BEYOND_OPENAI | {"n", "logit_bias", "user"},
        ),
        note="The context size cannot be set here.",
    ),
    # [wire §5]: `reasoning` since late 2025; thinking is switched in the template; a grammar and tools get into each
    # other's way.
    Provider(
        name="vllm",
        title="vLLM",
        base_url="http://localhost:8000/v1",
        dialects=CHAT,
        key_env=("VLLM_API_KEY",),
        key_required=False,
        quirks=_server(
            thinking_field="chat_template_kwargs", reasoning_field="reasoning", output_schema_with_tools=False
        ),
        note="Tools need --enable-auto-tool-choice and --tool-call-parser.",
    ),
    Provider(
        name="sglang",
        title="SGLang",
        base_url="http://localhost:30000/v1",
        dialects=CHAT,
        key_required=False,
        quirks=_server(reasoning_field="reasoning_content"),
        note="Tools need --tool-call-parser.",
    ),
    # [wire §6]: parallel calls are off unless asked for; a named choice is unverified; a schema with tools is an error.
    Provider(
        name="llamacpp",
        title="llama.cpp",
        base_url="http://localhost:8080/v1",
        dialects=CHAT,
        card="llamacpp",
        key_required=False,
        quirks=_server(
            max_tokens_field="max_tokens",
            reasoning_field="reasoning_content",
            tool_choice="strings",
            parallel_explicit=True,
            output_schema_with_tools=False,
        ),
    ),
    # [wire §7]: string forms of tool_choice only; json_schema only; Responses and Messages since 0.3.29 and 0.4.1.
    Provider(
        name="lmstudio",
        title="LM Studio",
        base_url="http://localhost:1234/v1",
        dialects=("openai-chat", "openai-responses", "anthropic"),
        key_required=False,
        quirks=_server(max_tokens_field="max_tokens", reasoning_echo="never", tool_choice="strings", json_mode=False),
    ),
)

_OTHER_DIALECTS = (
    Provider(
        name="anthropic",
        title="Anthropic",
        base_url="https://api.anthropic.com/v1",
        dialects=("anthropic",),
        models=("claude-",),
        address_env=(("ANTHROPIC_BASE_URL", "/v1"),),
        key_env=("ANTHROPIC_API_KEY",),
        token_env=("ANTHROPIC_AUTH_TOKEN",),
        auth="x-api-key",
        quirks=Quirks(batches="vendor"),
        elsewhere="anthropic-compatible",
    ),
    # A server of another's refuses what belongs to a beta feature that it does not have [field].
    Provider(
        name="anthropic-compatible",
        title="any Messages-compatible server",
        base_url="https://{host}/v1",
        dialects=("anthropic",),
        auth="x-api-key",
        key_required=False,
        quirks=Quirks(betas=frozenset()),
        family="anthropic",
        note="What an anthropic:// DSN to another host stands for; ?betas=* sends beta features there, too.",
    ),
    Provider(
        name="google",
        title="Google Gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        dialects=("google",),
        models=("gemini-",),
        address_env=(("GOOGLE_GEMINI_BASE_URL", "/v1beta"),),
        card="google",
        key_env=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        auth="x-goog-api-key",
        quirks=Quirks(bounds="vendor", batches="vendor"),
    ),
    *CLOUD_ROWS,
    # [wire, own page]: a schema binds the answer from its first token, so that no tool is called beside it. In the
    # cloud `format` is not held to: the schema is told in the system text, too.
    Provider(
        name="ollama",
        title="Ollama",
        base_url="http://localhost:11434",
        dialects=("ollama",),
        models=("llama", "gemma", "phi", "qwen"),
        key_env=("OLLAMA_API_KEY",),
        address_env=(("OLLAMA_HOST", ""),),
        card="ollama",
        key_required=False,
        plain_loopback=True,
        quirks=OLLAMA,
    ),
    Provider(
        name="ollama-cloud",
        title="Ollama cloud",
        base_url="https://ollama.com",
        dialects=("ollama",),
        card="ollama",
        key_env=("OLLAMA_API_KEY",),
        plain_loopback=True,
        quirks=msgspec.structs.replace(OLLAMA, output_schema="none"),
    ),
    Provider(
        name="foreman",
        title="Foreman",
        base_url="https://{host}",
        dialects=("ollama",),
        card="ollama",
        key_required=False,
        plain_loopback=True,
        quirks=OLLAMA,
        note="A server of the Ollama family; its address comes from LLM_FOREMAN=foreman://[token@]host.",
    ),
    # [SDK cohere]: the members and their bounds. Names of tools, and that a schema together with tools is a 400: our
    # notes on the vendor's pages.
    Provider(
        name="cohere",
        title="Cohere",
        base_url="https://api.cohere.com/v2",
        dialects=("cohere",),
        models=("command-", "c4ai-", "embed-", "rerank-"),
        address_env=(("CO_API_URL", "/v2"),),
        key_env=("CO_API_KEY", "COHERE_API_KEY"),
        quirks=Quirks(name_rule="unified", output_schema_with_tools=False, bounds="vendor"),
    ),
    Provider(
        name="interlingua",
        title="another interlingua",
        base_url="https://{host}",
        dialects=("unified",),
        key_required=False,
        quirks=Quirks(embed_input_type="task", embed_inputs=2_048),
        note="A gateway of ours, in our own format; its address comes from LLM_HUB=interlingua://[token@]host.",
    ),
)

LOCAL = _server(
    max_tokens_field="max_tokens",
    effort_field="none",
    parallel_calls=False,
    stop_in_json=False,
    json_word=False,
    embed_dimensions="none",
    embed_form="pooled",
    rerank_form="none",
    unsupported=frozenset({
        "cache_key", "extra", "logprobs", "metadata", "n", "schema_description", "service_tier", "store", "user",
        "verbosity",
    }),
)  # fmt: skip
"""The quirks of the embedded engine, a law says: llama.cpp, with a grammar of our own for tools and schemas."""

_IN_PROCESS = (
    Provider(
        name="local",
        title="the embedded engine",
        base_url="local://",
        dialects=CHAT,
        auth="none",
        key_required=False,
        quirks=LOCAL,
        capabilities=Capabilities(text=True, images=False, audio=False, documents=False, tools=True),
        note="Needs the [local] extra and weights: il models pull tiny.",
    ),
    Provider(
        name="fake",
        title="the deterministic fake",
        base_url="fake://",
        dialects=CHAT,
        auth="none",
        key_required=False,
        quirks=Quirks(embed_input_type="task"),
        note="Answers from the tools and schemas offered, and says that it is not a model.",
    ),
)

ROWS: dict[str, Provider] = {
    row.name: row for row in (*_OPENAI_FAMILY, *_HOSTED, *_SELF_HOSTED, *_OTHER_DIALECTS, *_IN_PROCESS)
}
"""Every row by name, in the order of the guide's table."""
