"""Logins against imitations of the vendors' token services on loopback, by the vendors' own libraries."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import anthropic
import openai
import pytest

import interlingua as il
from interlingua import aio
from interlingua.registry.resolve import Registry
from interlingua.testing import cassette, no_network
from tests.support import signatures
from tests.support.gateway import serving as gateway_serving
from tests.support.server import Answer, Seen, Server, reply, serving
from tests.support.tls import Authority

botocore: Any = pytest.importorskip("botocore")
pytest.importorskip("azure.identity")
pytest.importorskip("google.auth")
Credentials: Any = pytest.importorskip("botocore.credentials").Credentials
Session: Any = pytest.importorskip("botocore.session").Session

ANSWER = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Here."}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}  # fmt: skip
TOKEN = "tok-SECRET-0123456789"
SECRET = "secret-KEY-0123456789abcdef"
SESSION = "session-TOKEN-0123456789"
LATER = datetime.now(UTC) + timedelta(hours=1)


def answer(value: object, status: str = "200 OK", headers: str = "content-type: application/json\r\n") -> Answer:
    """A reply of JSON, or of text."""
    body = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    return Answer((reply(body, status=status, headers=headers),))


@contextmanager
def cloud(script: Callable[[Seen], Answer]) -> Generator[tuple[Server, Server]]:
    """A server of models that answers everything, and a token service."""
    with serving(answer(ANSWER)) as models, serving(script) as tokens:
        yield models, tokens


def registry_for(models: Server, login: str, scope: str = "") -> Registry:
    """A registry whose `cloud/m` is reached by a login."""
    registry = Registry({"LLM_WORK": f"cloud://127.0.0.1:{models.port}/v1?tls=0&login={login}"})
    registry.register_provider(
        il.Provider(name="cloud", base_url="https://cloud.example", dialects=("openai-chat",), login_scope=scope)
    )
    return registry


def asked(models: Server, registry: Registry) -> str | None:
    """What a call is authorized by at the server of models."""
    assert il.model("work/m", registry=registry).generate("Hi").text == "Here."
    return models.seen[-1].header("authorization")


@pytest.fixture(autouse=True)
def _no_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the machine: no variable, no file, no metadata service."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_", "GCE_", "GCLOUD_", "CLOUDSDK_", "IDENTITY_", "MSI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))


# AWS


def check_signature(seen: Seen, server: Server, key: str, *, token: str | None, scope: tuple[str, str]) -> None:
    """The signature of a request is what botocore's own signer makes of it."""
    signatures.check_signature(seen, server, key, secret=SECRET, token=token, scope=scope)


def test_aws_signs_with_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables; the signature is the one that botocore makes of what arrived."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with serving(answer(ANSWER)) as models:
        asked(models, registry_for(models, "aws", "bedrock/eu-west-1"))
        check_signature(models.seen[0], models, "AKIDEXAMPLE", token=None, scope=("bedrock", "eu-west-1"))


async def test_aws_signs_awaited_requests_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The asyncio face, with a session token and a body that is signed in a thread."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)
    with serving(answer(ANSWER)) as models:
        model = aio.model("work/m", registry=registry_for(models, "aws", "bedrock/eu-west-1"))
        assert (await model.generate("Hi " * 400_000)).text == "Here."
        check_signature(models.seen[0], models, "AKIDEXAMPLE", token=SESSION, scope=("bedrock", "eu-west-1"))


