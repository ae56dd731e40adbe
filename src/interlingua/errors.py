"""Every error that interlingua raises, under one root.

Rules
- One sentence each: what was wrong, where, and the way out. Never a credential.
- A class says whose fault it is; `retryable` says whether the same request may succeed later.
- Classes come from status and structured code (one table per dialect), never from prose.

```
Error
├── UsageError             our caller is wrong; never retried
│   ├── ConfigError        a DSN, an alias, a file, a missing extra
│   ├── UnknownModelError  a model spec that names nothing
│   ├── UnsupportedError   the target cannot take the request; `.changes` names everything found
│   ├── SchemaError        a tool or output schema that is not JSON Schema, or beyond a bound
│   └── HistoryError       calls and results of a conversation that do not pair
├── WireError              the peer broke the format
│   ├── DecodeError        bytes that are not what the dialect says; `.path` is the first bad place
│   ├── LimitExceededError one of our bounds was hit
│   ├── MalformedArgumentsError   a tool call whose arguments are not one JSON object
│   └── IncompleteStreamError     a stream that ended before its end; `.partial` holds what came
├── TransportError
│   ├── APIConnectionError
│   └── APITimeoutError    `.phase` says which deadline
├── UpstreamError          the provider answered with an error
│   ├── AuthenticationError PermissionDeniedError BillingError NotFoundError
│   ├── BadRequestError RequestTooLargeError ContextWindowExceededError ContentPolicyViolationError
│   └── RateLimitError OverloadedError InternalServerError
├── ChainExhaustedError    every target of a chain failed; `.attempts` lists them
├── OutputError            the answer is not a T: invalid, truncated or refused
├── ToolError              what a tool lets the model read
└── RunStoppedError        `run.output` was asked of a run that did not finish
```

This module is not responsible for classifying: that is each dialect's error table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

if TYPE_CHECKING:
    from interlingua.types.capabilities import Feature
    from interlingua.types.change import Change
    from interlingua.types.content import BrokenToolCall
    from interlingua.types.limit import RateLimit
    from interlingua.types.response import Attempt, Response
    from interlingua.types.run import Recorded

__all__ = [
    "APIConnectionError",
    "APITimeoutError",
    "AuthenticationError",
    "BadRequestError",
    "BillingError",
    "ChainExhaustedError",
    "ConfigError",
    "ContentPolicyViolationError",
    "ContextWindowExceededError",
    "DecodeError",
    "Error",
    "HistoryError",
    "IncompleteStreamError",
    "InternalServerError",
    "LimitExceededError",
    "MalformedArgumentsError",
    "NotFoundError",
    "OutputError",
    "OverloadedError",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestTooLargeError",
    "RunStoppedError",
    "SchemaError",
    "ToolError",
    "TransportError",
    "UnknownModelError",
    "UnsupportedError",
    "UpstreamError",
    "UsageError",
    "WireError",
    "check_text",
    "kind_of",
    "reason_of",
    "redact",
]

Phase: TypeAlias = Literal["connect", "first_byte", "idle", "total", "pool", "upstream"]
"""Which deadline passed; `upstream` is one of the provider's own."""
OutputFault: TypeAlias = Literal["invalid", "truncated", "refused"]
"""The answer does not fit the type, was cut off by the length limit, or is a refusal."""

_CREDENTIAL = (
    r"(?i)\b(bearer\s+|basic\s+)[\w.~+/=-]{8,}"
    r"|\b(sk|pk|rk|gsk|xai|hf|nvapi|pplx|csk|fw|key|r8|AIza)[-_][\w-]{12,}"
    r"|\bAIza[\w-]{20,}"
    r"|([?&](?:key|api[-_]?key|token|access_token)=)[^&\s]+"
    r"|(?<=://)(?!\[token@\]|TOKEN@)(?:[^/@\s:]+(?::[^/@\s]*)?|:[^/@\s]+)(?=@)"  # our sentences show where tokens go
)


def redact(text: str, *secrets: str) -> str:
    """`text` without anything that looks like a credential, and without the given secrets.

    This is the one place where texts are cleaned before they reach an error, a log or a screen.
    """
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, "***")
    return re.sub(_CREDENTIAL, lambda match: f"{match.group(1) or match.group(3) or ''}***", text)


