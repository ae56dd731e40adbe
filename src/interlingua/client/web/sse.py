"""A stream told to a web client: bytes in any dialect, or as the UI message stream of the AI SDK.

Rules
- The bytes end as the dialect ends: by its terminal signal, or by its own error event. A stream that broke never looks
  like one that came to its end.
- The exchange is closed at the end, by an error, by `close`, and when nobody holds the bytes any more, so that a client
  that leaves costs no more tokens.
- A stream is told from its beginning: of one that was read already nothing is told.

Not responsible for: HTTP statuses. What fails before the first content is raised by the stream's `open`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol, cast

from interlingua.client.web.ag_ui import AG_UI
from interlingua.client.web.ai_sdk import AI_SDK, AI_SDK_HEADERS
from interlingua.client.web.pages import page_encoder, page_of
from interlingua.dialects._contract import ServerContext
from interlingua.dialects._service import EVENT_STREAM
from interlingua.dialects.table import DIALECTS, get_dialect, get_service, stream_type
from interlingua.errors import Error, UsageError
from interlingua.stream.build import stream_error
from interlingua.types.event import StreamStart
from interlingua.wire.sse import STREAM_HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from interlingua.client.call.values import CallTarget
    from interlingua.client.web.chat import WebChat
    from interlingua.dialects._contract import StreamEncoder
    from interlingua.types.change import Change
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["BodyFace", "EventWriter", "SseBody", "answer_ids", "begun_before", "source_of"]


class EventWriter:
    """Turns the events of one answer into the bytes of a stream."""

    def __init__(self, target: str | WebChat, call_targets: Iterable[CallTarget] = ()) -> None:
        """A writer in a dialect, or to a page, of what one of the `call_targets` answers.

        Raises: ConfigError for no dialect, with the names there are.
        """
        self._changes: list[Change] = []
        self._call_targets = tuple(call_targets)
        chat = page_of(target)
        self._name = chat.protocol if chat is not None else get_dialect(cast("str", target)).name
        self._encoder: StreamEncoder | None = None if chat is None else page_encoder(chat, self._changes)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer that these bytes are the body of."""
        if self._name in (AI_SDK, AG_UI):
            own = AI_SDK_HEADERS if self._name == AI_SDK else {}
            return {"content-type": EVENT_STREAM, **dict(STREAM_HEADERS), **own}
        return {"content-type": stream_type(self._name), **dict(STREAM_HEADERS)}

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of the writing so far: dropped and approximated."""
        return tuple(self._changes)

    def tell(self, event: object) -> bytes:
        """The bytes that an event adds; may be empty."""
        encoder = self._encoder
        if encoder is None:
            context = ServerContext(
                created=int(time.time()),
                make_id=answer_ids(self._name),
                source=source_of(self._call_targets, event.model if isinstance(event, StreamStart) else ""),
                changes=self._changes,
            )
            encoder = self._encoder = get_dialect(self._name).stream_encoder(context)
        return encoder.encode(cast("Event", event))

    def fail(self, error: Error, partial: Response[Any] | None) -> bytes:
        """The bytes of an error, which end the stream."""
        return self.tell(stream_error(error, partial))


def source_of(targets: Iterable[CallTarget], model: str) -> str | None:
    """The dialect in which the target called `model` answered."""
    return next((target.dialect.name for target in targets if target.endpoint.spec == model), None)


def answer_ids(dialect: str) -> Callable[[], str]:
    """Makes the ids of answers that have none, as clients of the dialect know them."""
    prefix = get_service(dialect).id_prefix if dialect in DIALECTS else ""

    def make() -> str:
        from secrets import token_hex  # only answers without an id need randomness

        return f"{prefix}{token_hex(12)}"

    return make


def begun_before() -> UsageError:
    """The error for a stream of which something was read before."""
    return UsageError("sse() tells a stream from its beginning, and something of this one was read already")


class _Source(Protocol):
    """A stream of events, blocking."""

    def __next__(self) -> object: ...

    def close(self) -> None: ...


class BodyFace:
    """The shared face of the blocking and the awaited bytes of a stream."""

    def __init__(self, writer: EventWriter, partial: Callable[[], Response[Any] | None]) -> None:
        """Bytes that `writer` makes; `partial` gives what had come of a stream that broke."""
        self._writer = writer
        self._partial = partial
        self._ended = False

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an answer with this body: its media type, and that proxies must not hold it back."""
        return self._writer.headers

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of the writing so far; those of the translation before it are in the response."""
        return self._writer.changes

    def _end(self) -> bytes:
        self._ended = True
        return b""

    def _fail(self, error: Error) -> bytes:
        self._ended = True
        return self._writer.fail(error, self._partial())


class SseBody(BodyFace):
    """The bytes of a stream, piece by piece: an iterator, closed at its end, by `close`, or when nobody holds it."""

    def __init__(self, source: _Source, writer: EventWriter, partial: Callable[[], Response[Any] | None]) -> None:
        """The bytes of `source`, of which nothing was read yet; a stream's `sse` makes them."""
        super().__init__(writer, partial)
        self._source = source

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        while not self._ended:
            try:
                piece = self._writer.tell(next(self._source))
            except StopIteration:
                piece = self._end()
            except Error as error:
                piece = self._fail(error)
            if piece:
                return piece
        raise StopIteration

    def close(self) -> None:
        """Close the stream; nothing more comes."""
        self._ended = True
        self._source.close()
