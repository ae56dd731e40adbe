"""Metadata that a build makes: the project's links, and the README with links that lead somewhere from any page.

A package's page shows the README away from its repository, so links to files become links to the released version of
them, below the one address of the project (`address` of the hook in `pyproject.toml`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(\]\(|(?:src|href|srcset)=\")(?!https?:|mailto:|#)([^)\"\s]+)")
"""The beginning of a link or picture of Markdown or HTML, and the file it names."""

PICTURE = re.compile(r"\.(?:svg|png|gif|jpe?g|webp)$")
"""Files that a page shows; their bytes lie below `raw`, their pages below `blob`."""


class ReleaseMetadata(MetadataHookInterface):
    """Adds `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in the dynamic fields of the project."""
        address, version = self.config["address"].rstrip("/"), metadata["version"]
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, address, f"v{version}")}
        metadata["urls"] = {
            "Homepage": address,
            "Documentation": f"{address}/blob/v{version}/README.md",
            "Source": f"{address}/tree/v{version}",
            "Changelog": f"{address}/blob/v{version}/CHANGELOG.md",
            "Issues": f"{address}/issues",
            "Security": f"{address}/blob/v{version}/SECURITY.md",
        }


def absolute(text: str, address: str, tag: str) -> str:
    """A document whose relative links are links to the files of a tag."""

    def link(place: re.Match[str]) -> str:
        kind = "raw" if PICTURE.search(place[2].partition("#")[0]) else "blob"
        return f"{place[1]}{address}/{kind}/{tag}/{place[2]}"

    return RELATIVE.sub(link, text)
