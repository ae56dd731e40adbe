"""The shared face of the blocking and the awaited model: a spec, options, and the calls that they make."""

from __future__ import annotations

import os
import time
from operator import is_
from typing import TYPE_CHECKING, Any

from interlingua.client.call.values import Call, CallTarget
from interlingua.client.options import Settings, options_of, settle, settled_under
from interlingua.client.prompt import build_request, turns
from interlingua.client.state import limiter_of
from interlingua.dialects.table import get_dialect
from interlingua.errors import ConfigError, UsageError, kind_of
from interlingua.registry.resolve import default_registry, placeholder
from interlingua.transport.override import answers_alone
from interlingua.types.request import Request

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from interlingua.client.prompt import History, Prompt
    from interlingua.registry.endpoint import Endpoint
    from interlingua.registry.ranking import Ranking
    from interlingua.registry.resolve import Registry
    from interlingua.registry.secret import Key

__all__ = ["Face", "call_of", "check_registry", "check_targets", "registry_of"]

MODEL_VARIABLE = "INTERLINGUA_MODEL"
"""Names the model where the code does not."""
_UNCHANGEABLE = frozenset({str, int, float, bool, type(None)})
"""Types of options that say the same at every call."""
_ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


class Face:
    """One model, a chain or an alias, and the options that hold for every call."""

    def __init__(
        self, spec: str | None = None, settings: Settings | None = None, *, registry: Registry | None = None
    ) -> None:
        """A model by its spec; None leaves it to `INTERLINGUA_MODEL`. Nothing is looked up before the first call.

        Raises: UsageError for a spec that is no text, and for what is no registry.
        """
        if spec is not None and not isinstance(spec, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"a model is named by a text, 'provider/model' or 'a/b,c/d', not by {spec!r:.60}")
        check_registry(registry)
        self._spec = spec
        self._settings = settings or Settings()
        self._registry = default_registry() if registry is None else registry
        self._resolved: tuple[tuple[Endpoint, ...], tuple[CallTarget, ...], Ranking | None] = ((), (), None)
        self._last: tuple[tuple[str, ...], tuple[object, ...], Settings] = ((), (), self._settings)

    @property
    def spec(self) -> str:
        """The spec: `provider/model`, an alias, or several with commas.

        Raises: ConfigError when neither the code nor `INTERLINGUA_MODEL` names one.
        """
        spec = self._spec or os.environ.get(MODEL_VARIABLE)
        if spec:
            return spec
        if answers_alone():
            return "model"
        raise ConfigError(f"no model: name one, as in il.model('provider/model'), or set {MODEL_VARIABLE}")

    @property
    def settings(self) -> Settings:
        """The options that hold for every call."""
        return self._settings

    if not TYPE_CHECKING:  # type checkers are to know what there is alone

        def __getattr__(self, name: str) -> Any:
            """Nothing: the error says what there is instead of another library's word."""
            from interlingua.types.words import no_attribute  # only who errs needs it

            no_attribute(self, name)

    def __deepcopy__(self, memo: object) -> Self:
        """The model itself: nothing of it changes."""
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str | None, Settings]]:
        """Pickled as its spec and options: keys and names are looked up where it is used, and stay where they are.

        Raises: TypeError for a model with a registry, a transport, HTTP options or a clock of its own.
        """
        if self._registry is not default_registry():
            raise TypeError(
                f"{self!r} cannot be pickled: it has a registry of its own, whose keys stay in this process"
            )
        if self._settings.carrier is not None or self._settings.timing is not None:
            raise TypeError(f"{self!r} cannot be pickled: its transport, its HTTP options and its clock stay here")
        return type(self), (self._spec, self._settings)

    def __repr__(self) -> str:
        request, nothing = self._settings.request, Settings().request
        options = [name for name in request.__struct_fields__ if getattr(request, name) != getattr(nothing, name)]
        kind = type(self).__name__ if type(self) is not Face else "Model"  # what an agent makes of a name
        return f"{kind}({', '.join([repr(self._spec), *(f'{name}=…' for name in options)])})"

    def _copy(self, options: Mapping[str, Any]) -> Self:
        return type(self)(self._spec, settle(self._settings, options), registry=self._registry)

    def _call(
        self,
        prompt: Prompt,
        history: History | None,
        options: Mapping[str, Any],
        output: object = None,
        *,
        tool_deltas: bool = False,
    ) -> Call:
        """The call as a value.

        Raises: UsageError and its kinds for what cannot be asked.
        """
        if isinstance(prompt, Request) or isinstance(history, Request):
            settings, prompt, history = self._settings_and_messages(prompt, history, options)
        else:
            settings = self._settled(options) if options else self._settings
        request = build_request(settings.request, prompt, history)
        if output is not None:
            from interlingua.client.typed.output import asking  # only typed answers need schemas

            request = asking(request, output)
        stands_in, spec, timing = answers_alone(), self._spec or self.spec, settings.timing
        targets, ranking = self._stand_ins(spec) if stands_in else self._targets(spec)
        return Call(
            request,
            settings,
            targets,
            time.monotonic if timing is None else timing.clock,
            not stands_in,
            _own_id if settings.call_ids == "own" else None,
            tool_deltas,
            output is not None,
            health=None if timing is None else timing.health,
            limits=None if stands_in else self._registry.limited_by(limiter_of),
            ranking=ranking,
        )

    def _settings_and_messages(
        self, prompt: Prompt, history: History | None, options: Mapping[str, Any]
    ) -> tuple[Settings, Prompt, History | None]:
        """The settings and the messages of a call that is, or goes on from, a request of the caller's own.

        A request that is sent has the last word before the call's options; one that is a history has the first.

        Raises: UsageError for a request beside a history, and for a value that is none of its field's.
        """
        if isinstance(prompt, Request):
            if history is not None:
                raise UsageError("a request holds its whole conversation: it is sent without history")
            return settle(self._settings, {**options_of(prompt), **options}), prompt.messages, None
        assert isinstance(history, Request)  # noqa: S101 - one of the two is
        before = history.messages
        if self._settings.request.system or options.get("system"):
            before = tuple([message for message in before if message.role != "system"])
        settings = settle(settled_under(self._settings, history), options)
        return settings, (*before, *turns(prompt)), None

    def _settled(self, options: Mapping[str, Any]) -> Settings:
        """The settings of a call with `options`; those of the last one where these are the same values."""
        names, values, settled = self._last
        if names == tuple(options) and all(map(is_, values, options.values())):
            return settled
        settled = settle(self._settings, options)
        if all([type(value) in _UNCHANGEABLE or value is settled.request.tools for value in options.values()]):
            self._last = tuple(options), tuple(options.values()), settled
        return settled

    def _targets(self, spec: str) -> tuple[tuple[CallTarget, ...], Ranking | None]:
        """The targets of a spec, and the rules of its aliases; both hold for as long as it stands for the same."""
        endpoints = self._registry.resolved(spec).endpoints
        cached, targets, ranking = self._resolved  # one value, so that threads never see half of it
        if endpoints is not cached:
            ranking = self._registry.ranking(spec)
            targets = tuple([CallTarget(endpoint, get_dialect(endpoint.dialect)) for endpoint in endpoints])
            self._resolved = (endpoints, targets, ranking)
        return targets, ranking

    def _stand_ins(self, spec: str) -> tuple[tuple[CallTarget, ...], Ranking | None]:
        """The targets where something answers in their place: names need not be known, and have no rules then."""
        try:
            return self._targets(spec)
        except UsageError:
            endpoints: list[Endpoint] = []
            for element in [element.strip() for element in spec.split(",")]:
                try:
                    endpoints += self._registry.resolve(element)
                except UsageError:  # nothing defines the name
                    endpoints.append(placeholder(element))
            return tuple([CallTarget(endpoint, get_dialect(endpoint.dialect)) for endpoint in endpoints]), None


