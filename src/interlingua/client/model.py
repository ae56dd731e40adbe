"""A model to call, blocking: in scripts, threads and notebooks, also inside a running event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from interlingua.client.face import Face, registry_of
from interlingua.client.options import CONCURRENCY, Settings, settle
from interlingua.errors import UsageError, kind_of
from interlingua.types.request import Request

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Iterable
    from typing import Self

    from typing_extensions import TypeForm  # what type checkers know it as before Python 3.15

    from interlingua.client.batch.batch import Batch
    from interlingua.client.cluster.cluster import Cluster
    from interlingua.client.item import Input, Item
    from interlingua.client.keywords import Options
    from interlingua.client.plan import Plan
    from interlingua.client.prompt import History, Prompt
    from interlingua.client.stream import ModelStream
    from interlingua.registry.resolve import Registry
    from interlingua.registry.secret import Key
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
        output: TypeForm[T],
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
        prompt: Prompt = (),  # so that `generate(messages=…)` is told what that is called here
        *,
        history: History | None = None,
        output: object = None,
        **options: Unpack[Options],
    ) -> Response[Any]:
        """The answer to `prompt`, after `history`, and as a value of the type `output` where that is given.

        Options, which `il.model`, `with_options`, `stream`, `map` and `explain` take as well:
            tools: system tools tool_choice parallel_tool_calls
            answer: output_schema schema_name schema_description schema_strict json_mode repair max_repairs n verbosity
            bounds: max_tokens stop timeout_s timeouts retries
            sampling: temperature top_p top_k min_p seed presence_penalty frequency_penalty logit_bias logprobs
            thinking: effort thinking thinking_summary thinking_budget
            provider: cache cache_key service_tier user metadata store continues extra headers
            losses: strict allow call_ids history_policy
            chain: persist hedge_after_s require
            calls: hooks raw http transport clock

        Raises: UsageError and its kinds, TransportError, UpstreamError and their kinds, DecodeError,
        MalformedArgumentsError, ChainExhaustedError when every target of a chain failed; OutputError.
        """
        from interlingua.client.call.core import call_steps
        from interlingua.client.call.pump import carried_out  # who only explains carries nothing anywhere

        call = self._call(prompt, history, options, output)
        if output is None:
            return carried_out(call_steps(call))
        from interlingua.client.typed.output import answered  # only typed answers need schemas

        return carried_out(answered(call, output))

    def send(self, request: Request, **options: Unpack[Options]) -> Response[None]:
        """The answer to a request as it is, with its messages, system text, tools and knobs; `stream` takes one, too.

        What the request does not say is the model's; `options` have the last word.

        Raises: UsageError for what is no request; as `generate`.
        """
        if not isinstance(request, Request):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"send takes an il.Request, not {kind_of(request)}; generate takes a prompt")
        return self.generate(request, **options)

    @overload
    def stream(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: TypeForm[T],
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
        prompt: Prompt = (),
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

        return ModelStream(self._call(prompt, history, options, output, tool_deltas=tool_deltas), output)

    @overload
    def map(
        self,
        inputs: Iterable[Input],
        *,
        output: TypeForm[T],
        concurrency: int = CONCURRENCY,
        journal: str | os.PathLike[str] | None = None,
        ordered: bool = True,
        batch: bool | Batch = False,
        engine: str | Cluster | None = None,
        key: Callable[[Any], str] | None = None,
        retry_failed: bool = False,
        **options: Unpack[Options],
    ) -> Generator[Item[T]]: ...

    @overload
    def map(
        self,
        inputs: Iterable[Input],
        *,
        output: None = None,
        concurrency: int = CONCURRENCY,
        journal: str | os.PathLike[str] | None = None,
        ordered: bool = True,
        batch: bool | Batch = False,
        engine: str | Cluster | None = None,
        key: Callable[[Any], str] | None = None,
        retry_failed: bool = False,
        **options: Unpack[Options],
    ) -> Generator[Item[None]]: ...

    @overload
    def map(
        self,
        inputs: Iterable[Input],
        *,
        output: object,
        concurrency: int = CONCURRENCY,
        journal: str | os.PathLike[str] | None = None,
        ordered: bool = True,
        batch: bool | Batch = False,
        engine: str | Cluster | None = None,
        key: Callable[[Any], str] | None = None,
        retry_failed: bool = False,
        **options: Unpack[Options],
    ) -> Generator[Item[Any]]: ...

    def map(
        self,
        inputs: Iterable[Input],
        *,
        output: object = None,
        concurrency: int = CONCURRENCY,
        journal: str | os.PathLike[str] | None = None,
        ordered: bool = True,
        batch: bool | Batch = False,
        engine: str | Cluster | None = None,
        key: Callable[[Any], str] | None = None,
        retry_failed: bool = False,
        **options: Unpack[Options],
    ) -> Generator[Item[Any]]:
        """One item for each input, in order or as they are finished; a failure is its item's `error`, never raised.

        Inputs are taken as they are needed and asked for in threads that end with the iteration; leaving it early waits
        for the calls under way. `journal` is a file in which every finished input is kept: a rerun takes those from
        there, and the failed ones are only tried again with `retry_failed`. `key` says what an input is called.
        With `engine="ray"` the workers of a cluster ask, `concurrency` calls at once each, and `journal` is a folder.

        Raises: UsageError and its kinds for what would fail all inputs alike; what the inputs raise.
        """
        from interlingua.client.map import Terms, Work, check_inputs, mapped  # who asks one thing needs none of it

        check_inputs(inputs)
        terms = Terms(output, concurrency, journal, ordered, batch, key, retry_failed, options)
        work = Work[Any](self, terms)
        if engine is None:
            return mapped(work, self, inputs, terms)
        from interlingua.client.cluster.cluster import cluster_of  # only who has a cluster needs it
        from interlingua.client.cluster.engine import mapped_on_ray

        return mapped_on_ray(work, self, inputs, terms, cluster_of(engine, terms))

    def explain(
        self,
        prompt: Prompt,
        *,
        history: History | None = None,
        output: object = None,
        **options: Unpack[Options],
    ) -> Plan:
        """The plan of a `generate`: the body, its targets and the changes; nothing is sent.

        Raises: UsageError and its kinds, but not what a target refuses: that is in the plan.
        """
        from interlingua.client.plan import make_plan  # who explains needs it, who calls does not

        return make_plan(self._call(prompt, history, options, output))


def model(
    spec: str | None = None,
    *,
    api_key: Key | None = None,
    base_url: str | None = None,
    login: object = None,
    registry: Registry | None = None,
    **options: Unpack[Options],
) -> Model:
    """The model of a spec: `provider/model`, an alias, or several with commas; None reads `INTERLINGUA_MODEL`.

    `api_key` is the key, or a function that gives the one that holds now, and `base_url` the address, as the vendor's
    SDK takes it, of the one provider that the spec names. `login` stands in place of a key: `"aws"`, `"azure"` or
    `"google"`, a credential object of botocore, azure-identity or google-auth, or a function that gives a bearer token.
    `registry` says which names there are, in place of the registry of the process. `options` hold for every call.
    Nothing is looked up or opened before the first one.

    Raises: UsageError for what is no option.
    """
    return Model(spec, settle(Settings(), options), registry=registry_of(api_key, base_url, registry, login))
