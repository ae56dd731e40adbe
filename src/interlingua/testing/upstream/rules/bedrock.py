"""The rules of Converse beyond the shape of a request; of Claude those of Messages, too.

Rules
- The rules of model families read the Messages body that says the same, and name its places.
- Messages of the role `system` are passed over: no recorded request has one.
- Neighbours of one role are one turn, and the first one may be the model's: recorded, bedrock cc818c3c3518 and
  bd704f2e3c45.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from interlingua.errors import DecodeError
from interlingua.testing.upstream.rules.anthropic import budget_findings, knob_findings
from interlingua.testing.upstream.rules.anthropic_models import ANTHROPIC_MODEL_RULES
from interlingua.testing.upstream.rules.common import repeated
from interlingua.testing.upstream.rules.schemas import anthropic_root, anthropic_strict
from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.bedrock import as_messages, schema_of
from interlingua.testing.wirefacts.values import items, members, objects, word
from interlingua.wire.json import decode_any

__all__ = ["BEDROCK_RULES"]

MAX_MARKS = 4
MAX_IMAGES = 20
MAX_DOCUMENTS = 5
MAX_IMAGE_BYTES = 3_750_000
MODEL = re.compile(
    r"arn:aws(-[^:]+)?:(bedrock|sagemaker):[a-z0-9-]{1,20}:([0-9]{12})?:[a-z-]+/[a-zA-Z0-9-:./]+|[a-zA-Z0-9-:._]+"
)
"""A model id, an inference profile or an ARN."""
SIGNATURE = re.compile(
    r"AWS4-HMAC-SHA256 Credential=[^/,\s]+/\d{8}/[a-z0-9-]+/bedrock/aws4_request, ?"
    r"SignedHeaders=(?P<names>[a-z0-9;-]+), ?Signature=[0-9a-f]{64}"
)
DOCUMENT_NAME = re.compile(r"[a-zA-Z0-9()\[\]-]+( [a-zA-Z0-9()\[\]-]+)*")
_CLAUDE = re.compile(r"(.*[/.])?anthropic\.(?=claude)")
_ASSISTANTS = frozenset({"toolUse", "reasoningContent", "citationsContent"})
_USERS = frozenset({"toolResult", "image", "document", "video", "audio", "guardContent"})

Block = tuple[tuple[str | int, ...], dict[str, Any]]


def _turns(request: Asked) -> list[tuple[int, str, list[Block]]]:
    """Place, role and blocks of every turn."""
    turns: list[tuple[int, str, list[Block]]] = []
    for place, message in enumerate(objects(request.body.get("messages"))):
        role, blocks = word(message.get("role")), _blocks(("messages", place, "content"), message.get("content"))
        if turns and turns[-1][1] == role:
            turns[-1][2].extend(blocks)
        elif role != "system":
            turns.append((place, role, blocks))
    return turns


def _blocks(steps: tuple[str | int, ...], content: Any) -> list[Block]:
    return [((*steps, place), members(block)) for place, block in enumerate(items(content))]


def _every_block(request: Asked) -> Iterator[Block]:
    """The blocks of the system text, the messages and the results."""
    yield from _blocks(("system",), request.body.get("system"))
    for _, _, blocks in _turns(request):
        for steps, block in blocks:
            yield steps, block
            yield from _blocks((*steps, "toolResult", "content"), members(block.get("toolResult")).get("content"))


def _calls(blocks: list[Block]) -> list[str]:
    """The ids of the calls that the caller has to run."""
    calls = [members(block.get("toolUse")) for _, block in blocks if "toolUse" in block]
    return [word(call.get("toolUseId")) for call in calls if call.get("type") is None]


# The credential and the model


def _signed(request: Asked) -> Iterator[Finding]:
    credential = request.says("authorization") or ""
    if not credential.startswith("AWS4"):
        return
    match = SIGNATURE.fullmatch(credential)
    if match is None:
        yield (), "The request signature does not conform to AWS standards."
    elif not {"host", "x-amz-date"} <= set(match["names"].split(";")) or request.says("x-amz-date") is None:
        yield (), "'Host' or 'X-Amz-Date' must be a signed header in the AWS Authorization."


def _model(request: Asked) -> Iterator[Finding]:
    if MODEL.fullmatch(request.model) is None:
        yield (), "The provided model identifier is invalid."


# Order and pairing


def _empty(request: Asked) -> Iterator[Finding]:
    if not request.body.get("messages") and ":prompt/" not in request.model:
        yield ("messages",), "The messages field is empty. Add a message and try again."
    for place, message in enumerate(objects(request.body.get("messages"))):
        if message.get("content") == []:
            yield ("messages", place, "content"), "The content field in the Message object is empty."


def _pairing(request: Asked) -> Iterator[Finding]:
    waiting: list[str] = []
    for place, _, blocks in _turns(request):
        where = ".".join(("messages", str(place), "content"))
        answered: list[str] = []
        for steps, block in blocks:
            result = members(block.get("toolResult"))
            if result and result.get("type") is None:
                answered.append(word(result.get("toolUseId")))
                if answered[-1] not in waiting or answered.count(answered[-1]) > 1:
                    sentence = f"The toolResult blocks at {where} have no toolUse block of the previous turn"
                    yield (*steps, "toolResult", "toolUseId"), f"{sentence}: {answered[-1]}"
        missing = [call for call in waiting if call not in answered]
        if missing:
            yield ("messages", place), f"Expected toolResult blocks at {where} for the following Ids: {missing}"
        waiting = _calls(blocks)
    if waiting:
        yield ("messages",), f"Expected toolResult blocks for the following Ids: {waiting}"


def _repeated_calls(request: Asked) -> Iterator[Finding]:
    every = [block for _, _, blocks in _turns(request) for block in blocks if "toolUse" in block[1]]
    named = [((*steps, "toolUse", "toolUseId"), word(block["toolUse"].get("toolUseId"))) for steps, block in every]
    yield from repeated(named, "The toolUseId")


def _homes(request: Asked) -> Iterator[Finding]:
    for _, role, blocks in _turns(request):
        for steps, block in blocks:
            kind = next(iter(block), "")
            ran = members(block.get("toolResult")).get("type") is not None
            if kind in (_USERS if role == "assistant" else _ASSISTANTS) and not ran:
                yield steps, f"{kind} blocks are not allowed in {role} messages."


# Contents


def _blank(request: Asked) -> Iterator[Finding]:
    every = list(_every_block(request))
    for place, (steps, block) in enumerate(every):
        text = block.get("text")
        marked = place + 1 < len(every) and "cachePoint" in every[place + 1][1]  # seen to pass, our notes say
        if isinstance(text, str) and not (text.strip() or (text and marked)):
            yield (*steps, "text"), "The text field in the ContentBlock object is blank. Add text to the text field."


def _documents(request: Asked) -> Iterator[Finding]:
    named: list[tuple[tuple[str | int, ...], str]] = []
    for steps, block in _every_block(request):
        if "document" in block:
            named.append(((*steps, "document", "name"), word(members(block["document"]).get("name"))))
            if DOCUMENT_NAME.fullmatch(named[-1][1]) is None:
                yield named[-1][0], "The document file name can only contain alphanumeric characters, whitespace, …"
    yield from repeated(named, "Duplicate document names are not allowed:")
    if len(named) > MAX_DOCUMENTS:
        yield ("messages",), f"{len(named)} documents; {MAX_DOCUMENTS} is the most"
    for place, role, blocks in _turns(request):
        kinds = {name for _, block in blocks for name in block}
        if role == "user" and "document" in kinds and not kinds & {"text", "guardContent"}:
            yield ("messages", place), "A text content block must be included when using documents."


def _images(request: Asked) -> Iterator[Finding]:
    count = 0
    for steps, block in _every_block(request):
        for kind in ("image", "document", "video", "audio"):
            data = members(members(block.get(kind)).get("source")).get("bytes")
            count += kind == "image" and data is not None
            if data == "":
                yield (*steps, kind, "source", "bytes"), "bytes has a minimum length of 1"
            if kind == "image" and len(word(data)) * 3 // 4 > MAX_IMAGE_BYTES:
                yield (*steps, kind, "source", "bytes"), f"an image has at most {MAX_IMAGE_BYTES:,} bytes"
    if count > MAX_IMAGES:
        yield ("messages",), f"{count} images; {MAX_IMAGES} is the most"


def _values(request: Asked) -> Iterator[Finding]:
    """Arguments and JSON of results are objects."""
    for steps, block in _every_block(request):
        call = members(block.get("toolUse"))
        if "toolUse" in block and not isinstance(call.get("input"), dict):
            yield (
                (*steps, "toolUse", "input"),
                "The format of the value at toolUse.input is invalid. Provide a json object",
            )
        if "json" in block and not isinstance(block["json"], dict):
            yield (
                (*steps, "json"),
                "The format of the value at toolResult.content.json is invalid. Provide a json object",
            )


def _marks(request: Asked) -> Iterator[Finding]:
    tools = _blocks(("toolConfig", "tools"), members(request.body.get("toolConfig")).get("tools"))
    marks = [
        (steps, members(block["cachePoint"]))
        for steps, block in (*tools, *_every_block(request))
        if "cachePoint" in block
    ]
    if len(marks) > MAX_MARKS:
        yield marks[-1][0], f"A maximum of {MAX_MARKS} blocks with cachePoint may be provided. Found {len(marks)}."
    short = False
    for steps, mark in marks:
        if mark.get("ttl") == "1h" and short:
            yield (*steps, "cachePoint", "ttl"), "a ttl='1h' cachePoint block must not come after a ttl='5m' one"
        short = short or mark.get("ttl") != "1h"


# Tools and knobs


def _tools(request: Asked) -> Iterator[Finding]:
    config = members(request.body.get("toolConfig"))
    tools = _blocks(("toolConfig", "tools"), config.get("tools"))
    specs = [
        ((*steps, kind), members(spec)) for steps, tool in tools for kind, spec in tool.items() if kind != "cachePoint"
    ]
    if not specs and any("toolUse" in block or "toolResult" in block for _, block in _every_block(request)):
        yield ("toolConfig",), "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    yield from repeated([((*steps, "name"), word(spec.get("name"))) for steps, spec in specs], "The tool name")
    name = members(members(config.get("toolChoice")).get("tool")).get("name")
    if name is not None and name not in [spec.get("name") for _, spec in specs]:
        yield ("toolConfig", "toolChoice", "tool", "name"), f"The tool {name} is not in toolConfig.tools"


def _schemas(request: Asked) -> Iterator[Finding]:
    tools = items(members(request.body.get("toolConfig")).get("tools"))
    for place, tool in enumerate(tools):
        spec = members(members(tool).get("toolSpec"))
        steps = ("toolConfig", "tools", place, "toolSpec", "inputSchema", "json")
        schema = members(spec.get("inputSchema")).get("json")
        if spec:
            yield from anthropic_root(schema, steps)
            if spec.get("strict"):
                yield from anthropic_strict(schema, steps)
    text = schema_of(request.body).get("schema")
    steps = ("outputConfig", "textFormat", "structure", "jsonSchema", "schema")
    if isinstance(text, str):
        try:
            findings = list(anthropic_strict(decode_any(text), steps))
            yield from [one for one in findings if "'minLength'" not in one[1]]  # recorded: bedrock 0101a578b08e
        except DecodeError:
            yield steps, "the schema is no JSON"


def _guardrail(request: Asked) -> Iterator[Finding]:
    config = members(request.body.get("guardrailConfig"))
    if config and not (config.get("guardrailIdentifier") and config.get("guardrailVersion")):
        yield ("guardrailConfig",), "guardrailIdentifier and guardrailVersion must be given together"
    if "streamProcessingMode" in config and not request.url.partition("?")[0].endswith("/converse-stream"):
        yield ("guardrailConfig", "streamProcessingMode"), "it belongs to streams"


def _metadata(request: Asked) -> Iterator[Finding]:
    for name in members(request.body.get("requestMetadata")):
        if re.fullmatch(r"[a-zA-Z0-9\s:_@$#=/+,-.]{1,256}", name) is None:
            yield ("requestMetadata",), f"{name[:80]!r} is no name of a label"


# Claude


def _as_claude(request: Asked) -> Asked | None:
    """The request to Messages that says what a request to Claude says; None for other models."""
    prefix = _CLAUDE.match(request.model)
    if prefix is None:
        return None
    body = {name: value for name, value in request.body.items() if name != "outputConfig"}
    claude = as_messages(body, request.model[prefix.end() :])
    effort = members(request.body.get("outputConfig")).get("effort")
    claude["output_config"] = {"effort": effort, "format": members(request.body.get("outputConfig")).get("textFormat")}
    return replace(request, body=claude, model=request.model[prefix.end() :])


def _claude(request: Asked) -> Iterator[Finding]:
    claude = _as_claude(request)
    if claude is None:
        return
    yield from budget_findings(claude)
    yield from knob_findings(claude)
    for rule in ANTHROPIC_MODEL_RULES:
        yield from rule.check(claude)


def _claude_media(request: Asked) -> Iterator[Finding]:
    """Claude reads no films and nothing in S3; recorded: bedrock 25e63ec38c85, 8b3afb8ae1f2, ba738216435b."""
    if _CLAUDE.match(request.model) is None:
        return
    for steps, block in _every_block(request):
        if "video" in block:
            yield (*steps, "video"), "This model doesn't support the video content block that you provided."
        for kind in ("image", "document"):
            if "s3Location" in members(members(block.get(kind)).get("source")):
                yield (
                    (*steps, kind, "source"),
                    "This model doesn't support the s3Uri field. Remove s3Uri and try again.",
                )


def _nova_results(request: Asked) -> Iterator[Finding]:
    """Nova reads nothing in S3 that a result points to; recorded: bedrock a90704a81dcd, 047de64a98d3."""
    for steps, block in _every_block(request) if "amazon.nova" in request.model else ():
        if "toolResult" in steps and any("s3Location" in members(members(one).get("source")) for one in block.values()):
            yield steps, "The model returned the following errors: extraneous key [toolResult] is not permitted"


def _thoughts(request: Asked) -> Iterator[Finding]:
    """A signature belongs to its thought, and to this service."""
    seals = None if request.issued is None else request.issued.seals
    for steps, block in _every_block(request):
        reasoning = members(block.get("reasoningContent"))
        if not reasoning:
            continue
        thought = members(reasoning.get("reasoningText"))
        seal = thought.get("signature", reasoning.get("redactedContent"))
        if seal is None:
            yield (*steps, "reasoningContent"), "reasoning without its signature is sent as text"
        elif seals is not None and seals.get(word(seal)) != word(thought.get("text")):
            yield (*steps, "reasoningContent"), "Invalid `signature` in `thinking` block"


BEDROCK_RULES: tuple[Rule, ...] = (
    Rule("bad_signature", _signed, "Bedrock, first lines", status=403),
    Rule("bad_model", _model, "service model, ConversationalModelId"),
    Rule("empty_message", _empty, "Bedrock, Pitfalls"),
    Rule("bad_pairing", _pairing, "Bedrock, Field facts, results; Errors"),
    Rule("repeated_call_id", _repeated_calls, "ID-09"),
    Rule("block_in_wrong_role", _homes, "Bedrock, Field facts, results"),
    Rule("empty_text", _blank, "Bedrock, Pitfalls"),
    Rule("documents", _documents, "Bedrock, Field facts, documents"),
    Rule("images", _images, "Bedrock, Field facts, images"),
    Rule("not_an_object", _values, "Bedrock, Field facts, args; Pitfalls"),
    Rule("cache_marks", _marks, "Bedrock, Field facts, caching"),
    Rule("tools", _tools, "Bedrock, Field facts, tool choice"),
    Rule("schema", _schemas, "Bedrock, Schema subset"),
    Rule("guardrail", _guardrail, "service model, GuardrailConfiguration"),
    Rule("metadata", _metadata, "service model, RequestMetadata"),
    Rule("unsupported_by_model", _claude, "Bedrock, Pitfalls; Anthropic, Thinking rules"),
    Rule("unsupported_by_model", _claude_media, "recorded refusals"),
    Rule("unsupported_by_model", _nova_results, "recorded refusals"),
    Rule("changed_seal", _thoughts, "Bedrock, Field facts, reasoning out"),
)
"""The rules of Converse."""
