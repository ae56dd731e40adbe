"""The facts of a dialect beside its bodies: what a server that offers it, and a caller of one, must know.

Rules
- They are data, and a few pure functions for what no data can say. Who reads them compares with no dialect's name.
- Each dialect declares its own in `service.py`, which loads neither its client nor its server.
- The defaults are those of a format of OpenAI's kind: messages in the body, server-sent events, no state at a provider.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from interlingua.errors import Error
from interlingua.types.capability import HistoryPolicy
from interlingua.wire.http import Headers

if TYPE_CHECKING:
    from interlingua.types.event import Event
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = [
    "EVENT_STREAM",
    "MESSAGE_LIST",
    "AnswerStore",
    "Count",
    "IdPlaces",
    "LimitFields",
    "ListedModel",
    "ModelForm",
    "ModelPath",
    "Override",
    "Pauses",
    "Phrase",
    "Service",
    "ServicePath",
    "bounded_number",
    "passed_on",
]

PathKind: TypeAlias = Literal[
    "conversation", "load", "count", "compact", "socket", "answer", "answer_delete", "answer_cancel", "answer_items",
    "models", "model", "tags", "show", "loaded", "version", "passed", "embed", "rerank",
    "hosted",
]  # fmt: skip
"""Kinds of paths: an answer of a model, its count of tokens, stored state, the list of models, …"""
EVENT_STREAM = "text/event-stream"
"""The media type of server-sent events."""
MESSAGE_LIST: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"type": "object"}}
"""The JSON Schema of a conversation, as far as a gateway has to know it."""


ModelReads: TypeAlias = Literal["", "prompt", "unread"]
"""Whether a model reads what is passed on there: not at once, a `prompt` in text, or what the gateway cannot read."""


class ServicePath(msgspec.Struct, frozen=True):
    """A path under which clients of the dialect ask for something."""

    kind: PathKind
    """The kind."""
    pattern: str
    """The path, with `{name}` where something stands that differs, `{name:path}` where that may have slashes."""
    method: str = "POST"
    """GET, POST, …"""
    reads: ModelReads = ""
    """Whether a model reads what is passed on there, past the hooks of a gateway."""


class ModelPath(Protocol):
    """The model and the operation in a path."""

    @property
    def model(self) -> str:
        """The model."""
        ...

    @property
    def streams(self) -> bool:
        """Whether a stream is asked for."""
        ...

    @property
    def json_array(self) -> bool:
        """Whether that comes as one JSON array."""
        ...


FOREIGN_LIMITS = (
    "n_predict", "num_predict", "max_new_tokens", "max_output_tokens", "max_completion_tokens", "max_tokens",
    "max_length", "max_gen_len", "max_tokens_to_sample", "maxOutputTokens", "maxTokenCount",
)  # fmt: skip
"""Names by which servers of other people limit an answer, whatever dialect they are asked in.

Source: llama.cpp, server, `oaicompat_chat_params_parse`: `n_predict` in a Chat body is taken over `max_tokens`.
"""
FOREIGN_HOLDERS = ("options", "parameters", "extra_body", "textGenerationConfig")
"""Members of a body in which such names stand, too."""


class LimitFields(msgspec.Struct, frozen=True):
    """Where a request says how much is to be written; the first spelling is the dialect's own."""

    limits: tuple[str, ...] = ("max_tokens",)
    """The limit of an answer."""
    inside: tuple[str, ...] = ()
    """The member that it is in; empty for the top."""
    choices: tuple[str, ...] = ()
    """The number of answers."""
    thinking: tuple[tuple[str, ...], ...] = ()
    """The steps to the budget for thinking."""
    by_quirk: bool = False
    """Whether servers differ in the name of the limit: the quirk `max_tokens_field` names it."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of a limit: one that the dialect does not have may win at a server that has it."""
        return tuple(dict.fromkeys((*self.limits, *FOREIGN_LIMITS)))

    @property
    def holders(self) -> tuple[str, ...]:
        """The members that limits may stand in, beside the top."""
        return tuple(dict.fromkeys((*self.inside, *FOREIGN_HOLDERS)))


class IdPlaces(msgspec.Struct, frozen=True):
    """Where bodies name what a provider keeps, beside the places that every dialect has."""

    ids: tuple[str, ...] = ()
    """Members that hold an id; `parent.name` for one in that member alone, `.name` at the top."""
    names: tuple[str, ...] = ()
    """Members that hold a resource name, or a URI that ends in one."""
    data: tuple[str, ...] = ()
    """Members whose inside is data."""
    maps: tuple[str, ...] = ()
    """Members whose own members have names of the client's."""
    inside: tuple[str, ...] = ()
    """Members below which every `id` is one, too."""


class Count(msgspec.Struct, frozen=True):
    """How providers of the dialect count tokens."""

    path: str
    """The path behind a provider's base URL, with `{model}` where its name stands there."""
    member: str
    """Where in an answer the count stands."""
    beside: dict[str, str] = {}
    """The members beside it."""
    wrappers: tuple[str, ...] = ()
    """Members in which clients may wrap the whole request that they would send."""


