"""The contract of a dialect: pure functions, the values that go in and out of them, and the facts beside its bodies.

Rules
- A dialect does no I/O and reads no clock: ids and time come in as arguments, quirks and facts as values.
- *client* functions speak to a service of the dialect, *server* functions imitate one.
- Whole and streamed answers share the same mappers; a stream is decoded through `stream.build`.
- Whatever changes on the way is in `changes`; a refusal lists everything found, not only the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from interlingua.dialects._service import Service
from interlingua.errors import Error
from interlingua.schema.convert import Conversion
from interlingua.types.capability import Capability, Effort, HistoryPolicy
from interlingua.types.change import Change, Changes
from interlingua.types.event import Event
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = [
    "DecodeContext",
    "DecodeOptions",
    "DecodedRequest",
    "Dialect",
    "EncodeOptions",
    "Encoded",
    "Facts",
    "FrameCheck",
    "Quirks",
    "ResumableEncoder",
    "ServerContext",
    "StreamDecoder",
    "StreamEncoder",
    "Target",
    "Undo",
]

CallIdRule: TypeAlias = Literal["any", "max40", "alnum9", "anthropic", "bedrock"]
NameRule: TypeAlias = Literal["openai", "anthropic", "google", "unified", "free"]


class Quirks(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a server differs, as named flags. A provider's row sets them.

    The defaults are those of a pure codec: everything that the dialect can say is said, as it was read.
    """

    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    """The name of the token limit."""
    seed_field: Literal["seed", "random_seed"] = "seed"
    """The name of the seed."""
    effort_field: Literal["as_read", "reasoning_effort", "reasoning.effort", "none"] = "as_read"
    """Where the reasoning effort goes; `none`: nowhere."""
    efforts: frozenset[Effort] = frozenset()
    """The reasoning efforts that the server takes; empty: any."""
    thinking_field: Literal["none", "thinking", "chat_template_kwargs"] = "none"
    """Where thinking is switched on and off; `none`: the server knows no such member."""
    system_role: Literal["as_read", "system", "developer"] = "as_read"
    """The role of system messages."""
    reasoning_field: Literal["as_read", "reasoning_content", "reasoning", "thinking_chunks", "none"] = "as_read"
    """Where readable reasoning stands in an assistant message; `none`: the server knows no such member."""
    reasoning_echo: Literal["as_given", "always", "calls", "never"] = "as_given"
    """When readable reasoning goes back; where there was none `always` sends an empty text, `calls` a blank in turns
    with calls."""
    reasoning_followed: bool = False
    """Whether reasoning with an id is taken only directly before the item that it led to (OpenAI refuses it alone)."""
    assistant_images: bool = False
    """Whether an assistant message in a history may hold pictures, as `images`."""
    tool_only_content: Literal["null", "empty", "omit"] = "null"
    """The stand-in for the text of an assistant message that only calls tools."""
    call_id_rule: CallIdRule = "any"
    """Which call ids the server takes in a history."""
    name_rule: NameRule = "free"
    """Which tool names the server takes."""
    result_media: bool = True
    """Whether a tool message may hold media parts."""
    output_media: bool = True
    """Whether the output of a call on Responses may hold media parts."""
    result_name: bool = False
    """Whether a tool message carries the tool's name."""
    image_url_string: bool = False
    """Whether `image_url` is sent as a bare string."""
    document_part: Literal["file", "document_url"] = "file"
    """In which kind of part a document goes."""
    video_files: bool = True
    """Whether such a part may hold video or sound."""
    output_schema: Literal["json_schema", "json_object", "none"] = "json_schema"
    """The structured output of the server; below `json_schema` the schema goes to the system text too."""
    output_schema_with_tools: bool = True
    """Whether structured output and tools go together."""
    json_mode: bool = True
    """Whether the server takes JSON mode without a schema; else the schema of any object stands for it."""
    schema_in_json_mode: bool = True
    """Whether a schema of a request in JSON mode stays in JSON mode, in Chat; else it is sent in the usual form."""
    json_word: bool = False
    """Whether JSON mode also needs a text in the prompt."""
    service_tiers: frozenset[str] = frozenset()
    """The classes of service that the provider knows; empty: any word."""
    tool_choice: Literal["full", "strings", "ignored"] = "full"
    """Which tool choices the server honours: all, only auto/none/required, or none at all."""
    choice_without_tools: bool = True
    """Whether a tool choice and the switch for parallel calls are taken in a request without tools."""
    allowed_tools: bool = True
    """Whether the server takes an allowed subset; else the tools are filtered."""
    strict_schemas: bool = True
    """Whether the server takes a strict flag."""
    schema_form: Literal["json_schema", "openapi", "as_read"] = "json_schema"
    """In which form schemas are sent where the dialect has two (Google's older servers only know the OpenAPI one);
    `as_read`: as they are, since the server takes any."""
    freeform_tools: bool = True
    """Whether the server takes freeform tools; else each is offered as a function with one string."""
    parallel_explicit: bool = False
    """Whether parallel calls must be switched on (llama.cpp's default is off)."""
    parallel_calls: bool = True
    """Whether an answer can hold several calls; otherwise a request for parallel calls gets an entry in `changes`."""
    stop_in_json: bool = True
    """Whether stop sequences hold in an answer that is bound to a schema or may be a call."""
    parameters_required: bool = False
    """Whether a tool must have parameters."""
    stream_usage: bool = True
    """Whether token counts of a stream must be requested with `stream_options`."""
    cache_marks: Literal["cache_control", "none"] = "cache_control"
    """How parts and tools are marked for the prompt cache; `none`: the server knows no such member."""
    call_ids_back: bool = True
    """Whether calls and results in a history may carry ids (Vertex refuses them)."""
    server_tool_calls: bool = True
    """Whether Gemini's server can report the calls of its own tools (Vertex cannot)."""
    penalties_by_model: bool = True
    """Whether models that take no penalties at their vendor's own API take none here, either (at Vertex they do)."""
    bounds: Literal["any", "vendor"] = "any"
    """The bounds of settings at the server: none that is known, or those of the dialect's vendor."""
    betas: frozenset[str] = frozenset({"*"})
    """The beta features of Messages that the server knows; `*`: all of them."""
    empty_result: Literal["omit", "marker"] = "omit"
    """The stand-in for an empty result; some routes to Claude refuse one without content."""
    websocket: bool = False
    """Whether the server has Responses over a WebSocket, at the path of the POST."""
    batches: Literal["none", "vendor", "jobs"] = "none"
    """Whether the server takes batches: as the dialect's vendor does, or as Mistral's jobs."""
    history_tools: bool = False
    """Whether the tools that a history calls must be declared, even when none is offered any more."""
    embed_dimensions: Literal["dimensions", "output_dimension", "none"] = "dimensions"
    """The member for the number of dimensions in a request for vectors; `none`: the server has none."""
    embed_input_type: Literal["none", "input_type", "task"] = "none"
    """The member for the purpose of the texts in such a request; `none`: the server has none."""
    embed_base64: bool = False
    """Whether vectors are requested in base64, which is shorter and faster to read."""
    embed_form: Literal["batch", "predict", "pooled"] = "batch"
    """Which of Google's forms a request for vectors has; `pooled`: the models named by a word were made for
    conversations, so that their vectors are their pooled states."""
    embed_inputs: int = 0
    """The most texts of one request for vectors; 0: as many as the dialect's own service takes."""
    embed_tokens: int = 0
    """About the most tokens of one request for vectors; 0: the same."""
    rerank_form: Literal["none", "jina", "voyage"] = "jina"
    """The server's form of a rerank; `none`: it has none."""
    unsupported: frozenset[str] = frozenset()
    """Names of `Request` fields that the server refuses or ignores; `extra`: every member that the dialect has no field
    for."""


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The facts of a model family; None is unknown, which is not the same as no."""

    sampling: bool | None = None
    """Whether temperature, top_p, penalties and log probabilities are taken."""
    sampling_efforts: frozenset[str] = frozenset()
    """The efforts at which a family without `sampling` takes those knobs all the same."""
    sampling_pair: bool | None = None
    """Whether temperature and top_p are taken together."""
    stop: bool | None = None
    """Whether stop sequences are taken."""
    system_role: Literal["system", "developer"] | None = None
    """The role that the family wants for system messages."""
    tools: bool | None = None
    """Whether tools are taken on this dialect."""
    forced_choice: bool | None = None
    """Whether a forced tool choice is taken."""
    prefill: bool | None = None
    """Whether a turn of the model that ends the conversation is taken, to be finished."""
    images: bool | None = None
    """Whether images are taken."""
    audio: bool | None = None
    """Whether audio is taken."""
    documents: bool | None = None
    """Whether documents are taken."""
    efforts: frozenset[str] | None = None
    """The reasoning efforts that the family takes."""
    min_output_tokens: int | None = None
    """The least that the limit of output tokens can be."""
    max_output_tokens: int | None = None
    """The most tokens that one answer can have."""
    max_images: int | None = None
    """The most images in one request."""
    seals_carry_over: bool | None = None
    """Whether sealed reasoning of one model is taken by another of the same provider."""
    call_seals: bool | None = None
    """Whether the first call of each step in a history must carry sealed state, or the provider's filler for it."""
    system_messages: bool | None = None
    """Whether system messages are taken after the conversation has begun."""
    thinking: frozenset[str] | None = None
    """The forms in which thinking can be asked for: `adaptive`, `enabled` (with a budget), `disabled`."""
    budgets: tuple[int, int] | None = None
    """The least and the most tokens of a budget for thinking."""
    penalties: bool | None = None
    """Whether presence and frequency penalties are taken."""
    output_schema_with_tools: bool | None = None
    """Whether an answer can be bound to a schema while tools are offered."""
    result_media: bool | None = None
    """Whether a tool's result may hold media."""
    mixed_tools: bool | None = None
    """Whether tools that the provider runs go together with the caller's own."""
    output_schema: bool | None = None
    """Whether an answer can be bound to a schema."""
    cache_life: Literal["prompt_cache_retention", "prompt_cache_options"] | None = None
    """How a model that caches prompts by itself is asked to keep them for longer."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The target of a request."""

    model: str = ""
    """The provider's own model id, verbatim."""
    provider: str = ""
    """Name of the provider's row; empty for a pure codec."""
    quirks: Quirks = Quirks()
    """How its server differs."""
    facts: Facts = Facts()
    """The facts of the model."""
    takes_seals: bool = True
    """Whether sealed reasoning goes back to it; not after it has refused that of the request as bound to another
    conversation."""


class EncodeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a request is to be encoded."""

    target: Target = Target()
    """The target."""
    stream: bool = False
    """Whether the answer is to be streamed."""
    stream_usage: bool = False
    """Whether to ask for token counts in the stream, where a server must be asked."""
    allow: frozenset[Capability] = frozenset()
    """Kinds of content that may be let go instead of refused."""
    history: HistoryPolicy = "refuse"
    """The treatment of calls and results that do not pair."""


class Undo(msgspec.Struct, frozen=True, kw_only=True):
    """The rewrites of the request that the decoder of the answer takes back."""

    names: dict[str, str] = {}
    """Tool name on the wire -> the caller's own, where they differ."""
    tool_names: frozenset[str] = frozenset()
    """The caller's own tool names."""
    freeform: frozenset[str] = frozenset()
    """The caller's own names of freeform tools."""
    output_tool: str = ""
    """The hidden tool whose arguments are the typed answer; empty where there is none."""
    first_index: int = 0
    """How many calls the history holds."""
    history_ids: frozenset[str] = frozenset()
    """Their ids."""
    arguments: dict[str, Conversion] = {}
    """Conversions of a call's arguments, by the caller's own tool name, where a rewritten schema changed them."""
    output: Conversion | None = None
    """The conversion of the output, where a rewritten schema changed it."""
    fenced: bool = False
    """Whether JSON was asked for in words alone, so that a Markdown fence around it is taken out."""