def test_aws_reads_a_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The shared credentials file, under AWS_PROFILE."""
    (tmp_path / "credentials").write_text(
        f"[team]\naws_access_key_id = AKIDTEAM\naws_secret_access_key = {SECRET}\n", encoding="utf-8"
    )
    monkeypatch.setenv("AWS_PROFILE", "team")
    with serving(answer(ANSWER)) as models:
        asked(models, registry_for(models, "aws", "bedrock/eu-west-1"))
        check_signature(models.seen[0], models, "AKIDTEAM", token=None, scope=("bedrock", "eu-west-1"))


def test_aws_asks_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    """ECS and EKS: the address of AWS_CONTAINER_CREDENTIALS_FULL_URI, with its authorization."""
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container-word")
    with cloud(lambda _: answer(temporary("AccessKeyId", "Token", "Expiration"))) as (models, tokens):
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", tokens.url("/credentials"))
        registry = registry_for(models, "aws", "bedrock/eu-west-1")
        asked(models, registry)
        asked(models, registry)
        check_signature(models.seen[1], models, "ASIATEMPORARY", token=SESSION, scope=("bedrock", "eu-west-1"))
    assert [seen.header("authorization") for seen in tokens.seen] == ["container-word"]


def temporary(key: str, token: str, end: str) -> dict[str, str]:
    """A temporary credential, under the member names of a service."""
    return {"Code": "Success", key: "ASIATEMPORARY", "SecretAccessKey": SECRET, token: SESSION, end: f"{LATER:%FT%TZ}"}


def test_aws_asks_the_metadata_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """IMDSv2: a session token by PUT, the role, its credential."""

    def imds(seen: Seen) -> Answer:
        if seen.line.startswith("PUT /latest/api/token"):
            return answer("imds-token", headers="")
        assert seen.header("x-aws-ec2-metadata-token") == "imds-token"
        is_role = seen.line.split(" ")[1].endswith("/my-role")
        return answer(temporary("AccessKeyId", "Token", "Expiration") if is_role else "my-role", headers="")

    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    with cloud(imds) as (models, tokens):
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", tokens.url("/"))
        asked(models, registry_for(models, "aws", "bedrock/eu-west-1"))
        check_signature(models.seen[0], models, "ASIATEMPORARY", token=SESSION, scope=("bedrock", "eu-west-1"))


def assumed(operation: str) -> str:
    """The answer of the token service to an operation that gives the credential of a role."""
    return (
        f"<{operation}Response xmlns='https://sts.amazonaws.com/doc/2011-06-15/'><{operation}Result><Credentials>"
        f"<AccessKeyId>ASIATEMPORARY</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey>"
        f"<SessionToken>{SESSION}</SessionToken><Expiration>{LATER:%FT%TZ}</Expiration></Credentials>"
        f"</{operation}Result></{operation}Response>"
    )


def test_aws_assumes_a_role(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A profile with role_arn: the token service (STS) is asked, signed by the source profile."""
    (tmp_path / "config").write_text(
        "[profile team]\nrole_arn = arn:aws:iam::123456789012:role/team\nsource_profile = base\nregion = eu-west-1\n",
        encoding="utf-8",
    )
    (tmp_path / "credentials").write_text(
        f"[base]\naws_access_key_id = AKIDBASE\naws_secret_access_key = {SECRET}\n", encoding="utf-8"
    )
    monkeypatch.setenv("AWS_PROFILE", "team")
    made = assumed("AssumeRole")
    with cloud(lambda _: answer(made, headers="content-type: text/xml\r\n")) as (models, tokens):
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", tokens.url(""))
        asked(models, registry_for(models, "aws", "bedrock/eu-west-1"))
        check_signature(models.seen[0], models, "ASIATEMPORARY", token=SESSION, scope=("bedrock", "eu-west-1"))
    assert parse_qs(tokens.seen[0].body.decode())["RoleArn"] == ["arn:aws:iam::123456789012:role/team"]


def test_aws_reads_what_a_web_identity_is_exchanged_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """EKS: the token of a file is exchanged at the token service (STS), which wants no signature for it."""
    (tmp_path / "web").write_text("web-identity-token", encoding="utf-8")
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/pod")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "web"))
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    made = assumed("AssumeRoleWithWebIdentity")
    with cloud(lambda _: answer(made, headers="content-type: text/xml\r\n")) as (models, tokens):
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", tokens.url(""))
        asked(models, registry_for(models, "aws", "bedrock/eu-west-1"))
        check_signature(models.seen[0], models, "ASIATEMPORARY", token=SESSION, scope=("bedrock", "eu-west-1"))
    form = parse_qs(tokens.seen[0].body.decode())
    assert (form["WebIdentityToken"], tokens.seen[0].header("authorization")) == (["web-identity-token"], None)


def test_aws_reads_the_cache_of_a_single_sign_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What `aws sso login` left is exchanged for a credential of the profile's role."""
    start = "https://team.example/start"
    (tmp_path / "config").write_text(
        f"[profile team]\nsso_start_url = {start}\nsso_region = eu-west-1\nsso_account_id = 123456789012\n"
        "sso_role_name = user\nregion = eu-west-1\n",
        encoding="utf-8",
    )
    cache = tmp_path / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True)
    name = hashlib.sha1(start.encode(), usedforsecurity=False).hexdigest()
    token = {"startUrl": start, "region": "eu-west-1", "accessToken": "sso-token", "expiresAt": f"{LATER:%FT%TZ}"}
    (cache / f"{name}.json").write_text(json.dumps(token), encoding="utf-8")
    # The library looks for its home when it is imported, which was before this test.
    monkeypatch.setattr("botocore.credentials.SSOProvider._SSO_TOKEN_CACHE_DIR", str(cache))
    role = {
        "accessKeyId": "ASIATEMPORARY", "secretAccessKey": SECRET, "sessionToken": SESSION,
        "expiration": int(LATER.timestamp() * 1_000),
    }  # fmt: skip
    monkeypatch.setenv("AWS_PROFILE", "team")
    with cloud(lambda _: answer({"roleCredentials": role})) as (models, tokens):
        monkeypatch.setenv("AWS_ENDPOINT_URL_SSO", tokens.url(""))
        asked(models, registry_for(models, "aws", "bedrock/eu-west-1"))
        check_signature(models.seen[0], models, "ASIATEMPORARY", token=SESSION, scope=("bedrock", "eu-west-1"))
    assert tokens.seen[0].header("x-amz-sso_bearer_token") == "sso-token"