class Error(Exception):
    """The root of every interlingua error."""

    retryable: bool = False
    """Whether the same request may succeed when it is sent again."""
    http_status: ClassVar[int] = 500
    """The status with which a gateway answers when nothing better is known."""
    is_unreadable: bool = False
    """Whether it stands for an answer of a target that cannot be read: who wrote it may have it paid for."""
    lacking: Feature | None = None
    """The feature that the target says it does not take, where it refused the request for that."""
    has_bound_thinking: bool = False
    """Whether the target refused thinking of the history, since what stands before that has changed: without any
    thinking it may take the request."""
    run: Recorded | None = None
    """The run that it ended, where an agent was at work: what had come, to go on with."""
    target: str | None = None
    """The target that failed, `provider/model`, or None where none was asked."""
    key_from: str | None = None
    """Where the key came from that the target refused, such as a variable; never the key."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool | None = None,
        retry_after_s: float | None = None,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        rate_limits: dict[str, RateLimit] | None = None,
        attempts: tuple[Attempt, ...] = (),
    ) -> None:
        """An error with one sentence and the facts known about it."""
        super().__init__(redact(message))
        if retryable is not None:
            self.retryable = retryable
        self.retry_after_s = retry_after_s
        """Seconds that the peer asked us to wait, or None."""
        self.status = status
        """HTTP status of the answer, or None when there was none."""
        self.code = code
        """The peer's own structured code or type, or None."""
        self.request_id = request_id
        """The provider's id of the failed request, or None."""
        self.rate_limits: dict[str, RateLimit] = rate_limits or {}
        """The provider's limits by name (`requests`, `tokens`), as the failed answer told them."""
        self.attempts = attempts
        """The attempts of a chain that led here, oldest first."""

    @property
    def message(self) -> str:
        """The sentence, in the provider's own words where it has some."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        """The sentence, with the target and the status before it and the origin of a refused key behind it."""
        message = self.message
        if self.target is None or message.startswith(self.target):
            return message
        status = "" if self.status is None or message.startswith(str(self.status)) else f"{self.status} "
        key = f" (key from {self.key_from})" if self.key_from else ""
        return f"{self.target}: {status}{message}{key}"

    @property
    def status_code(self) -> int | None:
        """`status`, under the name by which handlers that were written for other SDKs ask."""
        return self.status

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross process borders with all their facts."""
        return (_rebuild, (type(self), self.args, dict(self.__dict__)))


def _rebuild(kind: type[Error], args: tuple[Any, ...], facts: dict[str, Any]) -> Error:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


class UsageError(Error):
    """Our caller is wrong; sending the same thing again cannot help."""

    http_status = 400


class ConfigError(UsageError):
    """A provider, alias, file or extra is missing or badly written."""

    http_status = 500


class UnknownModelError(UsageError):
    """A model spec that names no provider and no alias."""

    http_status = 404


class UnsupportedError(UsageError):
    """The target cannot take the request without changing what it means."""

    def __init__(self, message: str, *, changes: tuple[Change, ...] = (), **facts: Any) -> None:
        """All refusals found, not only the first."""
        super().__init__(message, **facts)
        self.changes = changes
        """One `refused` entry for each thing that the target cannot take."""


class SchemaError(UsageError):
    """A schema that is not valid JSON Schema, or is beyond a bound."""


class HistoryError(UsageError):
    """Calls and results of a conversation that do not pair, or broken arguments in it."""


class WireError(Error):
    """The peer broke the format: a client (4xx) or an upstream (502)."""

    http_status = 502


class DecodeError(WireError):
    """Bytes that are not what the dialect says."""

    def __init__(self, message: str, *, path: str = "", **facts: Any) -> None:
        """`path` is a JSON pointer to the first bad place, empty for the whole."""
        super().__init__(message, **facts)
        self.path = path
        """RFC 6901 pointer to the first bad place."""

    def under(self, prefix: str) -> DecodeError:
        """This error with `prefix` before its path; its sentence says the place once."""
        sentence = self.message.removeprefix(self.path).removeprefix(": ")
        sentence = sentence.removesuffix(f", at {self.path or 'the top'}")
        return DecodeError(f"{prefix}{self.path}: {sentence}", path=prefix + self.path)


class LimitExceededError(WireError):
    """One of our bounds was hit."""

    http_status = 413