class Encoded(msgspec.Struct, frozen=True, kw_only=True):
    """An encoded request, still without address and credential."""

    path: str
    """The path behind the provider's base URL, such as `/chat/completions`."""
    body: bytes
    """The whole body."""
    headers: Headers = ()
    """Headers that the dialect itself demands, lower case."""
    changes: tuple[Change, ...] = ()
    """The changes: dropped and approximated."""
    undo: Undo = Undo()
    """For the decoder of the answer."""


class DecodeContext(msgspec.Struct, frozen=True, kw_only=True):
    """The context of the decoder of an answer."""

    target: Target = Target()
    """The target that answers: the issuer of sealed state."""
    undo: Undo = Undo()
    """The rewrites of the request that the decoder takes back."""
    make_id: Callable[[], str] | None = None
    """Makes our own call ids; None keeps the provider's."""
    provider_ids: dict[str, str] | None = None
    """Takes each id that `make_id` made, and the provider's that it stands for."""


class DecodeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a client's request is to be decoded."""

    history: HistoryPolicy = "refuse"
    """The treatment of calls and results that do not pair, and with broken arguments."""


class DecodedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A client's request: whom it names, how it wants the answer, what it asks."""

    model: str
    """The model that the client named, in the body or else in the path, verbatim; empty when it named none."""
    request: Request
    """The request."""
    stream: bool = False
    """Whether it wants a stream."""
    changes: tuple[Change, ...] = ()
    """The repairs."""
    json_array: bool = False
    """Whether it wants the stream as one JSON array instead of server-sent events."""
    enum_text: bool = False
    """Whether it wants the value of an enum as bare text instead of JSON."""


