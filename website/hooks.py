"""MkDocs's hook: before each build the source is assembled, by the Python that has the package installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def on_pre_build(**_: object) -> None:
    """Assemble the source of the site anew."""
    subprocess.run([ROOT / ".venv" / "bin" / "python", "-m", "website"], cwd=ROOT, check=True)
