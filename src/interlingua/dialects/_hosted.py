"""Messages as clients ask clouds for them: `rawPredict` of Vertex AI, `InvokeModel` of Bedrock.

Rules
- The model and whether a stream is wanted stand in the path, versions and beta features in the body. All of it goes to
  where the dialect itself has it; the rest of the body is not looked at here.
- A body without the version of Messages was written for another model, and is refused by name.
- A stream of Bedrock's is the dialect's own events in binary frames; an error among them, whatever its
  shape, is an exception frame.
Source: official client anthropic 2.12.0, `lib/vertex` and `lib/bedrock`; service model `bedrock-runtime` of botocore.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlingua.dialects._errors.bodies import read_error
from interlingua.errors import DecodeError
from interlingua.wire.eventstream import AMAZON_STREAM, encode_event_frame
from interlingua.wire.json import encode
from interlingua.wire.sse import SseDecoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.wire.body import Body

__all__ = ["STREAM_TYPE", "ChunkFrames", "HostedRequest", "hosted_request"]

STREAM_TYPE = AMAZON_STREAM
"""The media type of a stream of Bedrock's."""
COUNTED = "count-tokens"
"""The name that stands for a model where Vertex AI counts tokens; the body has the model."""
_PATH = re.compile(
    r"/models/(?P<vertex>.+):(?P<streams>stream)?[rR]awPredict$|/model/(?P<bedrock>.+)/invoke(?P<framed>-with.*)?$"
)
_VERSION, _BETAS = "anthropic_version", "anthropic_beta"
_EVENT = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
_FAILED = {
    ":exception-type": "modelStreamErrorException", ":content-type": "application/json", ":message-type": "exception",
}  # fmt: skip


class HostedRequest(NamedTuple):
    """The dialect's own request that a client of a cloud means."""

    path: str
    """The dialect's own path."""
    edits: Mapping[str, bytes | None]
    """Members of the body that are other ones there; None takes one out."""
    headers: tuple[tuple[str, str], ...]
    """Headers that the dialect has for members of the body."""
    framed: bool
    """Whether a stream goes out in frames of Bedrock's."""


def hosted_request(path: str, body: Body) -> HostedRequest:
    """The request behind a path of a cloud.

    Raises: DecodeError for a body of another model, and for one that names another model than its path.
    """
    matched = _PATH.search(path)
    if matched is None or body.get(_VERSION) is None:
        why = (
            "it is missing; Messages of Claude are read here, and other models are asked by Converse or generateContent"
        )
        raise DecodeError(f"/{_VERSION}: {why}", path=f"/{_VERSION}", status=400)
    model = matched["vertex"] or matched["bedrock"]
    if matched["vertex"] == COUNTED:
        return HostedRequest("/v1/messages/count_tokens", {_VERSION: None, _BETAS: None}, _betas(body), framed=False)
    named = body.get("model")
    if named not in (None, model):
        sentence = f"/model: the path names {model[:100]!r}, and this another model"
        raise DecodeError(sentence, path="/model", status=400)
    streams = bool(matched["streams"] or matched["framed"])
    edits = {_VERSION: None, _BETAS: None, "model": encode(model), "stream": b"true" if streams else None}
    return HostedRequest("/v1/messages", edits, _betas(body), framed=matched["framed"] is not None)


def _betas(body: Body) -> tuple[tuple[str, str], ...]:
    """The beta features of a body, as the dialect's header."""
    betas: Any = body.get(_BETAS)
    if betas is None:
        return ()
    names = cast("list[object]", betas) if isinstance(betas, list) else [betas]
    if not all([isinstance(name, str) and re.fullmatch(r"[\w.-]{1,100}", name, re.ASCII) for name in names]):
        raise DecodeError(f"/{_BETAS}: it is a list of names of beta features", path=f"/{_BETAS}", status=400)
    return (("anthropic-beta", ",".join([str(name) for name in names])),)


class ChunkFrames:
    """Turns the dialect's events into frames, however their bytes are cut."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self._events = SseDecoder()

    def feed(self, data: bytes) -> bytes:
        """The frames of the events that are whole now."""
        frames: list[bytes] = []
        for event in self._events.feed(data):
            if event.event == "error":
                # A service's own event may have passed as it came, in any shape.
                frames.append(encode_event_frame(_FAILED, encode({"message": read_error(event.data).message})))
            else:
                frames.append(encode_event_frame(_EVENT, b'{"bytes":"%b"}' % b64encode(event.data)))
        return b"".join(frames)