class ServerContext(msgspec.Struct, frozen=True, kw_only=True):
    """The context of the encoder of an answer."""

    model: str = ""
    """The model name to show; empty shows the response's own."""
    created: int = 0
    """Unix time in seconds, for dialects that state it."""
    make_id: Callable[[], str] | None = None
    """Makes the id of an answer that has none."""
    stream_usage: bool = True
    """Whether the client asked for token counts in its stream."""
    source: str | None = None
    """The dialect in which the answer came, when it came in one: its own words are kept if it is this one."""
    legal: bool = False
    """Whether even such an answer must end with a word that clients know, and have the counts that they insist on."""
    json_array: bool = False
    """Whether the client wants the stream as one JSON array, where the dialect has such a framing."""
    enum_text: bool = False
    """Whether the client wants the value of an enum as bare text, where the dialect has such answers."""
    path: str = ""
    """The path that the client asked, for dialects that answer in more than one form; empty when unknown."""
    request: Request | None = None
    """The client's request: where it is known, the answer repeats it as far as the dialect wants that, and has every
    member that the vendor's own description requires."""
    changes: list[Change] | None = None
    """Takes what encoding the answer dropped and approximated."""
    input_tokens: Callable[[], int] | None = None
    """Estimates the tokens of the request, for dialects whose streams begin with them, where no provider told them."""

    def says_own(self, dialect: str) -> bool:
        """Whether the reason and the counts of an answer in `dialect` are sent as they came."""
        return self.source == dialect and not self.legal


class StreamDecoder(Protocol):
    """Turns the bytes of a streamed answer into events, however they are cut."""

    @property
    def terminal(self) -> bool:
        """Whether the wire's terminal signal came: only the drain time is still waited."""
        ...

    @property
    def ended(self) -> bool:
        """Whether the terminal event was given out: nothing more is read."""
        ...

    @property
    def changes(self) -> Changes:
        """The changes of reading so far."""
        ...

    @property
    def compared(self) -> bytes:
        """The last piece that was read by comparing it with the one before: they differ in their text alone."""
        ...

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes; a failure is a `StreamError` event, never an exception."""
        ...

    def close(self) -> list[Event]:
        """The events that the end of the bytes completes, the terminal one among them."""
        ...

    def fail(self, error: Error) -> list[Event]:
        """The events of a stream that the transport broke: a `StreamError` with what came."""
        ...


class StreamEncoder(Protocol):
    """Turns the events of one answer into the bytes of a stream."""

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        ...

    def opening(self) -> bytes:
        """The frames before the first content, where that is still to come: it need not wait for it."""
        ...


class ResumableEncoder(StreamEncoder, Protocol):
    """A stream encoder for a client that has the beginning of its stream in the upstream's own bytes."""

    def resume(self, events: Iterable[Event], last_frame: bytes) -> None:
        """Go on behind `events`, which the client has in bytes of the same dialect; `last_frame` ends them."""
        ...


class FrameCheck(Protocol):
    """Says which frames of one streamed answer can go to a client of the dialect as they came."""

    @property
    def ends_with_body(self) -> bool:
        """Whether the end of the bytes is the dialect's own sign of the end."""
        ...

    @property
    def harmless(self) -> frozenset[str]:
        """Codes of changes that reading makes of frames in normal form, too."""
        ...

    def is_silent(self, frame: bytes) -> bool:
        """Whether a frame holds nothing but comments, names and blank lines."""
        ...

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next frame, of which `events` were read, is in normal form."""
        ...


class Dialect(msgspec.Struct, frozen=True, eq=False):
    """One wire format in both roles, as pure functions."""

    name: str
    """Its name, such as `openai-chat`."""
    encode_request: Callable[[Request, EncodeOptions], Encoded]
    """client: the request on the wire. Raises UnsupportedError, HistoryError."""
    decode_response: Callable[[HttpReply, DecodeContext], Response[Any]]
    """client: a whole successful answer. Raises DecodeError, or the UpstreamError that a 200 body hides."""
    decode_error: Callable[[HttpReply, DecodeContext], Error]
    """client: the error that a failed answer stands for; never raises."""
    stream_decoder: Callable[[DecodeContext], StreamDecoder]
    """client: a decoder for one streamed answer."""
    decode_request: Callable[[HttpRequest, DecodeOptions], DecodedRequest]
    """server: what a client asks. Raises DecodeError, HistoryError, LimitExceededError."""
    encode_response: Callable[[Response[Any], ServerContext], HttpReply]
    """server: a whole answer."""
    encode_error: Callable[[Error, ServerContext], HttpReply]
    """server: an error in the dialect's own body, with its status."""
    stream_encoder: Callable[[ServerContext], ResumableEncoder]
    """server: an encoder for one streamed answer."""
    frame_check: Callable[[], FrameCheck]
    """Looks at the frames of one streamed answer: a client of the dialect may get those in normal form as they are."""
    is_normal: Callable[[bytes], bool]
    """Whether the body of a whole answer, which could be read, is in normal form in that sense."""
    normal_form: Callable[[str, object], object]
    """The normal form N of a parsed body, after its kind (request, response or chunk); equal ones mean the same."""
    service: Service = Service()
    """The facts of the dialect beside its bodies, for a server that offers it, and for a caller."""