def test_aws_takes_a_session_of_ones_own() -> None:
    """A session of botocore stands where a name would."""
    session = Session()
    session.set_credentials("AKIDOWN", SECRET, SESSION)
    with serving(answer(ANSWER)) as models:
        registry = Registry({})
        registry.register_provider(
            il.Provider(
                name="cloud", base_url=models.url("/v1"), dialects=("openai-chat",), login_scope="bedrock/eu-west-1"
            )
        )
        assert il.model("cloud/m", registry=registry, login=session).generate("Hi").text == "Here."
        check_signature(models.seen[0], models, "AKIDOWN", token=SESSION, scope=("bedrock", "eu-west-1"))


def test_aws_without_a_credential_says_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    """The error names target, login and way out; nothing was sent."""
    caplog.set_level(logging.DEBUG)
    with serving(answer(ANSWER)) as models, pytest.raises(il.AuthenticationError) as caught:
        asked(models, registry_for(models, "aws", "bedrock/eu-west-1"))
    assert str(caught.value) == (
        "work/m: login aws gives no credential: none is configured; run `aws sso login`, set AWS_PROFILE, or set "
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (key from login aws)"
    )
    assert models.seen == []


def test_what_a_server_says_of_the_signature_is_cleaned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal that repeats the session token, as AWS does, shows none of it."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)
    refused = answer({"error": {"message": f"The canonical string was {SESSION}"}}, "403 Forbidden")
    with serving(refused) as models, pytest.raises(il.PermissionDeniedError) as caught:
        asked(models, registry_for(models, "aws", "bedrock/eu-west-1"))
    assert "The canonical string was ***" in str(caught.value)


