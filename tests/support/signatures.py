"""Signatures of AWS, checked by botocore's own signer."""

from __future__ import annotations

from importlib import import_module

from tests.support.server import Seen, Server

__all__ = ["check_signature"]


def check_signature(
    seen: Seen, server: Server, key: str, *, secret: str, token: str | None, scope: tuple[str, str]
) -> None:
    """The signature of a request is what botocore's signer makes of the bytes that arrived."""
    sent = seen.header("authorization") or ""
    names = sent.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    method, path, _ = seen.line.split(" ")
    headers = {name: seen.header(name) or "" for name in names}
    request_of = import_module("botocore.awsrequest").AWSRequest
    request = request_of(method=method, url=server.url(path), headers=headers, data=seen.body)
    request.context["timestamp"] = seen.header("x-amz-date")
    credentials = import_module("botocore.credentials").Credentials(key, secret, token)
    signer = import_module("botocore.auth").SigV4Auth(credentials, *scope)
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    assert sent.startswith(f"AWS4-HMAC-SHA256 Credential={key}/")
    assert sent.endswith(f"Signature={signature}")
    assert {"host", "x-amz-date", "content-type"} <= set(names)
    assert ("x-amz-security-token" in names) == bool(token)
