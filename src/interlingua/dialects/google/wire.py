"""The shapes of generateContent bodies, as servers and clients of the field really send them.

Rules
- Members are camel case; a body in snake case is rewritten before it is read (`spelling`).
- A list may be a single object, as the service itself allows; numbers may stand where words belong.
- `args` stays JSON text; what is not listed lands in `extra` of its object and is written back.
Source: vendor reference "GenerateContent", official SDK types, recorded traffic of 19 client libraries, November 2026.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from interlingua.types.usage import Count, Total
from interlingua.wire.json import ExactStruct, WireStruct

__all__ = [
    "BlobWire",
    "CallWire",
    "CallingWire",
    "CandidateWire",
    "ConfigWire",
    "ContentWire",
    "ContentsWire",
    "DeclarationWire",
    "InstructionWire",
    "PartWire",
    "PlainCallWire",
    "PlainContentWire",
    "PlainInstructionWire",
    "PlainPartWire",
    "PlainResultWire",
    "PlainTextWire",
    "ReceivedWire",
    "RequestWire",
    "ResponseWire",
    "ResultWire",
    "ThinkingWire",
    "ToolConfigWire",
    "ToolWire",
    "ToolsWire",
    "UsageWire",
]

JsonObject: TypeAlias = dict[str, Any]


class BlobWire(WireStruct):
    """Bytes in base64 and their type."""

    mimeType: str | None = None
    data: str = ""
    displayName: str | None = None


class CallWire(WireStruct):
    """`functionCall`; `partialArgs` and `willContinue` belong to calls that arrive in pieces."""

    id: str | None = None
    name: str | None = None
    args: Raw | UnsetType = UNSET
    partialArgs: list[JsonObject] | None = None
    willContinue: bool | None = None


class ResultWire(WireStruct):
    """`functionResponse`."""

    id: str | None = None
    name: str | None = None
    response: Any = None
    parts: list[PartWire] | None = None


class PartWire(WireStruct):
    """One part; which member it has decides what it is."""

    plain_text: ClassVar[dict[str, str]] = {"text": ""}
    is_plain: ClassVar[bool] = False

    text: str | None = None
    thought: bool | None = None
    thoughtSignature: str | None = None
    functionCall: CallWire | None = None
    functionResponse: ResultWire | None = None
    inlineData: BlobWire | None = None
    fileData: JsonObject | None = None
    mediaResolution: JsonObject | None = None
    executableCode: JsonObject | None = None
    codeExecutionResult: JsonObject | None = None
    toolCall: JsonObject | None = None
    toolResponse: JsonObject | None = None


class ContentWire(WireStruct):
    """One turn."""

    plain_text: ClassVar[dict[str, str]] = {"parts": ""}
    is_plain: ClassVar[bool] = False

    parts: list[PartWire] | PartWire | None = None
    role: str | None = None


class PlainCallWire(ExactStruct, omit_defaults=True):
    """A call with nothing to it but name and arguments, and an id where the service gave one."""

    extra: ClassVar[None] = None

    id: str | None = None
    name: str | None = None
    args: Raw | UnsetType = UNSET


class PlainResultWire(ExactStruct, omit_defaults=True):
    """A result without media."""

    parts: ClassVar[None] = None
    extra: ClassVar[None] = None

    id: str | None = None
    name: str | None = None
    response: JsonObject | None = None


class PlainPartWire(ExactStruct, omit_defaults=True):
    """A text, a call or a result, with the signature of the model's: it has the members of `PartWire`."""

    is_plain: ClassVar[bool] = True
    inlineData: ClassVar[None] = None
    fileData: ClassVar[None] = None
    mediaResolution: ClassVar[None] = None
    executableCode: ClassVar[None] = None
    codeExecutionResult: ClassVar[None] = None
    toolCall: ClassVar[None] = None
    toolResponse: ClassVar[None] = None
    extra: ClassVar[None] = None

    text: str | None = None
    thought: bool | None = None
    thoughtSignature: str | None = None
    functionCall: PlainCallWire | None = None
    functionResponse: PlainResultWire | None = None


class PlainContentWire(ExactStruct):
    """A turn of plain parts: it has the members of `ContentWire`."""

    is_plain: ClassVar[bool] = True
    extra: ClassVar[None] = None

    parts: list[PlainPartWire]
    role: Literal["user", "model"]


class PlainTextWire(ExactStruct):
    """A part that is a text."""

    text: str


