"""A recorded exchange of a client with a provider, and the verdict on it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

import msgspec

from interlingua.testing.framed import BINARY, stream_bytes

__all__ = ["APIS", "Exchange", "Fault", "Refusal", "Verdict"]

Refusal: TypeAlias = Literal["unsupported_api", "bad_history", "invalid_json"]
"""The closed list of reasons for which an exchange is not judged."""

APIS = {
    "chat-completions": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "generateContent": "google",
    "ollama-chat": "ollama",
    "ollama-generate": "ollama",
    "cohere-chat": "cohere",
    "bedrock-converse": "bedrock",
}
"""The dialect of each wire format in the recordings."""
_CLAUDE = "anthropic_version"
"""The member by which a body for `InvokeModel` is known to be one of Messages."""
_MODEL = re.compile(r"/(?:models?|deployments)/([^/:?]+)")
"""Where an address names the model."""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a recording."""

    id: str
    """Stable id."""
    api: str
    """The wire format."""
    url: str | None = None
    """Host and path; None when the request is unknown."""
    request: Any = None
    """The request body; None when it is unknown."""
    status: int | None = None
    """HTTP status; None when it was not recorded."""
    headers: dict[str, str] = {}
    """Headers of the answer, lower case; recordings have none."""
    response: Any = None
    """The answer's body, when it is whole JSON."""
    stream: str | None = None
    """The answer's text, when it was streamed."""
    stream_format: str | None = None
    """How the stream is framed."""
    response_text: str | None = None
    """The answer's body, when it is not JSON."""

    @property
    def dialect(self) -> str:
        """The dialect that it was recorded in; the wire format itself where there is none."""
        first = self.api == "cohere-chat" and self._is_of_the_first_version
        claude = self.api == "bedrock-invoke" and _CLAUDE in (self.request or ())
        return "anthropic" if claude else self.api if first else APIS.get(self.api, self.api)

    @property
    def _is_of_the_first_version(self) -> bool:
        """Whether it is in the first version of Cohere's format, whose answer is one text."""
        answer: Any = self.response or ()
        return "/v1/" in (self.url or "") or "generation_id" in answer or '"event_type"' in (self.stream or "")

    @property
    def model(self) -> str | None:
        """The model in the path, for formats that name it there."""
        match = _MODEL.search(self.url or "")
        return unquote(match[1]) if match else None

    @property
    def host(self) -> str:
        """The host that answered; empty when it is unknown."""
        return (self.url or "").partition("/")[0]

    @property
    def stream_text(self) -> str:
        """The stream as its server framed it."""
        text = self.stream or ""
        if self.stream_format == "json-lines-unframed" and self.dialect not in BINARY:
            return "".join([f"data: {line}\n\n" for line in text.split("\n") if line.strip()])
        return text

    @property
    def stream_data(self) -> bytes:
        """The bytes of the stream."""
        return stream_bytes(self.dialect, self.stream_text)


class Fault(NamedTuple):
    """One thing that is wrong with an exchange."""

    part: str
    """Where in the judgement, such as `b request in google`."""
    detail: str
    """The differing path, or what was raised."""
    path: str = ""
    """The path alone."""

    def __str__(self) -> str:
        """`part: detail`."""
        return f"{self.part}: {self.detail}"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one exchange."""

    outcome: Literal["passed", "failed", "refused"]
    """How it was judged."""
    faults: tuple[Fault, ...] = ()
    """Everything that is wrong; of a refused exchange the reason for which it is not judged."""
    opaque: Counter[str] = msgspec.field(default_factory=Counter[str])
    """Bytes that travelled unread, by path."""
    source: str = ""
    """The dialect that it was recorded in."""
    translated: tuple[str, ...] = ()
    """The dialects that its request was to be translated to."""
    refusals: dict[str, tuple[str, ...]] = {}
    """Those that refused it, with the codes of what they cannot take."""

    @property
    def reason(self) -> str:
        """The first part that failed, or the reason for which it was refused."""
        return self.faults[0].part if self.faults else ""

    @property
    def detail(self) -> str:
        """The first differing path, or what was raised."""
        return self.faults[0].detail if self.faults else ""
