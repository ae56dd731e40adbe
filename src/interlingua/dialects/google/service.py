"""The facts of generateContent beside its bodies, for a server and a caller.

Source: vendor pages "Generating content", "Counting tokens", "Models", "Files API"; official client, type `Model`; read
in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from interlingua.dialects._openai.service import QUOTA
from interlingua.dialects._service import (
    MESSAGE_LIST,
    Count,
    IdPlaces,
    LimitFields,
    ModelForm,
    Phrase,
    Service,
    ServicePath,
    bounded_number,
    passed_on,
)
from interlingua.dialects.google.path import read_path
from interlingua.errors import (
    AuthenticationError,
    BillingError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    NotFoundError,
    RateLimitError,
    UnknownModelError,
)

if TYPE_CHECKING:
    from interlingua.dialects._service import ListedModel

__all__ = ["SERVICE"]

_DATA = (
    "args", "labels", "parametersJsonSchema", "parameters_json_schema", "response", "responseJsonSchema",
    "responseSchema", "response_json_schema", "response_schema",
)  # fmt: skip
_METHODS = ("generateContent", "streamGenerateContent")
_PUBLISHERS = "publishers/{publisher}/models"
_BEFORE_MODELS = (
    "v1beta/models",
    "v1/models",
    *[f"{version}/projects/{{project}}/locations/{{location}}/{_PUBLISHERS}" for version in ("v1beta1", "v1")],
    *[f"{version}/{_PUBLISHERS}" for version in ("v1beta1", "v1")],
)
"""The path before the name of a model; the long ones are those of Vertex AI."""


def _path(path: str, model: str, streams: bool) -> str:  # noqa: ARG001, FBT001 - the form of `path_of`
    """The path behind the base URL: it names the model, and whether the answer is a stream of events."""
    is_whole = model.startswith(("models/", "tunedModels/", "publishers/"))
    named = quote(model if is_whole else f"models/{model}", safe="/@-._~")
    return f"/{named}:streamGenerateContent?alt=sse" if streams else f"/{named}:generateContent"


def _keep_alive(path: str, model: str) -> bytes:  # noqa: ARG001 - the form of `keep_alive`
    """A blank line: the Python SDK takes a comment for data."""
    return b"\n"


def _one(model: ListedModel) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": f"models/{model.id}",
        "version": "1",
        "displayName": model.title,
        "supportedGenerationMethods": [*_METHODS, "countTokens"],
    }
    most = model.max_output_tokens
    return shown if most is None else {**shown, "outputTokenLimit": most}


def _whole(models: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
    size = bounded_number(query, "pageSize", 50, most=1_000)
    first = bounded_number(query, "pageToken", 0, least=0)
    shown: dict[str, Any] = {"models": models[first : first + size]}
    return shown if first + size >= len(models) else {**shown, "nextPageToken": str(first + size)}


SERVICE = Service(
    paths=(
        *[
            ServicePath("conversation", f"/{before}/{{model:path}}:{method}")
            for before in (*_BEFORE_MODELS, "v1beta/{provider}")
            for method in _METHODS
        ],
        *[
            ServicePath("count", f"/{before}/{{model:path}}:countTokens")
            for before in (*_BEFORE_MODELS, "v1beta/{provider}")
        ],
        *[
            ServicePath("embed", f"/{before}/{{model:path}}:{method}")
            for before in _BEFORE_MODELS
            for method in ("embedContent", "batchEmbedContents")
        ],
        *[
            ServicePath("embed", f"/{before}/{{model:path}}:predict")
            for before in _BEFORE_MODELS
            if "publisher" in before
        ],
        ServicePath("models", "/v1beta/models", "GET"),
        ServicePath("model", "/v1beta/models/{model:path}", "GET"),
        *passed_on(
            [
                ("POST", f"/{version}/models/{{model:path}}:{method}")
                for version in ("v1beta", "v1")
                for method in ("predict", "predictLongRunning")
            ],
            "unread",
        ),
        *passed_on(
            [
                (methods, f"/{version}/{rest}")
                for version in ("v1beta", "v1")
                for methods, rest in (
                    ("GET POST", "cachedContents"),
                    ("GET PATCH DELETE", "cachedContents/{rest:path}"),
                    ("GET", "operations/{rest:path}"),
                )
            ]
        ),
        *passed_on(
            [
                ("GET", "/v1beta/files"),
                ("GET DELETE", "/v1beta/files/{rest:path}"),
                ("POST", "/upload/v1beta/files"),
                ("POST", "/upload/v1/files"),
            ]
        ),
    ),
    prefixes=("/v1beta", "/v1/models/"),
    header="x-goog-api-key",
    needs={"contents": MESSAGE_LIST},
    message_members=("contents",),
    read_path=read_path,
    data=(
        *("args", "response", "parametersJsonSchema", "responseSchema", "responseJsonSchema"),
        *("parameters_json_schema", "response_schema", "response_json_schema"),
    ),
    limits=LimitFields(
        ("maxOutputTokens", "max_output_tokens"),
        ("generationConfig", "generation_config"),
        ("candidateCount", "candidate_count"),
        (("thinkingConfig", "thinking_config"), ("thinkingBudget", "thinking_budget")),
    ),
    choosers=frozenset({"model"}),
    media_names=frozenset({"audio/mp3", "video/mov", "video/avi", "video/wmv"}),
    id_places=IdPlaces(data=_DATA),
    kept_places=IdPlaces(names=("name", "uri", "file"), data=_DATA),
    names_kept=True,
    keep_alive=_keep_alive,
    phrases={
        ContextWindowExceededError: Phrase(
            "The input token count exceeds the maximum number of tokens allowed:",
            "exceeds the maximum number of tokens allowed",
        ),
        AuthenticationError: Phrase("API key not valid. Please pass a valid API key:", "api key not valid"),
        RateLimitError: Phrase("Resource has been exhausted (e.g. check quota):", "exhausted"),
        BillingError: QUOTA,
        ContentPolicyViolationError: Phrase("The response was blocked.", "the response was blocked."),
        **dict.fromkeys(
            (NotFoundError, UnknownModelError),
            Phrase("The model is not found for this API version:", "is not found for"),
        ),
    },
    thoughts="if_asked",
    models=ModelForm(_one, _whole),
    path_of=_path,
    passed_headers=("x-goog-upload-",),
    reply_headers=("x-goog-upload-",),
    count=Count(
        "/models/{model}:countTokens",
        "totalTokens",
        wrappers=("generateContentRequest", "generate_content_request"),
    ),
    embeds="google",
    batches={"vendor": "interlingua.dialects.google.batch"},
    base_path="/v1beta",
)
"""generateContent beside its bodies."""
