"""The shared half of the readers: texts in turns, calls and their results, media by digest, arguments by value.

Rules
- Facts are plain JSON values, so that any two compare by `==` and print as they are.
- What a format leaves open is read the same way everywhere: an empty text is no text, empty arguments are `{}`.
- Nothing here knows a dialect, and nothing here imports one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, cast
from urllib.parse import unquote_to_bytes

__all__ = [
    "ERROR_PREFIX",
    "NO_PARAMETERS",
    "Conversation",
    "FactReader",
    "Facts",
    "StreamFacts",
    "allowed_choice",
    "arguments_value",
    "audio_digest",
    "counted",
    "data_url",
    "decoded",
    "digest",
    "event_data",
    "is_broken",
    "items",
    "joined",
    "members",
    "objects",
    "word",
]

Facts: TypeAlias = dict[str, Any]
"""Facts by name."""

ERROR_PREFIX = "ERROR: "
"""The mark of a tool result as an error where a format has no flag for it."""
NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}
"""The schema of a tool that takes nothing."""

_LINE = re.compile(r"\r\n|\n|\r")
_DATA_URL = re.compile(r"data:(?P<type>[^;,]*)(?P<parameters>[^,]*),(?P<data>.*)", re.DOTALL)
_SPELLINGS = {
    "image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png", "image/tif": "image/tiff",
    "audio/mp3": "audio/mpeg", "audio/x-mp3": "audio/mpeg", "audio/mpeg3": "audio/mpeg", "audio/mpga": "audio/mpeg",
    "audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/vnd.wave": "audio/wav", "audio/m4a": "audio/mp4",
    "audio/x-m4a": "audio/mp4", "audio/x-aac": "audio/aac", "audio/x-flac": "audio/flac", "audio/x-aiff": "audio/aiff",
    "audio/aif": "audio/aiff", "audio/pcm16": "audio/pcm", "audio/oga": "audio/ogg", "video/mov": "video/quicktime",
    "video/avi": "video/x-msvideo", "video/wmv": "video/x-ms-wmv", "video/flv": "video/x-flv",
    "application/x-pdf": "application/pdf", "text/pdf": "application/pdf",
}  # fmt: skip
_AUDIO = {
    b"RIFF": "audio/wav",
    b"ID3": "audio/mpeg",
    b"\xff\xfb": "audio/mpeg",
    b"\xff\xf3": "audio/mpeg",
    b"fLaC": "audio/flac",
    b"OggS": "audio/ogg",
}
"""How files of audio begin; samples without a head are `audio/pcm`."""


def members(value: Any) -> dict[str, Any]:
    """`value` when it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def counted(counts: Facts) -> Facts | None:
    """Token counts by name; None where nothing was counted, which is no usage.

    A count below 0 says nothing, and one beyond 2^53 is not exact in every reader: it is that.
    """
    true = {name: _true_count(count) for name, count in counts.items()}
    return true if any(count is not None for count in true.values()) else None


def _true_count(count: Any) -> Any:
    return count if type(count) is not int else None if count < 0 else min(count, 2**53)


def items(value: Any) -> list[Any]:
    """`value` when it is an array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of an array."""
    return [members(item) for item in items(value) if isinstance(item, dict)]


def word(value: Any) -> str:
    """`value` when it is text, else an empty one."""
    return value if isinstance(value, str) else ""


class StreamFacts(NamedTuple):
    """The facts that a streamed answer adds up to."""

    facts: Facts
    """The facts of the whole answer, as far as it came."""
    end: str
    """`done`, `cut` or `error`."""
    error: Facts | None
    """Class and status of the error that ended it."""
    body: Any = None
    """The whole answer that it adds up to, as the format would have written it."""


class FactReader(NamedTuple):
    """The readers of one dialect."""

    request: Callable[[Any, str | None], Facts]
    """Facts of a request body; the model comes along where the format has it in the path."""
    faults: Callable[[Any], list[str]]
    """The faults of the calls and results of a request's history."""
    response: Callable[[Any], Facts]
    """Facts of a whole answer."""
    stream: Callable[[str], StreamFacts]
    """The facts that a streamed answer adds up to."""
    error: Callable[[int, Any], Facts | None]
    """Class and status of an error answer; None when the body is no error."""
    format: str
    """The format that it reads, by the name of its dialect."""


