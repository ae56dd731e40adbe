"""A provider of one line, reached over TLS by a process of its own."""

from __future__ import annotations

import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from interlingua.wire.json import decode_any
from tests.support.client import chat
from tests.support.server import Answer, reply, serving

trustme = pytest.importorskip("trustme", reason="makes certificates for tests")

TOKEN = "sk-t/o:k@en-0123456789"


@pytest.mark.parametrize(
    ("dsn", "environ"),
    [
        ("openai://sk-t%2Fo%3Ak%40en-0123456789@localhost:{port}/llm/v1", {}),
        ("vllm://localhost:{port}/llm/v1?key_env=WORK_KEY", {"WORK_KEY": TOKEN}),
    ],
    ids=["token", "key_env"],
)
def test_r40_a_dsn_over_tls(dsn: str, environ: dict[str, str], tmp_path: Path) -> None:
    """Scheme, token or its variable, host, port and path of one variable make a call; the token is in its header."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    answer = Answer((reply(chat("Over TLS.").body, headers="content-type: application/json\r\n"),))
    with serving(answer, context=context) as server:
        done = subprocess.run(
            [sys.executable, "-m", "interlingua", "ask", "-m", "work/some/model", "--no-stream", "Hi"],
            env={
                "LLM_WORK": dsn.format(port=server.port),
                "LLM_BAD": "openai:///",
                "SSL_CERT_FILE": str(tmp_path / "authority.pem"),
                "INTERLINGUA_HOME": str(tmp_path),
                **environ,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Over TLS.\n", "")
    [seen] = server.seen
    assert seen.line == "POST /llm/v1/chat/completions HTTP/1.1"
    assert seen.header("authorization") == f"Bearer {TOKEN}"
    assert decode_any(seen.body)["model"] == "some/model"