def call_of(
    face: Face, prompt: Prompt, history: History | None, options: Mapping[str, Any], output: object = None
) -> Call:
    """The call as a value, for who carries it out by himself.

    Raises: UsageError and its kinds for what cannot be asked.
    """
    return face._call(prompt, history, options, output)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # the same room


def check_targets(face: Face) -> None:
    """Nothing; where something answers in the place of all targets, names need not be known.

    Raises: UsageError and its kinds for a spec that stands for no target.
    """
    if not answers_alone():
        face._targets(face.spec)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # the same room


def registry_of(
    api_key: Key | None, base_url: str | None, registry: Registry | None, login: object = None
) -> Registry | None:
    """Where the names of a model that is made with these arguments come from; None for the registry of the process.

    Raises: UsageError for what is no key and no address.
    """
    if api_key is None and base_url is None and login is None:
        return registry
    check_registry(registry)
    return (registry or default_registry()).pointed(api_key=api_key, base_url=base_url, login=login)


def check_registry(registry: object) -> None:
    """Nothing.

    Raises: UsageError for what is no registry.
    """
    if registry is not None and not hasattr(registry, "resolved"):  # only who has one has loaded its class
        raise UsageError(f"registry takes an il.Registry, not {kind_of(registry)}")


def _own_id() -> str:
    from secrets import choice  # only who wants own ids needs randomness

    return f"call_{''.join([choice(_ID_ALPHABET) for _ in range(24)])}"
