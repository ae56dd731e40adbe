"""`python -m website [FOLDER]`: the source of the site, written to a folder; unchanged files keep their times."""

from __future__ import annotations

import sys
from pathlib import Path

from website.assemble import ROOT, assemble, write


def main() -> int:
    """Write the source of the site and print the number of its pages."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site-source"
    pages = assemble()
    written = write(pages, folder)
    print(f"{folder}: {len(pages)} files, {written} of them changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
