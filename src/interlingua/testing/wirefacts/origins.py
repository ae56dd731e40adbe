"""Where an answer comes from and what it rests on, read from the wire of each format: ids and citations.

Rules
- Ids of calls are listed in the order of the calls; None where the format leaves them out.
- A citation is named by the first of what it says of its source: address, file, title.
- Ollama's answers have no id, and no citations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.wirefacts.bedrock import as_message, as_messages
from interlingua.testing.wirefacts.google import camel
from interlingua.testing.wirefacts.openai_chat import calls_of
from interlingua.testing.wirefacts.values import Facts, items, joined, members, objects, word

__all__ = ["answer_origins", "citation_source", "request_call_ids"]

SOURCES = (
    "url",
    "uri",
    "file",
    "fileId",
    "file_id",
    "fileSearchStore",
    "documentName",
    "container_id",
    "document_title",
    "title",
    "filename",
    "source",
)
"""Members of a citation that name its source, the most telling first."""


def citation_source(raw: Any) -> str:
    """The source of a citation, whatever its format; empty for one that names none."""
    values = list(_objects_in(raw))
    return next((source for name in SOURCES for value in values if (source := word(value.get(name)))), "")


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        inner = members(value)
        yield inner
        for item in inner.values():
            yield from _objects_in(item)
    for item in items(value):
        yield from _objects_in(item)


def answer_origins(dialect: str, body: Any) -> Facts:
    """The id of an answer, and for each choice the ids of its calls and the sources of its citations."""
    body = members(body)
    match dialect:
        case "anthropic":
            return _origins(body.get("id"), [_anthropic(body)])
        case "google":
            body = camel(body)
            return _origins(body.get("responseId"), [_google(one) for one in objects(body.get("candidates"))])
        case "cohere":
            message = members(body.get("message"))
            calls = objects(message.get("tool_calls"))
            return _origins(body.get("id"), [_choice([call.get("id") for call in calls], _cohere_citations(message))])
        case "bedrock":
            return answer_origins("anthropic", as_message(body))
        case "ollama":
            calls = objects(members(body.get("message")).get("tool_calls"))
            return _origins(None, [_choice([call.get("id") for call in calls], [])])
        case "openai-chat":
            return _origins(body.get("id"), [_chat(choice) for choice in objects(body.get("choices"))])
        case "openai-responses":
            return _origins(body.get("id"), [_responses(body)])
        case _:
            answer = members(body.get("partial")) if "error" in body else body
            choices = [answer, *objects(answer.get("alternatives"))]
            return _origins(answer.get("id"), [_unified(choice) for choice in choices])


def _origins(answer_id: Any, choices: list[Facts]) -> Facts:
    return {"id": answer_id or None, "choices": choices}


def _choice(call_ids: list[Any], citations: list[Any]) -> Facts:
    return {
        "call_ids": [call_id or None for call_id in call_ids],
        "citations": [citation_source(one) for one in citations],
    }


def _anthropic(body: dict[str, Any]) -> Facts:
    blocks = objects(body.get("content"))
    calls = [block.get("id") for block in blocks if block.get("type") == "tool_use"]
    texts = [block for block in blocks if block.get("type") == "text"]
    return _choice(calls, [one for block in texts for one in items(block.get("citations"))])


def _google(candidate: dict[str, Any]) -> Facts:
    content = members(candidate.get("content")).get("parts")
    parts = objects([content] if isinstance(content, dict) else content)
    calls = [members(part["functionCall"]).get("id") for part in parts if "functionCall" in part]
    shown = any(part.get("text") and not part.get("thought") for part in parts)
    return _choice(calls, _google_citations(candidate) if shown else [])


def _google_citations(candidate: dict[str, Any]) -> list[Any]:
    """A citation for each chunk that a support names, else for each chunk; metadata without any are one."""
    result: list[Any] = []
    if "groundingMetadata" in candidate:
        metadata = members(candidate["groundingMetadata"])
        chunks: list[Any] = [next(iter(members(one).values()), None) for one in items(metadata.get("groundingChunks"))]
        supports = objects(metadata.get("groundingSupports"))
        places = [place for one in supports for place in items(one.get("groundingChunkIndices"))]
        cited = [chunks[place] for place in places if place in range(len(chunks))]
        result += cited or [one for one in chunks if one] or [metadata]
    if "citationMetadata" in candidate:
        metadata = members(candidate["citationMetadata"])
        result += objects(metadata.get("citationSources")) or objects(metadata.get("citations")) or [metadata]
    return result


def _cohere_citations(message: dict[str, Any]) -> list[Any]:
    """A citation for each source that one rests on; one without sources is one."""
    cited = objects(message.get("citations"))
    return [source for one in cited for source in (objects(one.get("sources")) or [one])]


def _chat(choice: dict[str, Any]) -> Facts:
    message = members(choice.get("message") or choice.get("delta"))
    annotations = objects(message.get("annotations")) if joined(message.get("content")) else []
    return _choice([call_id for call_id, _, _ in calls_of(message)], annotations)


def _responses(body: dict[str, Any]) -> Facts:
    output = objects(body.get("output"))
    calls = [item.get("call_id") for item in output if item.get("type") in ("function_call", "custom_tool_call")]
    parts = [part for item in output if item.get("type") == "message" for part in objects(item.get("content"))]
    return _choice(calls, [one for part in parts for one in items(part.get("annotations"))])


def _unified(choice: dict[str, Any]) -> Facts:
    parts = objects(choice.get("parts"))
    calls = [part.get("id") for part in parts if part.get("type") in ("tool_call", "broken_tool_call")]
    texts = [part for part in parts if part.get("type") == "text"]
    cited = [members(one) for part in texts for one in items(part.get("annotations"))]
    named = [{name: one[name] for name in ("url", "file", "title") if one.get(name)} for one in cited]
    return _choice(calls, [fields or one.get("raw") for fields, one in zip(named, cited, strict=True)])


def request_call_ids(dialect: str, body: Any) -> list[Any]:
    """The ids of the calls in a request's history, in order; None where the format leaves them out."""
    body = members(body)
    match dialect:
        case "anthropic":
            blocks = [block for one in objects(body.get("messages")) for block in objects(one.get("content"))]
            ids = [block.get("id") for block in blocks if block.get("type") == "tool_use"]
        case "bedrock":
            return request_call_ids("anthropic", as_messages(body))
        case "google":
            contents = camel(body).get("contents")
            listed = objects([contents] if isinstance(contents, dict) else contents)
            calls = [members(part["functionCall"]) for one in listed for part in _parts(one) if "functionCall" in part]
            ids = [call.get("id") for call in calls]
        case "openai-responses":
            kinds = ("function_call", "custom_tool_call")
            ids = [item.get("call_id") for item in objects(body.get("input")) if item.get("type") in kinds]
        case "unified":
            parts = [part for one in objects(body.get("messages")) for part in objects(one.get("parts"))]
            ids = [part.get("id") for part in parts if part.get("type") == "tool_call"]
        case _:
            calls_in = [call for one in objects(body.get("messages")) for call in calls_of(one)]
            ids = [call_id for call_id, _, _ in calls_in]
    return [call_id or None for call_id in ids]


def _parts(content: dict[str, Any]) -> list[dict[str, Any]]:
    parts = content.get("parts")
    return objects([parts] if isinstance(parts, dict) else parts)
