"""Prints the bill of materials of the gateway's image as CycloneDX 1.6: the pins of `gateway.lock`, with their hashes.

Only the lock is read, so that the same commit gives the same bytes: no time, no serial number, no index.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_PIN = re.compile(r"^([\w.-]+)==([\w.!+-]+)(?:\s*;\s*([^\\]+?))?\s*\\?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components(lock: str) -> list[dict[str, Any]]:
    """The packages of a lock: name, version, address, the marker where it has one, and the hashes of its files."""
    parts: list[dict[str, Any]] = []
    for line in lock.splitlines():
        if pin := _PIN.match(line):
            name, version, marker = pin.groups()
            purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
            parts.append({"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl})
            if marker:
                parts[-1]["properties"] = [{"name": "python:marker", "value": marker}]
        elif digest := _HASH.search(line):
            hashes = [{"alg": "SHA-256", "content": digest[1]}]
            parts[-1].setdefault("externalReferences", []).append(
                {"type": "distribution", "url": parts[-1]["purl"], "hashes": hashes}
            )
    return parts


def bill(lock: str, version: str) -> dict[str, Any]:
    """The bill of materials of a lock."""
    own = f"pkg:pypi/interlingua@{version}"
    parts = components(lock)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": own, "name": "interlingua", "version": version, "purl": own,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [part["bom-ref"] for part in parts]}],
    }  # fmt: skip


def main() -> int:
    """Print the bill of materials."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (HERE / "gateway.lock").read_text(encoding="utf-8")
    json.dump(bill(lock, project["version"]), sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
