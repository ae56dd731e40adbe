"""The login `azure`: Microsoft Entra, by the library azure-identity.

Rules
- Named, it is `DefaultAzureCredential`: a client secret or certificate in variables, workload identity, managed
  identity, the `az` command, and what else the library tries; `AZURE_TOKEN_CREDENTIALS` narrows that.
- The library's objects are made for each renewal and closed after it: a changed variable counts.
"""

from __future__ import annotations

from typing import Any

from interlingua.registry.logins.bearer import BearerLogin, Token, issued_token
from interlingua.registry.logins.renewal import Issued
from interlingua.registry.logins.vendor import vendor_module

__all__ = ["VARIABLES", "azure_login", "login_of_azure"]

SCOPE = "https://cognitiveservices.azure.com/.default"
"""For the services that were Cognitive Services, Azure OpenAI among them."""
VARIABLES = (
    "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH",
    "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST", "AZURE_TOKEN_CREDENTIALS", "IDENTITY_ENDPOINT",
    "IDENTITY_HEADER",
)  # fmt: skip
"""Variables that choose the credential."""
WAY_OUT = "run `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"


def azure_login(scope: str) -> BearerLogin:
    """The login of the environment."""

    def fetch() -> Issued[Token]:
        credential = vendor_module("azure.identity", "azure").DefaultAzureCredential()
        with credential:
            return _issued(credential, scope or SCOPE)

    return BearerLogin("login azure", WAY_OUT, fetch)


def login_of_azure(credential: object, scope: str) -> BearerLogin:
    """The login of a credential object of azure-identity."""
    return BearerLogin(
        f"login {type(credential).__name__}",
        "look at the credential object",
        lambda: _issued(credential, scope or SCOPE),
    )


def _issued(credential: Any, scope: str) -> Issued[Token]:
    token = credential.get_token(scope)
    return issued_token(token.token, float(token.expires_on))