class Conversation:
    """The facts of a history, gathered while its messages are read in order."""

    def __init__(self) -> None:
        self.turns: list[list[str]] = []
        self.calls: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []
        self.media: list[list[str]] = []
        self.references: list[Any] = []
        self.thinking: list[str] = []
        self.seals: list[Any] = []
        self.refusals: list[str] = []
        self.faults: list[str] = []
        self._fresh = True
        self._open: dict[str, int] = {}
        self._answered: set[int] = set()
        self._passed: set[int] = set()

    def text(self, role: str, text: str) -> None:
        """More text of a role; texts that follow each other are one, unless a result stands between them."""
        if not text:
            return
        self._passed |= set(self._open.values()) - self._answered
        if self.turns and not self._fresh and self.turns[-1][0] == role:
            self.turns[-1][1] += text
        else:
            self.turns.append([role, text])
        self._fresh = False

    def call(self, call_id: str | None, name: str, arguments: Any) -> None:
        """A call that the model made."""
        number = len(self.calls)
        value = arguments_value(arguments)
        self.calls.append({"name": name, "arguments": value})
        if is_broken(value):
            self.faults.append(f"call {number}: the arguments are not one JSON object")
        key = call_id or name
        if call_id and key in self._open:
            self.faults.append(f"call {number}: its id repeats another call's")
        self._open[key] = number

    def result(self, key: str | None, content: Any, *, is_error: bool | None = None) -> None:
        """A result for the call of that id (or name, where a format has no ids)."""
        number = self._open.get(key or "")
        if number is None or number in self._answered:
            self.faults.append(f"result {len(self.results)}: no open call has its id")
        elif number in self._passed:
            self._answered.add(number)
            self.faults.append(f"result {len(self.results)}: something else was said before it")
        else:
            self._answered.add(number)
        if is_error is None and isinstance(content, str):
            is_error = content.startswith(ERROR_PREFIX)
            content = content.removeprefix(ERROR_PREFIX)
        self.results.append({"call": number, "content": decoded(content), "is_error": bool(is_error)})
        self._fresh = True

    def facts(self) -> Facts:
        """Everything gathered, by name."""
        return {
            "messages": self.turns,
            "calls": self.calls,
            "results": self.results,
            "media": self.media,
            "references": self.references,
            "thinking": self.thinking,
            "seals": self.seals,
            "refusals": self.refusals,
        }

    def pairing_faults(self) -> list[str]:
        """The faults of calls, results and their ids."""
        open_calls = [number for number in range(len(self.calls)) if number not in self._answered]
        return [*self.faults, *(f"call {number}: no result answers it" for number in open_calls)]


def arguments_value(arguments: Any) -> Any:
    """The value of a call's arguments; `{"broken": text}` when they are not one JSON object."""
    if isinstance(arguments, dict):
        return members(arguments)
    text = "" if arguments is None else str(arguments)
    if text.strip() in ("", "null", "[]"):
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except ValueError:
        return {"broken": text}
    if isinstance(value, str) and (inner := arguments_value(value)) != {"broken": value}:
        return inner  # they were encoded twice
    return members(value) if isinstance(value, dict) else {"broken": text}


def is_broken(value: Any) -> bool:
    """Whether `arguments_value` could not read the arguments."""
    return list(members(value)) == ["broken"]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def decoded(content: Any) -> Any:
    """A result's content by value: a text that is a JSON object or array is that value."""
    if not isinstance(content, str) or content[:1] not in ("{", "["):
        return content
    try:
        return json.loads(content)
    except ValueError:
        return content


def joined(content: Any, kind: str = "text") -> str:
    """The texts of a string, or of the parts of that kind in a list."""
    if isinstance(content, str):
        return content
    return "".join([word(part.get(kind)) for part in objects(content) if part.get("type", "text") == kind])


def digest(media_type: str, data: bytes | str) -> list[str]:
    """Media type and SHA-256 of bytes, or of what base64 text stands for."""
    raw = _bytes(data) if isinstance(data, str) else data
    media_type = media_type.lower()
    return [_SPELLINGS.get(media_type, media_type), hashlib.sha256(raw).hexdigest()]


def audio_digest(text: str) -> list[str]:
    """MIME type and SHA-256 of audio in base64 whose type is not on the wire."""
    data = _bytes(text)
    return digest(next((kind for head, kind in _AUDIO.items() if data.startswith(head)), "audio/pcm"), data)


def allowed_choice(names: list[Any], mode: str) -> Any:
    """A choice among some tools; to have to call one of one is to have to call that one."""
    return {"name": names[0]} if mode == "required" and len(names) == 1 else {"allowed": names, "mode": mode}


def _bytes(text: str) -> bytes:
    """The bytes of base64 text in either alphabet, padded or not; text that is none of it stands for itself."""
    plain = re.sub(r"\s", "", text).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return text.encode()


def data_url(url: str) -> list[str] | None:
    """Media type and digest of a `data:` URL; None for any other URL."""
    match = _DATA_URL.fullmatch(url)
    if match is None:
        return None
    media_type = match["type"] or "text/plain"
    if ";base64" in match["parameters"]:
        return digest(media_type, match["data"])
    return digest(media_type, unquote_to_bytes(match["data"]))


def event_data(text: str) -> list[str]:
    """The data of every server-sent event."""
    frames: list[str] = []
    lines: list[str] = []
    for line in [*_LINE.split(text.removeprefix("\ufeff")), ""]:
        name, _, value = line.partition(":")
        if name == "data":
            lines.append(value.removeprefix(" "))
        elif not line and lines:
            frames.append("\n".join(lines))
            lines = []
    return [frame.strip() for frame in frames if frame.strip()]
