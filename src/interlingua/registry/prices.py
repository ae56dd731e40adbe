"""The price of a target: the one that a provider is configured with, else that of the list of the [prices] extra.

Strategy: the list is genai-prices', as it was installed; nothing is fetched. Who bills is told by the address that was
asked, so that a name of your own for a known service has its prices, and a service of your own has nobody's. A model is
looked up once; after that a cost is a few multiplications.

Rules
- None is "not known": no price, no counts, a tier of service without a price. It is never 0.
- The list is loaded with the first answer of a service that was really asked. What answers in its place (a fake, a
  cassette) has made-up counts, so only a configured price applies to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.providers.price import Price
from interlingua.wire.cache import ByteCache, weight_of

if TYPE_CHECKING:
    from interlingua.registry.endpoint import Endpoint

__all__ = ["batch_price_of", "price_of", "window_of"]

_STANDARD = frozenset({"auto", "default", "standard", "standard_only"})
"""Words for the tier of service that the price list means when it says nothing."""
_BATCH = {"processing": "batch"}
"""The list's words for an answer from a batch."""
_RATES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
}
"""Fields of `Price`, by the list's names."""
_MAX_MODELS_BYTES = 500_000


def price_of(
    endpoint: Endpoint, names: tuple[str | None, ...], tier: str | None, *, is_asked: bool, writes: bool = True
) -> Price | None:
    """The price of a target now, under the first of `names` that its service is known to sell; None where unknown.

    `is_asked` says that the service itself answers, and nothing in its place; `writes` says that it writes something,
    so that the price of a model has to say what that costs.
    """
    if endpoint.price is not None:
        return endpoint.price
    if not is_asked or not endpoint.base_url.startswith("https://"):
        return None
    return _LIST.price(endpoint.base_url, names, tier, writes=writes)


def batch_price_of(endpoint: Endpoint, names: tuple[str | None, ...]) -> Price | None:
    """The list's own price of an answer from a batch; None where it has none, or the target a price of its own."""
    if endpoint.price is not None or not endpoint.base_url.startswith("https://"):
        return None
    return _LIST.price(endpoint.base_url, names, None, context=_BATCH)


def window_of(endpoint: Endpoint) -> int | None:
    """How many tokens the model of a target can read, as the installed price list has it; None where unknown."""
    if not endpoint.base_url.startswith("https://"):
        return None
    return _LIST.window(endpoint.base_url, endpoint.model)


class _Sold(msgspec.Struct, frozen=True, eq=False):
    """A model of the list."""

    model: Any
    """The model's entry in the list."""
    prices: dict[bool, Price | None]
    """Its price, by whether it writes; empty where that changes with time."""


class _List:
    """The installed price list, with a memory."""

    def __init__(self) -> None:
        self._missing = False
        self._snapshot: Any = None
        # The models belong to the list: their names alone weigh anything.
        self._models = ByteCache[tuple[str, str], "_Sold | None"](
            _MAX_MODELS_BYTES, self._look_up, weigh=lambda key, _: weight_of(key)
        )

    def price(
        self,
        address: str,
        names: tuple[str | None, ...],
        tier: str | None,
        *,
        writes: bool = True,
        context: dict[str, str] | None = None,
    ) -> Price | None:
        """The price that holds now for the first of `names` that the service at `address` is known to sell.

        With a `context` it is the price of that variant; None where the list has none.
        """
        if not self._is_there():
            return None
        sold = next((one for name in names if name and (one := self._models[address, name])), None)
        if sold is None:
            return None
        if context is None and tier is not None and tier not in _STANDARD:
            context = {"service_tier": tier}
        if context is not None:
            is_sold = any(variant.when == context for variant in sold.model.price_variants or ())
            return _read(_now(sold.model, context), writes=writes) if is_sold else None
        return sold.prices[writes] if sold.prices else _read(_now(sold.model, None), writes=writes)

    def window(self, address: str, name: str) -> int | None:
        """The context window of a model that the service at `address` is known to sell."""
        sold = self._models[address, name] if self._is_there() else None
        return None if sold is None else sold.model.context_window

    def _is_there(self) -> bool:
        """Whether the list is installed; its latest form is looked at from now on."""
        if self._missing:
            return False
        try:
            from genai_prices.data_snapshot import get_snapshot
        except ImportError:
            self._missing = True
            return False
        snapshot = get_snapshot()
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self._models.clear()  # of an earlier list
        return True

    def _look_up(self, key: tuple[str, str]) -> _Sold | None:
        address, name = key
        try:
            model = self._snapshot.find_provider_model(name, None, None, address)[1]
        except LookupError:
            return None
        if isinstance(model.prices, list):
            return _Sold(model, {})
        return _Sold(model, {writes: _read(model.prices, writes=writes) for writes in (False, True)})


_LIST = _List()


def _now(model: Any, context: dict[str, str] | None) -> Any:
    """The prices that hold at this time: some change on a date or by the hour."""
    from datetime import UTC, datetime  # only prices that change need a clock

    return model.get_prices(datetime.now(tz=UTC), context)


def _read(listed: Any, *, writes: bool = True) -> Price | None:
    """A price of the list as ours; None for a model that is not sold by tokens of input and, if it writes, output."""
    if listed.input_mtok is None or (writes and listed.output_mtok is None):
        return None
    starts = {tier.start for name in _RATES.values() for tier in getattr(getattr(listed, name), "tiers", ())}
    longer = [(start, Price(**_rates(listed, start + 1), request=_request(listed))) for start in sorted(starts)]
    return Price(**_rates(listed, 0), request=_request(listed), above=tuple(longer))


def _rates(listed: Any, tokens: int) -> dict[str, Any]:
    """The price of each kind of token in an answer with that many input tokens."""
    rates = {field: _rate(getattr(listed, name), tokens) for field, name in _RATES.items()}
    return {**rates, "output": rates["output"] or 0.0}  # without a price it is that of a model that writes nothing


def _rate(value: Any, tokens: int) -> float | None:
    if value is None:
        return None
    rate = getattr(value, "base", value)
    for tier in getattr(value, "tiers", ()):
        if tokens > tier.start:
            rate = tier.price
    return float(rate)


def _request(listed: Any) -> float:
    return float(listed.requests_kcount or 0) / 1_000
