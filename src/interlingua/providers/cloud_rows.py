"""The models of Google and Anthropic as clouds serve them, by the rules of `providers.rows`: one row each.

Rules
- Project, location, region and resource are read from the variables that the official SDKs read.
- A path or a member that differs from the dialect's own service is data of the row (`Operation`).
- The version of Messages is the one that the dialect reads and writes; an SDK may name a later one.
"""

from __future__ import annotations

from interlingua.dialects._contract import Quirks
from interlingua.providers.row import Operation, Provider, Variable

__all__ = ["CLOUD_ROWS"]

GOOGLE_LOCATIONS = "https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/publishers"


def _google_place(publisher: str, project: tuple[str, ...], location: tuple[str, ...]) -> tuple[Variable, ...]:
    """Project and location of Google Cloud; some locations are no regions, and have hosts of their own [SDK]."""
    path = f"/v1/projects/{{project}}/locations/{{location}}/publishers/{publisher}"
    wide = [(name, f"https://aiplatform.{name}.rep.googleapis.com{path}") for name in ("us", "eu")]
    addresses = (("global", f"https://aiplatform.googleapis.com{path}"), *wide)
    return (
        Variable(name="project", env=project),
        Variable(name="location", env=location, default="global", addresses=addresses),
    )


AWS_REGION = Variable(name="region", env=("AWS_REGION", "AWS_DEFAULT_REGION"))
"""Where a service of AWS is."""
VERTEX = Quirks(
    call_ids_back=False,
    server_tool_calls=False,
    penalties_by_model=False,
    bounds="vendor",
    embed_form="predict",
    embed_inputs=1,
)
"""Gemini in a project of Google Cloud."""
VERTEX_PROJECT = ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT")
VERTEX_MESSAGES = (
    Operation(
        path="/messages",
        to="/models/{model}:rawPredict",
        streamed_to="/models/{model}:streamRawPredict",
        left_out=("model",),
        added=(("anthropic_version", "vertex-2023-10-16"),),
    ),
    Operation(
        path="/messages/count_tokens",
        to="/models/count-tokens:rawPredict",
        added=(("anthropic_version", "vertex-2023-10-16"),),
    ),
)
"""Messages as Vertex has them: the model stands in the path, the version in the body."""

CLOUD_ROWS = (
    # [wire google §"Field facts"]: the same body with OAuth and another host; ids of calls do not go back. Penalties:
    # recorded exchange f002507b199a, gemini-2.5-pro.
    Provider(
        name="vertex",
        title="Google Vertex AI",
        base_url=f"{GOOGLE_LOCATIONS}/google",
        variables=_google_place("google", ("GOOGLE_CLOUD_PROJECT",), ("GOOGLE_CLOUD_LOCATION",)),
        dialects=("google",),
        address_env=(("GOOGLE_VERTEX_BASE_URL", "/v1/projects/{project}/locations/{location}/publishers/google"),),
        key_env=("GOOGLE_OAUTH_ACCESS_TOKEN",),
        login="google",
        quirks=VERTEX,
        family="google",
        note="Gemini in a project of Google Cloud; ?location= says where, else GOOGLE_CLOUD_LOCATION, else global.",
    ),
    # Paths, body and version as AnthropicVertex sends them [SDK anthropic, lib/vertex]. What belongs to a beta feature
    # that the server does not have is refused, as on other servers that are not the vendor's own.
    Provider(
        name="vertex-anthropic",
        title="Claude on Google Vertex AI",
        base_url=f"{GOOGLE_LOCATIONS}/anthropic",
        variables=_google_place("anthropic", VERTEX_PROJECT, ("CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION")),
        dialects=("anthropic",),
        address_env=(("ANTHROPIC_VERTEX_BASE_URL", "/projects/{project}/locations/{location}/publishers/anthropic"),),
        key_env=("GOOGLE_OAUTH_ACCESS_TOKEN",),
        login="google",
        operations=VERTEX_MESSAGES,
        headers_left_out=("anthropic-version",),
        quirks=Quirks(betas=frozenset()),
        family="anthropic",
        note="?betas=* sends beta features there, too.",
    ),
    # The endpoint that speaks Messages with server-sent events [SDK anthropic, lib/bedrock/_mantle.py].
    Provider(
        name="bedrock-anthropic",
        title="Claude on Amazon Bedrock",
        base_url="https://bedrock-mantle.{region}.api.aws/anthropic/v1",
        variables=(AWS_REGION,),
        dialects=("anthropic",),
        address_env=(("ANTHROPIC_BEDROCK_MANTLE_BASE_URL", "/v1"),),
        key_env=("AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_AWS_API_KEY"),
        login="aws",
        login_scope="bedrock-mantle/{region}",
        quirks=Quirks(betas=frozenset()),
        model_prefix=r"([a-z-]+\.)?anthropic\.",
        family="anthropic",
        note="Models are named as Bedrock names them, anthropic.claude-…; ?betas=* sends beta features there, too.",
    ),
    # A history with calls needs their tools declared [our notes]. The key is one of Bedrock's own API keys; without one
    # requests are signed [SDK botocore, bedrock-runtime].
    Provider(
        name="bedrock",
        title="Amazon Bedrock",
        base_url="https://bedrock-runtime.{region}.amazonaws.com",
        variables=(AWS_REGION,),
        dialects=("bedrock",),
        address_env=(("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", ""),),
        key_env=("AWS_BEARER_TOKEN_BEDROCK",),
        login="aws",
        login_scope="bedrock/{region}",
        quirks=Quirks(history_tools=True),
        note="Converse; its models are model ids, inference profiles and ARNs.",
    ),
    # The vendor's own service under another address [SDK anthropic, lib/foundry.py and foundry.md].
    Provider(
        name="azure-anthropic",
        title="Claude on Azure AI Foundry",
        base_url="https://{resource}.services.ai.azure.com/anthropic/v1",
        variables=(Variable(name="resource", env=("ANTHROPIC_FOUNDRY_RESOURCE",)),),
        dialects=("anthropic",),
        address_env=(("ANTHROPIC_FOUNDRY_BASE_URL", "/v1"),),
        key_env=("ANTHROPIC_FOUNDRY_API_KEY",),
        auth="x-api-key",
        login_scope="https://ai.azure.com/.default",
        family="anthropic",
        note="The model is the name of your deployment.",
    ),
)
"""Every row, in the order of the guide's table."""
