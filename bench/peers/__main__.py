"""`python -m bench.peers [name…]`: install the peers, each in its environment; what cannot be had is said and left."""

from __future__ import annotations

import sys

from bench.peers import PEERS, install


def main() -> int:
    """Install; status 0 even where a peer cannot be had, because its rows say so."""
    for name in sys.argv[1:] or PEERS:
        print(f"{name}: ", end="", flush=True)
        print(install(name) or "ready", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