def test_the_gateway_signs_what_it_passes_on_and_what_it_translates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client of Messages and one of Chat reach a target that wants signatures; neither knows of them."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "stop_sequence": None, "content": [{"type": "text", "text": "Here."}],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }  # fmt: skip
    with serving(answer(message)) as models:
        dsn = f"bedrock-anthropic://127.0.0.1:{models.port}?tls=0&login=aws&region=eu-west-1"
        with gateway_serving(providers={"claude": dsn}) as url:
            with anthropic.Anthropic(base_url=url, api_key="of-the-gateway") as client:
                client.messages.create(model="claude/m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}])
            with openai.OpenAI(base_url=f"{url}/v1", api_key="of-the-gateway") as chat:
                chat.chat.completions.create(model="claude/m", messages=[{"role": "user", "content": "Hi"}])
        scope = ("bedrock-mantle", "eu-west-1")
        for seen in models.seen:
            check_signature(seen, models, "AKIDEXAMPLE", token=None, scope=scope)
        assert [seen.header("x-api-key") for seen in models.seen] == [None, None]


def test_a_cassette_holds_no_signature_and_needs_no_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is recorded has neither key nor signature, and is replayed where there is no credential at all."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)
    tape = tmp_path / "tape.json"
    with serving(answer(ANSWER)) as models:
        registry = registry_for(models, "aws", "bedrock/eu-west-1")
        with cassette(tape, "record"):
            asked(models, registry)
    recorded = tape.read_text(encoding="utf-8")
    assert "Here." in recorded
    assert [word for word in (SECRET, SESSION, "AKIDEXAMPLE", "AWS4-HMAC") if word in recorded] == []
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    with no_network(), cassette(tape, "replay"):
        assert il.model("work/m", registry=registry).generate("Hi").text == "Here."


# Google Cloud


def key_file(folder: Path, **more: str) -> Path:
    """The key file of a service account that was made for a test."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    made = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = {"type": "service_account", "project_id": "p", "private_key_id": "1", "private_key": pem,
               "client_email": "robot@p.iam.gserviceaccount.com", "client_id": "1", **more}  # fmt: skip
    path = folder / "key.json"
    path.write_text(json.dumps(account), encoding="utf-8")
    return path


def test_google_reads_the_key_file_of_a_service_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """GOOGLE_APPLICATION_CREDENTIALS: a signed assertion goes to its token_uri, and one token serves two calls."""
    with cloud(lambda _: answer({"access_token": TOKEN, "expires_in": 3_600, "token_type": "Bearer"})) as (
        models,
        tokens,
    ):
        path = key_file(tmp_path, token_uri=tokens.url("/token"), quota_project_id="paying")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
        registry = registry_for(models, "google")
        assert asked(models, registry) == f"Bearer {TOKEN}"
        assert asked(models, registry) == f"Bearer {TOKEN}"
    (asked_for,) = tokens.seen
    assert parse_qs(asked_for.body.decode())["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]


def test_google_renews_a_token_before_its_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A token that ends in five seconds goes out with one request; the next one has another."""
    tokens_made = iter(["tok-FIRST-0123456789", "tok-SECOND-0123456789"])
    with cloud(lambda _: answer({"access_token": next(tokens_made), "expires_in": 5, "token_type": "Bearer"})) as (
        models,
        tokens,
    ):
        path = key_file(tmp_path, token_uri=tokens.url("/token"))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
        registry = registry_for(models, "google")
        assert [asked(models, registry) for _ in range(2)] == [
            "Bearer tok-FIRST-0123456789",
            "Bearer tok-SECOND-0123456789",
        ]


def test_google_asks_the_metadata_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine of Google's: the default service account, with the scope, in the vendor's flavour."""

    def metadata(seen: Seen) -> Answer:
        flavor = "Metadata-Flavor: Google\r\ncontent-type: application/json\r\n"
        path = seen.line.split(" ")[1]
        if "/token" in path:
            return answer({"access_token": TOKEN, "expires_in": 3_600, "token_type": "Bearer"}, headers=flavor)
        if "/service-accounts/" in path:
            return answer({"email": "robot@p", "scopes": ["a"], "aliases": ["default"]}, headers=flavor)
        return answer("my-project", headers=flavor.replace("application/json", "text/plain"))

    monkeypatch.delenv("NO_GCE_CHECK")
    with cloud(metadata) as (models, tokens):
        place = f"127.0.0.1:{tokens.port}"
        monkeypatch.setenv("GCE_METADATA_HOST", place)
        monkeypatch.setenv("GCE_METADATA_IP", place)
        assert asked(models, registry_for(models, "google")) == f"Bearer {TOKEN}"
    assert all(seen.header("metadata-flavor") == "Google" for seen in tokens.seen)


def test_google_federates_a_workload(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Workload identity federation: a subject token of a file is exchanged for one of Google's."""
    from google.auth import identity_pool

    (tmp_path / "subject").write_text("subject-token", encoding="utf-8")
    with cloud(lambda _: answer({
        "access_token": TOKEN, "expires_in": 3_600, "token_type": "Bearer",
        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
    })) as (models, tokens):  # fmt: skip
        credential: Any = identity_pool.Credentials(
            audience="//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
            subject_token_type="urn:ietf:params:oauth:token-type:jwt",
            token_url=tokens.url("/v1/token"),
            credential_source={"file": str(tmp_path / "subject")},
            scopes=["https://www.googleapis.com/auth/cloud-platform"],
        )
        registry = Registry({})
        registry.register_provider(il.Provider(name="cloud", base_url=models.url("/v1"), dialects=("openai-chat",)))
        assert il.model("cloud/m", registry=registry, login=credential).generate("Hi").text == "Here."
        assert models.seen[0].header("authorization") == f"Bearer {TOKEN}"
    assert parse_qs(tokens.seen[0].body.decode())["subject_token"] == ["subject-token"]


def test_google_tells_why_its_token_service_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A revoked key file: the service's words, cleaned, with target, login and way out."""
    with cloud(lambda _: answer({"error": "invalid_grant", "error_description": "Invalid JWT"}, "400 Bad Request")) as (
        models,
        tokens,
    ):
        path = key_file(tmp_path, token_uri=tokens.url("/token"))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
        with pytest.raises(il.AuthenticationError) as caught:
            asked(models, registry_for(models, "google"))
    assert str(caught.value).startswith("work/m: login google gives no credential: ")
    assert "invalid_grant: Invalid JWT" in str(caught.value)
    assert "gcloud auth application-default login" in str(caught.value)


# Azure


def test_azure_asks_for_a_managed_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """App Service: IDENTITY_ENDPOINT with its header, for the scope of the row; one token serves two calls."""
    ends = int(LATER.timestamp())
    with cloud(lambda _: answer({"access_token": TOKEN, "expires_on": str(ends), "token_type": "Bearer",
                                 "resource": "r"})) as (models, tokens):  # fmt: skip
        monkeypatch.setenv("IDENTITY_ENDPOINT", tokens.url("/msi/token"))
        monkeypatch.setenv("IDENTITY_HEADER", "identity-word")
        monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
        registry = registry_for(models, "azure", "https://ai.azure.com/.default")
        assert asked(models, registry) == f"Bearer {TOKEN}"
        assert asked(models, registry) == f"Bearer {TOKEN}"
    (seen,) = tokens.seen
    assert parse_qs(seen.line.split(" ")[1].partition("?")[2])["resource"] == ["https://ai.azure.com"]
    assert seen.header("x-identity-header") == "identity-word"


@pytest.mark.skipif(os.name == "nt", reason="the command is a shell script")
def test_azure_asks_the_az_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What `az login` left: the command gives the token."""
    told = json.dumps({"accessToken": TOKEN, "expires_on": int(LATER.timestamp()), "tokenType": "Bearer"})
    (tmp_path / "az").write_text(f"#!/bin/sh\necho '{told}'\n", encoding="utf-8")
    (tmp_path / "az").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "AzureCliCredential")
    with serving(answer(ANSWER)) as models:
        assert asked(models, registry_for(models, "azure")) == f"Bearer {TOKEN}"


def entra(seen: Seen) -> Answer:
    """Microsoft Entra: its metadata, and a token for whoever asks."""
    url = f"https://{seen.header('host')}/tenant"
    if "openid-configuration" in seen.line:
        ends = {"authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/token", "issuer": url}
        return answer(ends)
    return answer({"access_token": TOKEN, "expires_in": 3_600, "token_type": "Bearer"})


def test_azure_federates_a_workload(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Workload identity, as AKS sets it up: the token in a file is what the client proves itself by; no secret."""
    authority = Authority(tmp_path)
    federated = tmp_path / "federated-token"
    federated.write_text("token-of-the-cluster-1", encoding="utf-8")
    with serving(answer(ANSWER)) as models, serving(entra, context=authority.context()) as tokens:
        for name, value in {
            "REQUESTS_CA_BUNDLE": authority.file,
            "AZURE_TOKEN_CREDENTIALS": "WorkloadIdentityCredential",
            "AZURE_AUTHORITY_HOST": tokens.url("", "localhost"),
            "AZURE_TENANT_ID": "tenant",
            "AZURE_CLIENT_ID": "client",
            "AZURE_FEDERATED_TOKEN_FILE": str(federated),
        }.items():
            monkeypatch.setenv(name, value)
        registry = registry_for(models, "azure")
        assert [asked(models, registry), asked(models, registry)] == [f"Bearer {TOKEN}"] * 2
        form = parse_qs(tokens.seen[-1].body.decode())
    assert [seen.line for seen in tokens.seen] == ["POST /tenant/oauth2/v2.0/token HTTP/1.1"]
    assert (form["client_assertion"], form["client_id"], form["scope"]) == (
        ["token-of-the-cluster-1"], ["client"], ["https://cognitiveservices.azure.com/.default"],
    )  # fmt: skip
    assert form["client_assertion_type"] == ["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"]


def test_azure_takes_a_client_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A credential object of azure-identity: its secret goes to the authority alone, by TLS."""
    from azure.identity import ClientSecretCredential

    authority = Authority(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", authority.file)
    with serving(answer(ANSWER)) as models, serving(entra, context=authority.context()) as tokens:
        registry = Registry({})
        registry.register_provider(il.Provider(name="cloud", base_url=models.url("/v1"), dialects=("openai-chat",)))
        with ClientSecretCredential(
            "tenant", "client", SECRET, authority=tokens.url("", "localhost"), disable_instance_discovery=True
        ) as credential:
            assert il.model("cloud/m", registry=registry, login=credential).generate("Hi").text == "Here."
        assert models.seen[0].header("authorization") == f"Bearer {TOKEN}"
        form = parse_qs(tokens.seen[-1].body.decode())
        assert (form["scope"], form["client_secret"]) == (["https://cognitiveservices.azure.com/.default"], [SECRET])


def test_azure_without_a_login_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is configured: the way out is in the sentence, and no secret."""
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    with serving(answer(ANSWER)) as models, pytest.raises(il.AuthenticationError) as caught:
        asked(models, registry_for(models, "azure"))
    assert "login azure gives no credential" in str(caught.value)
    assert "run `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET" in str(caught.value)
