"""A model to call, blocking: in scripts, threads and notebooks, also inside a running event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from interlingua.client.face import Face
from interlingua.client.options import Options, Settings, settle

if TYPE_CHECKING:
    from typing import Self

    from interlingua.client.plan import Plan
    from interlingua.client.prompt import History, Prompt
    from interlingua.client.stream import ModelStream
    from interlingua.types.response import Response

__all__ = ["Model", "model"]

T = TypeVar("T")


class Model(Face):
    """One model, a chain or an alias: the same object. It holds no connection and may be shared by threads."""

    def with_options(self, **options: Unpack[Options]) -> Self:
        """A copy in which `options` hold for every call.

        Raises: UsageError for what is no option.
        """
        return self._copy(options)

    @overload
    def generate(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: type[T],
        **options: Unpack[Options],
    ) -> Response[T]: ...

    @overload
    def generate(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: None = None,
        **options: Unpack[Options],
    ) -> Response[None]: ...

    @overload
    def generate(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: object,
        **options: Unpack[Options],
    ) -> Response[Any]: ...

    def generate(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: object = None,
        **options: Unpack[Options],
    ) -> Response[Any]:
        """The answer to `prompt`, after `history`, and as a value of the type `output` where that is given.

        Raises: UsageError and its kinds, TransportError, UpstreamError and their kinds, DecodeError,
        MalformedArgumentsError, ChainExhaustedError when every target of a chain failed; OutputError.
        """
        from interlingua.client.core import call
        from interlingua.client.pump import Pump  # who only explains carries nothing anywhere

        job = self._job(prompt, history, options, output)
        if output is None:
            return Pump(call(job)).run()
        from interlingua.client.output import answered  # only typed answers need schemas

        return Pump(answered(job, output)).run()

    @overload
    def stream(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: type[T],
        tool_deltas: bool = False,
        **options: Unpack[Options],
    ) -> ModelStream[T]: ...

    @overload
    def stream(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: None = None,
        tool_deltas: bool = False,
        **options: Unpack[Options],
    ) -> ModelStream[None]: ...

    @overload
    def stream(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: object,
        tool_deltas: bool = False,
        **options: Unpack[Options],
    ) -> ModelStream[Any]: ...

    def stream(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: object = None,
        tool_deltas: bool = False,
        **options: Unpack[Options],
    ) -> ModelStream[Any]:
        """The answer as it comes: a context manager and an iterator over events; nothing is sent before it is opened.

        Raises: UsageError and its kinds.
        """
        from interlingua.client.stream import ModelStream  # the same

        return ModelStream(self._job(prompt, history, options, output, tool_deltas=tool_deltas), output)

    def explain(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: object = None,
        **options: Unpack[Options],
    ) -> Plan:
        """What `generate` would send, to whom, and what would be changed; nothing is sent.

        Raises: UsageError and its kinds, but not what a target refuses: that is in the plan.
        """
        from interlingua.client.plan import make_plan  # who explains needs it, who calls does not

        return make_plan(self._job(prompt, history, options, output))


def model(spec: str | None = None, **options: Unpack[Options]) -> Model:
    """The model of a spec: `provider/model`, an alias, or several with commas; None reads `INTERLINGUA_MODEL`.

    `options` hold for every call. Nothing is looked up or opened before the first one.

    Raises: UsageError for what is no option.
    """
    return Model(spec, settle(Settings(), options))
