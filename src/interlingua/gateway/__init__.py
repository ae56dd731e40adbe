"""The gateway: any client dialect in, any provider out, as one async callable.

```python
from interlingua import gateway
app.mount("/llm", gateway.app("gateway.toml"))      # inside FastAPI or Starlette; or under any ASGI server by itself
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from interlingua import Hook
    from interlingua.gateway.asgi import GatewayApp
    from interlingua.gateway.settings import GatewaySettings

__all__ = ["app"]


def app(
    config: str | Path | None = None, *, settings: GatewaySettings | None = None, hooks: Sequence[Hook] = ()
) -> GatewayApp:
    """The gateway as an ASGI application, to be served or mounted.

    `config` is the TOML file with its providers, aliases, limits, keys and settings; without one, providers and aliases
    come from the environment and from code, and only clients on the same machine are served. `settings` replace those
    of the file; `is_open=True` among them serves whoever the application around it lets through. `hooks` run around
    conversations, beside those that the file names.

    Raises: ConfigError, with the line, for a file that cannot be read or says what is not known.
    """
    from interlingua.gateway.asgi import GatewayApp
    from interlingua.gateway.core import Gateway

    if config is None:
        return GatewayApp(Gateway(settings, hooks=hooks))
    from interlingua import load_config
    from interlingua.gateway.config import read_server_config

    from_file = read_server_config(config).settings
    load_config(config)
    return GatewayApp(Gateway(settings or from_file, hooks=hooks))