class MalformedArgumentsError(WireError):
    """A tool call whose arguments are not one JSON object."""

    def __init__(
        self,
        message: str,
        *,
        call: BrokenToolCall | None = None,
        response: Response[Any] | None = None,
        **facts: Any,
    ) -> None:
        """Names the call; the whole response rides along."""
        super().__init__(message, **facts)
        self.call = call
        """The broken call, with its id, name and raw text."""
        self.response = response
        """The whole response that held it."""


class IncompleteStreamError(WireError):
    """A stream that ended before its terminal signal."""

    retryable = True

    def __init__(self, message: str, *, partial: Response[Any] | None = None, **facts: Any) -> None:
        """The partial answer from before the cut rides along."""
        super().__init__(message, **facts)
        self.partial = partial
        """The answer up to the cut, with open calls kept as broken ones."""


class TransportError(Error):
    """The bytes did not get there or back."""

    retryable = True
    http_status = 502
    reached: bool = True
    """Whether the peer may have seen the request; False where no connection was made for it."""


class APIConnectionError(TransportError):
    """The connection could not be made, or broke."""


class APITimeoutError(TransportError):
    """A deadline passed."""

    http_status = 504

    def __init__(self, message: str, *, phase: Phase = "total", **facts: Any) -> None:
        """`phase` says which deadline passed."""
        super().__init__(message, **facts)
        self.phase: Phase = phase
        """Which deadline passed."""


class UpstreamError(Error):
    """The provider answered with an error."""

    http_status = 502

    def __init__(self, message: str, *, response: Response[Any] | None = None, **facts: Any) -> None:
        """The partial answer that failed before its end rides along."""
        super().__init__(message, **facts)
        self.response = response
        """The answer that ended in this error, as far as it came; None where there was none."""


class AuthenticationError(UpstreamError):
    """The key is missing, wrong or expired (401)."""

    http_status = 401


class PermissionDeniedError(UpstreamError):
    """The key may not do this (403)."""

    http_status = 403


class BillingError(UpstreamError):
    """No credit, no quota, a spend limit (402, or 429 with a quota code)."""

    http_status = 402


class NotFoundError(UpstreamError):
    """No such model or endpoint (404)."""

    http_status = 404


class BadRequestError(UpstreamError):
    """The provider refuses the request itself (400, 405, 422)."""

    http_status = 400


class RequestTooLargeError(BadRequestError):
    """The body is too large for the provider (413)."""

    http_status = 413


class ContextWindowExceededError(BadRequestError):
    """The conversation is longer than the model's window."""


class ContentPolicyViolationError(BadRequestError):
    """The provider blocks the content."""


class RateLimitError(UpstreamError):
    """Too many requests or tokens (429)."""

    retryable = True
    http_status = 429


class OverloadedError(UpstreamError):
    """The provider has no capacity now (503, 529)."""

    retryable = True
    http_status = 503


class InternalServerError(UpstreamError):
    """The provider failed (5xx)."""

    retryable = True
    http_status = 502


class ChainExhaustedError(Error):
    """Every target of a chain failed; `attempts` lists each."""

    http_status = 502


class OutputError(Error):
    """The answer is not what `output=` asked for."""

    http_status = 502

    def __init__(
        self,
        message: str,
        *,
        fault: OutputFault = "invalid",
        response: Response[Any] | None = None,
        **facts: Any,
    ) -> None:
        """`fault` says why; the response rides along."""
        super().__init__(message, **facts)
        self.fault: OutputFault = fault
        """invalid, truncated or refused."""
        self.response = response
        """The answer that did not fit."""


class ToolError(Error):
    """Raised by a tool: the text that the model may read."""


class RunStoppedError(Error):
    """`run.output` was asked of a run that stopped before it was done."""

    def __init__(self, message: str, *, run: Recorded | None = None, **facts: Any) -> None:
        """The run rides along."""
        super().__init__(message, **facts)
        self.run = run
        """The run, with its messages, steps and stop reason."""


def kind_of(value: object) -> str:
    """The kind of a value that should have been something else, as sentences name it: `a dict`, `an int`, `None`."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


def reason_of(error: Exception) -> str:
    """The system's text, `Is a directory`, without the number and the path that `str` puts around it."""
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or str(error)


def check_text(value: object, expected: str) -> None:
    """Nothing.

    Raises: UsageError for what is no text: what was expected, and what came.
    """
    if not isinstance(value, str):
        raise UsageError(f"{expected}, not by {value!r:.60}")
