"""The path of a request: it names the model, and what is asked of it.

Rules
- The model stands after `/models/`. The JavaScript SDKs leave `models/` out where a model's name has a slash:
  `/v1beta/provider/model:generateContent`.
- A tuned model keeps its `tunedModels/`; what Vertex AI writes before `models/` says nothing about the model.
Source: `@ai-sdk/google`, `@google/genai`, langchain.js, November 2026.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["GooglePath", "read_path"]

_PATH = re.compile(
    r"/(?:models|(?P<kind>tunedModels)|v1[a-z0-9]*(?!/(?:models|tunedModels|projects|publishers)/))"
    r"/(?P<name>[^?#]+)(?::|%3[Aa])(?P<method>\w+)(?:\?(?P<query>[^#]*))?(?:#.*)?$"
)


class GooglePath(NamedTuple):
    """What the path of a request says."""

    model: str
    """The model that is asked."""
    method: str
    """What is asked of it, such as `generateContent`."""
    query: str
    """The query."""

    @property
    def streams(self) -> bool:
        """Whether a stream is asked for."""
        return self.method == "streamGenerateContent"

    @property
    def json_array(self) -> bool:
        """Whether a stream comes as one JSON array."""
        return self.streams and "alt=sse" not in self.query.split("&")


def read_path(url: str) -> GooglePath | None:
    """What a path, with its query, says; None where it names no model."""
    found = _PATH.search(url)
    if found is None:
        return None
    name = unquote(found["name"])
    return GooglePath(f"{found['kind']}/{name}" if found["kind"] else name, found["method"], found["query"] or "")