class Phrase(msgspec.Struct, frozen=True):
    """The vendor's phrase for a class of errors."""

    sentence: str
    """The phrase, which the detail follows."""
    mark: str
    """The part of it that clients search for, in lower case."""
    wait: bool = False
    """Whether clients read in the message how long they have to wait."""


class ListedModel(msgspec.Struct, frozen=True):
    """A model in a list."""

    id: str
    """The name to ask for it by."""
    title: str
    """The title for people."""
    owner: str
    """The provider that is the first target."""
    max_output_tokens: int | None
    """The most tokens of one answer; None where nobody knows."""


class ModelForm(msgspec.Struct, frozen=True):
    """How models are listed."""

    one: Callable[[ListedModel], dict[str, Any]]
    """One of them."""
    whole: Callable[[list[dict[str, Any]], dict[str, str]], dict[str, Any]]
    """The page of a list for which a query asks."""


class Override(NamedTuple):
    """Members that a request has written over what it is in another dialect."""

    place: str
    """Where they stand, as a JSON pointer."""
    dialect: str
    """The dialect of the request that they are written over."""
    members: Mapping[str, Any]
    """They themselves."""
    refused: frozenset[str] = frozenset()
    """Members, folded, that may not stand there, beside those that may in no dialect."""


class Pauses(msgspec.Struct, frozen=True):
    """The functions that join a paused answer and its continuation."""

    resumed: Callable[[Request, Response[Any]], Request]
    """The request that goes on with an answer in the place where the provider's tools have run."""
    joined: Callable[[Response[Any], Response[Any]], Response[Any]]
    """The second of two answers, with what only the first says of that place."""


class AnswerStore(msgspec.Struct, frozen=True):
    """The functions of a dialect whose clients go on from an answer by its id, and name tools in spaces."""

    opened: Callable[[Request], tuple[Request, dict[str, tuple[str, str]]]]
    """The request with every tool by itself, and the space and the name there of each that was in one."""
    placed: Callable[[Response[Any], dict[str, tuple[str, str]]], Response[Any]]
    """The answer with its calls in their spaces."""
    placed_event: Callable[[Event, dict[str, tuple[str, str]]], Event]
    """An event of the answer with its call in its space."""


def _comment(path: str, model: str) -> bytes:  # noqa: ARG001 - the form of `keep_alive`
    """A comment of server-sent events."""
    return b": keep-alive\n"


