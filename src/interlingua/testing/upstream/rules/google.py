"""Rules of generateContent beyond the shape of a request. Members stand in camel case here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from interlingua.testing.upstream.rules.common import repeated
from interlingua.testing.upstream.rules.schemas import google_json_schema, google_schema
from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.values import items, members, objects, word
from interlingua.wire.model_table import ModelRow, model_row

__all__ = ["GOOGLE_RULES", "SKIP_SIGNATURES"]

SKIP_SIGNATURES = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})
"""Values that may stand in the place of a thought signature in a history from elsewhere."""
IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
PLAYED = frozenset(
    {
        "audio/wav",
        "audio/mp3",
        "audio/mpeg",
        "audio/aiff",
        "audio/aac",
        "audio/ogg",
        "audio/flac",
        "audio/m4a",
        "audio/mpga",
        "audio/mp4",
        "audio/opus",
        "audio/pcm",
        "audio/webm",
        "audio/l16",
        "video/mp4",
        "video/mpeg",
        "video/mov",
        "video/quicktime",
        "video/avi",
        "video/x-flv",
        "video/flv",
        "video/mpg",
        "video/mpegps",
        "video/webm",
        "video/wmv",
        "video/3gpp",
    }
)
"""Sound and films, by the vendor pages "Audio understanding", "Video understanding" and "Input file requirements"."""
DOCUMENTS = frozenset({"application/pdf", "application/x-javascript", "application/x-python"})
"""Beside texts: vendor page "Document understanding"; a docx is refused."""
ROLES = frozenset({"user", "model", "function"})
HOSTED = (
    "googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext", "googleMaps", "fileSearch", "computerUse",
)  # fmt: skip
_DATA = (
    "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult",
    "toolCall", "toolResponse", "audioTranscription",
)  # fmt: skip

CALL_AFTER = "Please ensure that function call turn comes immediately after"
RESULT_AFTER = "Please ensure that function response turn comes immediately after a function call turn."
SAME_NUMBER = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)

Part = tuple[tuple[str | int, ...], dict[str, Any]]


UNKNOWN = ModelRow("google", "", "nobody")
"""The facts of a model of which nothing is known: it takes everything."""


def _row(request: Asked) -> ModelRow:
    return model_row("google", request.model) or UNKNOWN


def _is_vertex(request: Asked) -> bool:
    return "aiplatform" in (urlsplit(request.url).hostname or "")


def _turns(request: Asked) -> list[tuple[str, list[Part]]]:
    """Role and parts of every turn: neighbours of a role are one."""
    result: list[tuple[str, list[Part]]] = []
    for role_word, parts in _contents(request):
        role = "model" if role_word == "model" else "user"
        if result and result[-1][0] == role:
            result[-1][1].extend(parts)
        else:
            result.append((role, list(parts)))
    return result


def _contents(request: Asked) -> list[tuple[str, list[Part]]]:
    """Role and parts of every content."""
    result: list[tuple[str, list[Part]]] = []
    for place, content in enumerate(objects(request.body.get("contents"))):
        parts = [
            (("contents", place, "parts", at), members(part)) for at, part in enumerate(items(content.get("parts")))
        ]
        result.append((word(content.get("role")) or "user", parts))
    return result


def _of(parts: list[Part], name: str) -> list[Part]:
    return [(steps, members(part[name])) for steps, part in parts if isinstance(part.get(name), dict)]


def _roles(request: Asked) -> Iterator[Finding]:
    for place, (role, _) in enumerate(_contents(request)):
        if role not in ROLES:
            yield ("contents", place, "role"), "Please use a valid role: user, model."


def _empty_contents(request: Asked) -> Iterator[Finding]:
    for place, (_, parts) in enumerate(_contents(request)):
        if not parts:
            yield ("contents", place, "parts"), "contents.parts must not be empty."
        for steps, part in parts:
            data = [name for name in _DATA if part.get(name) is not None]
            if not data and "thoughtSignature" not in part:
                yield steps, "required oneof field 'data' must have one initialized field"
            if len(data) > 1:
                yield steps, f"oneof field 'data' is already set: {', '.join(data)}"


def _call_turns(request: Asked) -> Iterator[Finding]:
    """A turn that calls is not the first one."""
    turns = _turns(request)
    if turns and turns[0][0] == "model" and _of(turns[0][1], "functionCall"):
        yield turns[0][1][0][0][:2], f"{CALL_AFTER} a user turn or after a function response turn."


def _results(request: Asked) -> Iterator[Finding]:
    """All results of a turn stand in the next one, as many as it has calls."""
    turns = _turns(request)
    for place, (role, parts) in enumerate(turns):
        calls = _of(parts, "functionCall") if role == "model" else []
        later = _of(turns[place + 1][1], "functionResponse") if place + 1 < len(turns) else []
        if calls and len(later) != len(calls):
            yield calls[0][0][:2], SAME_NUMBER
        results = _of(parts, "functionResponse")
        if results and not (place and _of(turns[place - 1][1], "functionCall")):
            yield results[0][0][:2], RESULT_AFTER


def _split_results(request: Asked) -> Iterator[Finding]:
    """The results of a turn stand in one content."""
    before = False
    for place, (_, parts) in enumerate(_contents(request)):
        holds = bool(_of(parts, "functionResponse"))
        if holds and before:
            yield ("contents", place), "all function responses of a turn stand in one content"
        before = holds


def _result_names(request: Asked) -> Iterator[Finding]:
    """A result has the name and the id of its call."""
    turns = _turns(request)
    for place, (_, parts) in enumerate(turns):
        calls = [call for _, call in _of(turns[place - 1][1], "functionCall")] if place else []
        for steps, result in _of(parts, "functionResponse"):
            match = _matching_call(calls, result)
            if match is None and calls:
                yield (
                    (*steps, "functionResponse"),
                    f"{result.get('name')!r} with id {result.get('id')!r} was not called",
                )
            elif match is not None:
                calls.remove(match)


def _matching_call(calls: list[dict[str, Any]], result: dict[str, Any]) -> dict[str, Any] | None:
    fitting = [call for call in calls if call.get("name") == result.get("name")]
    return next((call for call in fitting if call.get("id") == result.get("id")), None)


def _call_names(request: Asked) -> Iterator[Finding]:
    for _, parts in _contents(request):
        for name in ("functionCall", "functionResponse"):
            for steps, call in _of(parts, name):
                if not word(call.get("name")):
                    yield (*steps, name, "name"), f"{name}.name: Name cannot be empty."


def _references(request: Asked) -> Iterator[Finding]:
    """`$ref` in a result names one of its parts."""
    for _, parts in _contents(request):
        for steps, result in _of(parts, "functionResponse"):
            media = [members(part.get("inlineData") or part.get("fileData")) for part in objects(result.get("parts"))]
            shown = {word(data.get("displayName")) for data in media}
            for reference in _refs(result.get("response")):
                if reference not in shown:
                    yield (*steps, "functionResponse", "response"), f"$ref {reference!r} names no part of the response"


def _refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in members(value).items():
            if name == "$ref":
                yield str(item)
            else:
                yield from _refs(item)
    for item in items(value):
        yield from _refs(item)


def _vertex_ids(request: Asked) -> Iterator[Finding]:
    if not _is_vertex(request):
        return
    for _, parts in _contents(request):
        for name in ("functionCall", "functionResponse"):
            for steps, call in _of(parts, name):
                if "id" in call:
                    yield (*steps, name, "id"), 'Unknown name "id"'


# Thoughts


def _signatures(request: Asked) -> Iterator[Finding]:
    """The first call of every step of the current turn carries its signature."""
    if not _row(request).call_seals:
        return
    contents = _contents(request)
    asks = [
        place for place, (role, parts) in enumerate(contents) if role == "user" and not _of(parts, "functionResponse")
    ]
    for role, parts in contents[asks[-1] if asks else 0 :]:
        calls = [(steps, part) for steps, part in parts if isinstance(part.get("functionCall"), dict)]
        if role == "model" and calls and not calls[0][1].get("thoughtSignature"):
            yield calls[0][0], "Function call is missing a thought_signature in functionCall parts."


def _changed_seals(request: Asked) -> Iterator[Finding]:
    if request.issued is None:
        return
    for _, parts in _contents(request):
        for steps, part in parts:
            seal = part.get("thoughtSignature")
            if isinstance(seal, str) and seal not in request.issued.seals and seal not in SKIP_SIGNATURES:
                yield (*steps, "thoughtSignature"), "Corrupted thought signature."


def _thinking(request: Asked) -> Iterator[Finding]:
    config = members(members(request.body.get("generationConfig")).get("thinkingConfig"))
    steps = ("generationConfig", "thinkingConfig")
    if config.get("thinkingLevel") is not None and config.get("thinkingBudget") is not None:
        yield steps, "You can only set only one of thinking budget and thinking level."
    yield from _thinking_of_model(_row(request), config)


def _thinking_of_model(row: ModelRow, config: dict[str, Any]) -> Iterator[Finding]:
    steps = ("generationConfig", "thinkingConfig")
    level, budget = config.get("thinkingLevel"), config.get("thinkingBudget")
    if row.thinking is not None and not row.thinking and config:
        yield steps, "Thinking is not supported by this model."
    elif isinstance(level, str) and row.efforts is not None and level.lower() not in row.efforts:
        yield (*steps, "thinkingLevel"), "Thinking level is not supported for this model."
    elif isinstance(budget, int) and row.budgets is not None and not _fits(row, budget):
        least, most = row.budgets
        sentence = f"The thinking budget {budget} is invalid. Please choose a value between {least} and {most}."
        yield (*steps, "thinkingBudget"), sentence


def _fits(row: ModelRow, budget: int) -> bool:
    """Whether a budget is taken: -1 leaves it to the model, 0 is no thinking."""
    least, most = row.budgets or (budget, budget)
    return budget == -1 or least <= budget <= most or (budget == 0 and "disabled" in (row.thinking or ()))


# Tools and answers


def _functions(request: Asked) -> list[Part]:
    result: list[Part] = []
    for place, tool in enumerate(items(request.body.get("tools"))):
        declared = objects(members(tool).get("functionDeclarations"))
        result += [(("tools", place, "functionDeclarations", at), function) for at, function in enumerate(declared)]
    return result


def _declarations(request: Asked) -> Iterator[Finding]:
    names = [((*steps, "name"), word(function.get("name"))) for steps, function in _functions(request)]
    yield from repeated(names, "Duplicate function declaration found:")
    for steps, function in _functions(request):
        for first, second in (("parameters", "parametersJsonSchema"), ("response", "responseJsonSchema")):
            if function.get(first) is not None and function.get(second) is not None:
                yield steps, f"only one of {first} and {second} may be set"


_OBJECT = 6
"""The type of an object, as clients say it that send its number."""


def _schemas(request: Asked) -> Iterator[Finding]:
    for steps, function in _functions(request):
        yield from google_schema(function.get("parameters"), (*steps, "parameters"))
        yield from google_json_schema(function.get("parametersJsonSchema"), (*steps, "parametersJsonSchema"))
        for name in ("parameters", "parametersJsonSchema"):
            schema = members(function.get(name))
            if schema and schema.get("type") != _OBJECT and word(schema.get("type")).upper() != "OBJECT":
                yield (*steps, name), "parameters schema should be of type OBJECT."
    config = members(request.body.get("generationConfig"))
    yield from google_schema(config.get("responseSchema"), ("generationConfig", "responseSchema"))
    yield from google_json_schema(config.get("responseJsonSchema"), ("generationConfig", "responseJsonSchema"))


def _choice(request: Asked) -> Iterator[Finding]:
    config = members(members(request.body.get("toolConfig")).get("functionCallingConfig"))
    steps = ("toolConfig", "functionCallingConfig")
    names = items(config.get("allowedFunctionNames"))
    if names and word(config.get("mode")).upper() not in ("ANY", "VALIDATED"):
        yield (*steps, "allowedFunctionNames"), "only allowed when the mode is ANY or VALIDATED"
    declared = [function.get("name") for _, function in _functions(request)]
    for place, name in enumerate(names):
        if name not in declared:
            yield (*steps, "allowedFunctionNames", place), f"{name!r} is not declared"
    if word(config.get("mode")).upper() == "ANY" and not declared:
        yield (*steps, "mode"), "Function calling config is set without function_declarations."


def _structured(request: Asked) -> Iterator[Finding]:
    config = members(request.body.get("generationConfig"))
    raw = [name for name in ("responseSchema", "responseJsonSchema") if config.get(name) is not None]
    mime = word(config.get("responseMimeType"))
    if len(raw) == 2:
        yield ("generationConfig",), "only one of responseSchema and responseJsonSchema may be set"
    if raw and mime not in ("application/json", "text/x.enum"):
        yield ("generationConfig", "responseMimeType"), "a response schema needs response mime type application/json"
    if mime == "application/json" and _functions(request):
        yield from _structured_with_tools(request)


def _structured_with_tools(request: Asked) -> Iterator[Finding]:
    config = members(members(request.body.get("toolConfig")).get("functionCallingConfig"))
    mode, together = word(config.get("mode")).upper(), _row(request).output_schema_with_tools
    if together is False and mode != "NONE":
        yield ("tools",), "Function calling with a response mime type: 'application/json' is unsupported"
    elif together and mode == "ANY":
        yield ("toolConfig",), "Forced function calling (mode = ANY) with a response mime type is unsupported"


def _hosted_with_functions(request: Asked) -> Iterator[Finding]:
    mixed = _row(request).mixed_tools
    hosted = [name for tool in objects(request.body.get("tools")) for name in HOSTED if name in tool]
    if mixed is None or not hosted or not _functions(request) or _is_vertex(request):
        return
    config = members(request.body.get("toolConfig"))
    if not mixed:
        yield ("tools",), "Tool use with function calling is unsupported"
    elif not config.get("includeServerSideToolInvocations"):
        yield ("toolConfig",), "Please enable tool_config.include_server_side_tool_invocations."


def _media(request: Asked) -> Iterator[Finding]:
    for _, parts in _contents(request):
        for steps, data in _of(parts, "inlineData"):
            mime = word(data.get("mimeType"))
            if not mime:
                yield (*steps, "inlineData", "mimeType"), "inlineData needs a mimeType"
            elif not _is_taken(mime.lower().partition(";")[0]):
                yield (*steps, "inlineData", "mimeType"), f"Unsupported MIME type: {mime}"


def _is_taken(mime: str) -> bool:
    return mime in IMAGES or mime in PLAYED or mime in DOCUMENTS or mime.startswith("text/")


def _result_media(request: Asked) -> Iterator[Finding]:
    if _row(request).result_media is not False:
        return
    for _, parts in _contents(request):
        for steps, result in _of(parts, "functionResponse"):
            if result.get("parts"):
                yield (*steps, "functionResponse", "parts"), "Media in a function response is not supported"


def _penalties(request: Asked) -> Iterator[Finding]:
    if _row(request).penalties is not False or _is_vertex(request):
        return
    for name in ("presencePenalty", "frequencyPenalty"):
        if members(request.body.get("generationConfig")).get(name):
            yield ("generationConfig", name), "Penalty is not enabled for this model"


GOOGLE_RULES: tuple[Rule, ...] = (
    Rule("bad_role", _roles, "Google, Field facts"),
    Rule("empty_content", _empty_contents, "request types: a part is one of its data members"),
    Rule("call_turn", _call_turns, "Google, Pitfalls (unverified); RES-35"),
    Rule("results", _results, "Google, Field facts, results; RES-07"),
    Rule("split_results", _split_results, "Google, Pitfalls; RES-28"),
    Rule("result_name", _result_names, "Google, Field facts, results; ID-08, ID-14"),
    Rule("call_name", _call_names, "Google, Field facts, results; ID-14"),
    Rule("result_reference", _references, "Google, Field facts, multimodal result; RES-13"),
    Rule("vertex_ids", _vertex_ids, "Google, Field facts, call id"),
    Rule("missing_signature", _signatures, "Google, thoughtSignature round trip; THK-07, THK-09"),
    Rule("changed_seal", _changed_seals, "Google, thoughtSignature round trip"),
    Rule("thinking", _thinking, "Google, Field facts, thinking"),
    Rule("declarations", _declarations, "Google, Field facts, tool def"),
    Rule("schema", _schemas, "Google, Schema subset; SCH-01, SCH-02, SCH-11 to SCH-13"),
    Rule("unknown_choice", _choice, "Google, Field facts, tool choice; CHO-17"),
    Rule("structured", _structured, "Google, Field facts, structured and structured + tools"),
    Rule("hosted_with_functions", _hosted_with_functions, "Google, Field facts, built-in + function tools"),
    Rule("bad_media", _media, "Google, Field facts, images"),
    Rule("unsupported_by_model", _result_media, "Google, Field facts, multimodal result"),
    Rule("unsupported_by_model", _penalties, "Google, Pitfalls"),
)
"""The rules of generateContent."""
