"""Hooks on requests that are passed on and read by a model: prompts of `/v1/completions`, and others.

Rules
- Hooks see a prompt as the texts of one message, beside the knobs that conversations have under the same names. What
  they change of these goes out; anything else they change, and an answer of theirs, has no place there and is refused.
- What nobody here can read (batches, pictures, sounds, prompts in tokens or vectors, and unknown members that may hold
  a text) is refused where a hook sees everything, unless the file says `[hooks] unread = "pass"`. So is a prompt where
  a hook has to see the answer, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec.structs import replace

from interlingua import Hook, HookContext
from interlingua.client.aio.pump import carried_out
from interlingua.client.hooks.run import Hooking
from interlingua.errors import BadRequestError, PermissionDeniedError
from interlingua.types.content import TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._service import ModelReads
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.settings import GatewayKey
    from interlingua.registry.endpoint import Endpoint
    from interlingua.types.change import Change
    from interlingua.wire.body import Body

__all__ = ["HookResult", "Passed", "guards_of", "run_hooks", "unreadable"]

_KNOBS = ("max_tokens", "temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "n", "user")
"""Members of `/v1/completions` that a conversation has under the same name."""


_NO_PROMPT = frozenset({
    "allowed_token_ids", "bad_words", "include", "kv_transfer_params", "logit_bias", "metadata",
    "model", "priority", "prompt", "prompt_cache_key", "provider", "request_id", "response_format", "safety_identifier",
    "service_tier", "stop", "stop_token_ids", "stream_options", "structured_outputs", "suffix", "user",
    "guided_choice", "guided_decoding_backend", "guided_grammar", "guided_json", "guided_regex",
})  # fmt: skip
"""Members whose text or list is no part of what the model reads, or is shown to hooks.

Source: OpenAI "Create completion"; vLLM's `CompletionRequest`; read in November 2026.
"""


class Passed(NamedTuple):
    """A request that is passed on."""

    request: GatewayRequest
    """As it came."""
    reads: ModelReads
    """The text of it that a model reads."""
    body: Body | None
    """Its body, where that is JSON that names a model."""
    model: str
    """The model that it names."""
    endpoint: Endpoint
    """The target."""


class HookResult(NamedTuple):
    """The body after the hooks of a request that is passed on."""

    edits: dict[str, bytes]
    """Members with other values."""
    changes: tuple[Change, ...] = ()
    """The entries of that."""


async def run_hooks(hooks: tuple[Hook, ...], passed: Passed, key: GatewayKey | None) -> HookResult:
    """The request of a key after the hooks that nothing may go past, where it is passed on, and a model reads it.

    Raises: PermissionDeniedError for what a hook would have to see and cannot; BadRequestError for what a hook makes of
    it and cannot be said; what a hook raises.
    """
    guards = guards_of(hooks)
    if not guards:
        return HookResult({})
    body, texts = passed.body, None
    looks_at_answers = any([type(one).after is not Hook.after or type(one).during is not Hook.during for one in guards])
    if passed.reads == "prompt" and body is not None and not looks_at_answers:
        texts = _texts(body)
    if texts is None or body is None:
        raise unreadable(passed.request, guards)
    knobs: dict[str, Any] = {name: body.get(name) for name in _KNOBS if body.get(name) is not None}
    stop: Any = knobs.get("stop")
    if stop is not None:  # a value of a wrong kind is its provider's to refuse
        knobs["stop"] = tuple(cast("list[Any]", stop)) if isinstance(stop, list) else (stop,)
    shown = Request(messages=(Message("user", tuple([TextPart(text) for text in texts])),), **knobs)
    hooking = Hooking(
        guards,
        HookContext(
            model=passed.model,
            targets=(passed.endpoint.spec,),
            stream=body.get("stream") is True,
            owner="" if key is None else key.name,
        ),
    )
    result = await carried_out(hooking.before(shown))
    return HookResult(_edits(passed.request, body, shown, result), hooking.take_changes())


def _edits(request: GatewayRequest, body: Body, shown: Request, result: object) -> dict[str, bytes]:
    """The members that say what hooks have made of a prompt.

    Raises: BadRequestError for what a prompt cannot say.
    """
    if not isinstance(result, Request):
        raise _unsaid(request, "answered in the place of the model")
    knobs = {name: getattr(result, name) for name in _KNOBS if getattr(result, name) != getattr(shown, name)}
    if replace(shown, messages=result.messages, **knobs) != result:
        raise _unsaid(request, "changed what a prompt does not have")
    edits = {name: encode(value) for name, value in knobs.items()}
    if result.messages == shown.messages:
        return edits
    parts = result.messages[0].parts if len(result.messages) == 1 and result.messages[0].role == "user" else ()
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    before = _texts(body) or []
    if len(texts) != len(before) or len(parts) != len(before):
        raise _unsaid(request, "changed more of the prompt than its texts")
    suffix = {"suffix": encode(texts.pop())} if body.get("suffix") else {}
    return {**edits, "prompt": encode(texts if isinstance(body.get("prompt"), list) else texts[0]), **suffix}


def _texts(body: Body) -> list[str] | None:
    """The texts of a prompt; None for one in tokens or vectors, and for none."""
    if any([isinstance(body.get(name), str | list | dict) for name in body.members if name not in _NO_PROMPT]):
        return None
    prompt, suffix = body.get("prompt"), body.get("suffix")
    prompts = cast("list[object]", prompt) if isinstance(prompt, list) else [prompt]
    listed: list[object] = [*prompts, *([suffix] if suffix else [])]
    texts = [text for text in listed if isinstance(text, str)]
    return texts if texts and len(texts) == len(listed) else None


def guards_of(hooks: tuple[Hook, ...]) -> tuple[Hook, ...]:
    """The hooks that nothing may go past, as each of them says now."""
    return tuple([hook for hook in hooks if hook.sees_everything])


def unreadable(
    request: GatewayRequest, guards: Sequence[Hook], way_out: str = "as a conversation"
) -> PermissionDeniedError:
    """The refusal of a request that these hooks cannot see."""
    names = ", ".join([hook.name for hook in guards])
    return PermissionDeniedError(
        f"{request.path} is not read here, and {names} has to see what goes to a model and comes from it: ask "
        f'{way_out} (the operator may let it pass: [hooks] unread = "pass")',
        status=403,
        code="hooks_cannot_see",
    )


def _unsaid(request: GatewayRequest, refusal: str) -> BadRequestError:
    return BadRequestError(f"a hook {refusal}, which {request.path} cannot say; ask as a conversation", status=400)
