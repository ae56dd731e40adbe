"""Injected faults: a failover drill without a broken provider. The commands have the same as `--fault`."""

from __future__ import annotations

from interlingua.client.faults import error_body, faults

__all__ = ["error_body", "faults"]