class PlainInstructionWire(ExactStruct):
    """A system instruction of texts."""

    parts: list[PlainTextWire]
    role: str | None = None


class DeclarationWire(WireStruct):
    """A function that may be called; its parameters are in one of two languages."""

    name: str = ""
    description: str | None = None
    parametersJsonSchema: JsonObject | None = None
    parameters: JsonObject | None = None


class ToolWire(WireStruct):
    """One entry of `tools`: functions, or tools that the provider runs, which are in `extra`."""

    functionDeclarations: list[DeclarationWire] | None = None
    googleSearch: JsonObject | None = None
    codeExecution: JsonObject | None = None
    urlContext: JsonObject | None = None


class CallingWire(WireStruct):
    """`functionCallingConfig`."""

    mode: str | int | None = None
    allowedFunctionNames: list[str] | None = None


class ToolConfigWire(WireStruct):
    """`toolConfig`."""

    functionCallingConfig: CallingWire | None = None


class ThinkingWire(WireStruct):
    """`thinkingConfig`."""

    thinkingLevel: str | int | None = None
    thinkingBudget: int | None = None
    includeThoughts: bool | None = None


class ConfigWire(WireStruct):
    """`generationConfig`."""

    maxOutputTokens: int | None = None
    temperature: float | None = None
    topP: float | None = None
    topK: int | float | None = None
    candidateCount: int | None = None
    stopSequences: list[str] | None = None
    seed: int | None = None
    presencePenalty: float | None = None
    frequencyPenalty: float | None = None
    responseLogprobs: bool | None = None
    logprobs: int | None = None
    responseMimeType: str | None = None
    responseJsonSchema: JsonObject | None = None
    responseSchema: JsonObject | None = None
    thinkingConfig: ThinkingWire | None = None
    responseModalities: list[Any] | None = None


class RequestWire(WireStruct):
    """A request body; the model and whether to stream stand in the path."""

    systemInstruction: ContentWire | str | None = None
    contents: list[ContentWire] | ContentWire | None = None
    tools: list[ToolWire] | ToolWire | None = None
    toolConfig: ToolConfigWire | None = None
    generationConfig: ConfigWire | None = None
    safetySettings: list[JsonObject] | None = None
    cachedContent: str | None = None
    labels: JsonObject | None = None
    serviceTier: str | None = None
    model: str | None = None


class ReceivedWire(RequestWire):
    """A request body as it is read: all that is long is left as text, since most likely it is plain or known."""

    systemInstruction: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # as below
    contents: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed
    tools: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed


class ContentsWire(WireStruct):
    """The contents of a request body alone."""

    contents: list[ContentWire] | ContentWire | None = None


class InstructionWire(WireStruct):
    """The system instruction of a request body alone."""

    systemInstruction: ContentWire | str | None = None


class ToolsWire(WireStruct):
    """The tools of a request body alone."""

    tools: list[ToolWire] | ToolWire | None = None


class UsageWire(WireStruct):
    """`usageMetadata`; the counts by modality and the class of traffic only pass through."""

    promptTokenCount: Count | None = None
    candidatesTokenCount: Count | None = None
    thoughtsTokenCount: Count | None = None
    cachedContentTokenCount: Count | None = None
    toolUsePromptTokenCount: Count | None = None
    totalTokenCount: Total | None = None
    promptTokensDetails: list[JsonObject] | None = None
    candidatesTokensDetails: list[JsonObject] | None = None
    cacheTokensDetails: list[JsonObject] | None = None
    toolUsePromptTokensDetails: list[JsonObject] | None = None
    serviceTier: str | None = None
    trafficType: str | int | None = None


class CandidateWire(WireStruct):
    """One candidate, whole or what a frame adds to it."""

    content: ContentWire | None = None
    finishReason: str | int | None = None
    index: int | None = None
    finishMessage: str | None = None
    avgLogprobs: Any = None
    logprobsResult: JsonObject | None = None
    safetyRatings: list[JsonObject] | None = None
    citationMetadata: JsonObject | None = None
    groundingMetadata: JsonObject | None = None
    urlContextMetadata: JsonObject | None = None
    tokenCount: int | None = None


class ResponseWire(WireStruct):
    """An answer, or one frame of a stream; `error` is there when a 200 hides an error."""

    candidates: list[CandidateWire] | None = None
    usageMetadata: UsageWire | None = None
    modelVersion: str | None = None
    responseId: str | None = None
    promptFeedback: JsonObject | None = None
    createTime: str | None = None
    error: Any = None