class Service(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The facts of a dialect beside its bodies, for a server and a caller."""

    # The paths of its clients

    paths: tuple[ServicePath, ...] = ()
    """Where its clients ask; the first conversation is the one that clients are told of."""
    prefixes: tuple[str, ...] = ()
    """How paths begin that are its clients' although nothing is answered there."""
    header: str = ""
    """The header by which its clients can be told from others under a path that several dialects have."""
    silent_paths: frozenset[str] = frozenset()
    """Paths at which a request may say nothing to the model."""
    provider_paths: tuple[str, ...] = ()
    """How paths begin whose clients want to be told the provider in the answer's member `provider`."""
    provider_headers: tuple[str, ...] = ()
    """Headers of such clients."""

    # Its requests

    needs: dict[str, Any] = msgspec.field(default_factory=lambda: {"messages": MESSAGE_LIST})
    """The JSON Schema of each member that a request must have, the model aside."""
    message_members: tuple[str, ...] = ("messages",)
    """The members that say something to the model, the history first."""
    tools_inside: str = ""
    """The member that the tools are in; empty for the top."""
    kept_objects: tuple[str, ...] = ()
    """Members that, as objects, name what the provider keeps and reads."""
    read_path: Callable[[str], ModelPath | None] | None = None
    """The reader of a path and its query, where the path names the model and the body does not."""
    streams: bool = False
    """Whether a request that does not say it wants a stream."""
    history: HistoryPolicy = "mend"
    """The treatment of calls and results of its clients that do not pair."""
    data: tuple[str, ...] = ()
    """Members whose inside is somebody else's data, beside those of every dialect."""
    limits: LimitFields = LimitFields()
    """Where a request says how much is to be written."""
    usage_if_asked: bool = False
    """Whether a stream has counts of tokens only where `stream_options.include_usage` asks for them."""
    background: str = ""
    """The member that asks for an answer in the background."""
    choosers: frozenset[str] = frozenset()
    """Members that choose a model by other means than `model`, beside those of every dialect."""
    overrides: Callable[[Any], Iterator[Override]] | None = None
    """The members of a body that are written over its request in another dialect."""
    media_names: frozenset[str] = frozenset()
    """Names of media types that the dialect itself uses for others."""
    is_foreign: Callable[[dict[str, Any]], bool] | None = None
    """Whether an object of a history was written for a model of another dialect."""
    is_unusual: Callable[[dict[str, Any]], bool] | None = None
    """Whether its providers refuse an object of a history that its reader takes: the writer says it otherwise."""
    id_places: IdPlaces = IdPlaces()
    """Where a conversation names what a provider keeps."""
    kept_places: IdPlaces = IdPlaces()
    """Where requests about what is kept, and their answers, name it."""
    names_kept: bool = False
    """Whether what is kept has resource names (`files/abc`) instead of ids."""

    # Its answers

    id_prefix: str = ""
    """How the ids of answers begin, where clients know them by it."""
    body_type: str = "application/json"
    """The media type of a whole answer."""
    stream_type: str = EVENT_STREAM
    """The media type of a stream."""
    keep_alive: Callable[[str, str], bytes] = _comment
    """The sign of life of a silent stream, by the path and the model that were asked; SDKs take it for nothing."""
    counts_first: bool = False
    """Whether a stream begins with the tokens of the request."""
    keeps_broken: bool = False
    """Whether an error for broken arguments has what came beside it."""
    limit_header: str = "x-ratelimit-{what}-{word}"
    """The headers of rate limits: `what` is limit, remaining or reset, `word` what is limited."""
    limit_resets_at: bool = False
    """Whether the header of a reset says a time instead of the seconds until then."""
    phrases: dict[type[Error], Phrase] = {}
    """The phrases by which its clients tell classes of errors."""
    thoughts: Literal["unasked", "if_asked", ""] = ""
    """Whether an answer shows thoughts unasked, or on a demand that every account may make; empty: neither."""
    pauses: Pauses | None = None
    """How an answer is gone on with that pauses for tools of the provider; None: there is no such end."""
    store: AnswerStore | None = None
    """How its clients go on from answers by their ids; None: they do not."""
    models: ModelForm | None = None
    """How models are listed, where that is asked at a path that several dialects have."""
    version: str = ""
    """The version of the vendor's server that is imitated."""
    loads: bool = False
    """Whether a request that says nothing asks for a model to be loaded."""

    # Its providers

    passes: bool = True
    """Whether a request can go to a provider of the dialect as it came."""
    path_of: Callable[[str, str, bool], str] | None = None
    """The path behind a provider's base URL, by the path asked, the model and whether it streams; None: `path`."""
    path: str = ""
    """The path behind a provider's base URL."""
    headers: frozenset[str] = frozenset()
    """Headers of a request that belong to its body."""
    default_headers: Headers = ()
    """Headers that a provider insists on, for a client that does not send them."""
    passed_headers: tuple[str, ...] = ()
    """How further headers begin that go along with what a provider alone can answer."""
    reply_headers: tuple[str, ...] = ()
    """How headers begin that come back with such an answer."""
    limit_prefixes: tuple[str, ...] = ()
    """How headers of a provider's rate limits begin, beside `x-ratelimit-`."""
    beta_members: frozenset[str] = frozenset()
    """Members that a server only knows together with a beta feature."""
    beta_header: str = ""
    """The header that names beta features."""
    count: Count | None = None
    """How its providers count tokens; None: they do not."""
    embeds: str = ""
    """The dialect in whose form its providers make vectors; empty: they make none."""
    reranks: str = ""
    """The dialect in whose form they put documents in order; empty: they do not."""
    vector_root: str = ""
    """The path before those of embeddings and reranks, where a base URL is not theirs."""
    batches: dict[str, str] = {}
    """The module that holds `BATCHES`, by the quirk of a server that has batches of that kind."""
    upstream_dialects: tuple[str, ...] = ()
    """The dialects whose providers answer under its paths; empty: its own alone."""
    base_path: str = ""
    """The end of the base URL that its clients use by default."""
    scheme: str = ""
    """The scheme of a provider that speaks it; empty: its name."""
    vendor: str = ""
    """The provider whose facts of models count where none is named; empty: the one with the dialect's name."""
    sockets: bool = False
    """Whether its providers may take requests over WebSockets."""

    @property
    def is_lines(self) -> bool:
        """Whether a stream is one of lines instead of events."""
        return "json" in self.stream_type

    @property
    def model_in_path(self) -> bool:
        """Whether the path names the model."""
        return self.read_path is not None

    @property
    def asked_at(self) -> str:
        """The path of a conversation, with `{model}` where it names the model; empty for none."""
        patterns = [path.pattern for path in self.paths if path.kind in ("conversation", "load")]
        return patterns[0].replace(":path}", "}") if patterns else ""


def passed_on(paths: Iterable[tuple[str, str]], reads: ModelReads = "") -> list[ServicePath]:
    """Paths of what a provider alone can answer, of pairs of methods (`GET POST`) and a pattern."""
    return [ServicePath("passed", pattern, method, reads) for methods, pattern in paths for method in methods.split()]


def bounded_number(query: Mapping[str, str], name: str, default: int, *, least: int = 1, most: int = 1_000_000) -> int:
    """A number of a query, within bounds; `default` where it says none."""
    text = query.get(name, "")
    return max(least, min(most, int(text))) if text.isascii() and text.isdigit() and len(text) < 9 else default
