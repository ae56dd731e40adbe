"""The 40 compliance checks of llm-comply on the gateway, in front of each of four kinds of upstream.

`make test-comply` runs this file alone and shows the table. The strict upstream answers, and judges what it is sent.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from interlingua.testing.upstream import Upstream
from tests.support.gateway import serving

pytestmark = [
    pytest.mark.skipif(find_spec("llm_comply") is None, reason="llm-comply is not installed"),
]

FORMATS = {
    "open-responses": ("/v1", "gpt-5", 13),
    "openai-chat": ("/v1", "gpt-5", 9),
    "anthropic": ("/v1", "claude-sonnet-4-5", 9),
    "google-genai": ("", "gemini-3-pro", 9),
}
"""Each format: what stands behind the address, the model that is asked for, how many checks there are.

Checks of thinking go by the model's name."""
UPSTREAMS = {
    "openai-chat": "openai-chat/gpt-5.4",
    "openai-responses": "openai-responses/gpt-5.6",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "google": "google/gemini-3-pro",
}
"""Each kind of upstream, and a model of it that thinks."""
FORGIVEN = {
    # A body that lacks what only the vendor demands (`max_tokens` of Messages) is understood for other targets.
    "invalid request returned a successful response instead of an error (server may add default max_tokens)",
    # The scripted model does not think unless its dialect always does.
    "usage.completion_tokens_details.reasoning_tokens is 0 (model may not support reasoning)",
    "usageMetadata.thoughtsTokenCount is missing or 0 (model may not report thinking tokens)",
    "no thinking content block found in response.content (model may not emit thinking at current config)",
    "no thought parts found in candidates[0].content.parts (model may not emit thoughts at current thinking level)",
}
"""Warnings that say what the model did, not what the gateway said."""
KEPT_ID = re.compile(r"response\.id '(resp_|msg_|r-)\d+\.\.\.' missing 'chatcmpl-' prefix")
"""An answer keeps the id under which the provider knows it."""


def judged(url: str, form: str) -> dict[str, Any]:
    """The report of one format."""
    path, model, _ = FORMATS[form]
    command = [sys.executable, "-m", "llm_comply.cli", "--format", form, "--json"]
    command += ["-u", url + path, "-k", "no-key", "-m", model]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return json.loads(ran.stdout)


@pytest.mark.parametrize("kind", UPSTREAMS)
@pytest.mark.parametrize("form", FORMATS)
def test_every_check_passes(form: str, kind: str) -> None:
    """Each format passes all its checks, whatever stands behind, without a warning about the gateway."""
    upstream = Upstream(kind)
    aliases = {model: UPSTREAMS[kind] for _, model, _ in FORMATS.values()}
    with upstream.standing(), serving(aliases=aliases) as url:
        report = judged(url, form)
    total = FORMATS[form][2]
    warnings = {warning for result in report["results"] for warning in result.get("warnings", ())}
    failed = [(result["id"], result["errors"]) for result in report["results"] if result["status"] != "passed"]
    assert failed == []
    assert {warning for warning in warnings - FORGIVEN if not KEPT_ID.fullmatch(warning)} == set()
    assert report["summary"] == {"total": total, "passed": total, "failed": 0, "skipped": 0}
