"""`python -m interlingua` is `il`."""

from __future__ import annotations

import sys

from interlingua.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
