"""One entry of `model_list`: a provider's model, where it is served, and whose key is used.

Shape: an `Account` is what a `[providers.NAME]` table will say; deployments with equal accounts share one.

Source: LiteLLM's documentation of `config.yaml` (model list, credentials) and of its providers, read 2026-11-22.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote, urlsplit

from interlingua.compat.litellm_models import PREFIXES, Named, named
from interlingua.providers.rows import ROWS

if TYPE_CHECKING:
    from interlingua.cli.litellm.reading import Tree
    from interlingua.cli.litellm.report import Report

__all__ = [
    "Account",
    "Deployment",
    "Keys",
    "Param",
    "clean_model",
    "read_deployment",
    "usual_keys",
    "usual_variable",
    "variable_in",
]

SCHEMES = {
    **PREFIXES,
    "azure_text": "azure",
    "custom_openai": "openai-compatible",
    "litellm_proxy": "openai-compatible",
    "openai_like": "openai-compatible",
}
"""Providers that LiteLLM calls otherwise, as schemes of ours."""
_UNSERVED = {
    **dict.fromkeys(
        ("sagemaker", "sagemaker_chat", "sagemaker_nova"),
        "an endpoint of SageMaker speaks what its model was deployed with",
    ),
    "vertex_ai_beta": "write vertex_ai",
}
_ON_VERTEX = ("gemini", "claude", "text-embedding-", "text-multilingual-embedding-", "textembedding-")
"""How the names of models begin that are served of Vertex AI."""
_LOGINS = {"vertex": "google", "vertex-anthropic": "google", "bedrock": "aws"}
"""The rows that LiteLLM reaches by a login of the cloud."""
_ENTRA = ("azure_ad_token", "azure_ad_token_provider", "tenant_id", "client_id", "client_secret")
"""Parameters of a deployment of Azure that is reached by a login."""
_OLDER = {"vertex_ai_project": "vertex_project", "vertex_ai_location": "vertex_location",
          "vertex_ai_credentials": "vertex_credentials", "aws_region": "aws_region_name"}  # fmt: skip
"""Other spellings of parameters."""
_OF_LITELLM = {
    "azure": "AZURE_API_KEY", "azure-anthropic": "AZURE_AI_API_KEY", "jina": "JINA_AI_API_KEY",
    "nvidia": "NVIDIA_NIM_API_KEY",
}  # fmt: skip
"""The variable that LiteLLM reads where no key is given, where it is not ours."""
_PLACEHOLDERS = frozenset({"", "none", "null", "empty", "dummy", "fake", "no-key", "not-needed", "na", "n/a"})
_PRICES = {
    "input_cost_per_token": "price_in",
    "output_cost_per_token": "price_out",
    "cache_read_input_token_cost": "price_cached",
    "cache_creation_input_token_cost": "price_cache_write",
}
_HOST = re.compile(r"[\w.-]+|\[[0-9A-Fa-f:.]+\]", re.ASCII)
_BARE = ((re.compile(r"claude-"), "anthropic"), (re.compile(r"gpt-|chatgpt-|o\d|text-embedding-"), "openai"))
_V1_VERSIONS = ("preview", "latest", "v1")
_DATE = re.compile(r"20\d\d-\d\d-\d\d(-preview)?")
"""A version of Azure's API that has deployments in its paths."""
_DEPLOYMENT = re.compile(r"/openai/deployments/(?P<name>[^/]+)(/.*)?")
"""The path of an address of Azure that names the deployment."""
_ENVIRONMENT = "os.environ/"


class Param(NamedTuple):
    """A value with the place where it was found."""

    value: object
    """The value."""
    path: str
    """Its place."""


class Account(NamedTuple):
    """A provider as it is reached with one key."""

    scheme: str
    """The row."""
    address: str = ""
    """Host, port and path; empty for the row's own; `$NAME` where a variable holds it."""
    key: str = ""
    """The variable of the key; empty for none."""
    options: tuple[tuple[str, str], ...] = ()
    """Further options of the DSN."""

    @property
    def is_built_in(self) -> bool:
        """Whether the row alone says as much."""
        row = ROWS[self.scheme]
        has_its_key = self.key == next(iter(row.key_env), "") or not (self.key or row.key_required)
        return not self.address and not self.options and has_its_key

    @property
    def dsn(self) -> str:
        """The account as a DSN."""
        options = [*([("key_env", self.key)] if self.key else []), *self.options]
        query = "&".join([f"{name}={quote(value, safe='')}" for name, value in options])
        home = "" if ROWS[self.scheme].variables else _home(self.scheme)
        return f"{self.scheme}://{self.address or home}{f'?{query}' if query else ''}"


class Deployment(NamedTuple):
    """One entry that can be served here."""

    path: str
    """Its place in the file."""
    name: str
    """The name that clients ask for."""
    model: str
    """The provider's own name of the model."""
    account: Account
    """Where, and with which key."""
    params: dict[str, Param]
    """Everything that was said of it, shared credentials among it."""


class Keys:
    """The variables that stand for keys; what is no variable yet gets one."""

    def __init__(self, names: set[str], report: Report) -> None:
        """None yet; `taken` are names that the file uses otherwise."""
        self._used_names = names
        self._names: dict[tuple[str, str], str] = {}
        self._logins: dict[str, Param] = {}
        self._report = report
        self.notes: dict[str, str] = {}
        """The note on each variable of a key."""

    def variable(self, param: Param, usual: str) -> str:
        """The variable for a key of the file; empty for a placeholder."""
        text = str(param.value).strip()
        if _is_placeholder(param.value):
            self._report.say(param.path, "needless", "a placeholder: no key of its own")
            return ""
        named = variable_in(param.value)
        if named is not None:
            name = _as_variable(named)
            name = name if name == named else self._named("", named, name)
            renamed = "" if name == named else f", in capitals, digits and underscores: it was {named}"
            self._report.say(param.path, "becomes", f"key_env={name}{renamed}")
            self.notes.setdefault(name, f"a key, as before{renamed}")
            return name
        name = self._named(usual, text, _as_variable(usual))
        self._report.say(param.path, "secret", f"not copied; key_env={name}")
        self.notes.setdefault(name, f"the key that stands in {param.path}")
        return name

    def login(self, variable: str, param: Param) -> None:
        """Ask for the variable that a login reads in the place of a parameter; a process has one of each."""
        first = self._logins.setdefault(variable, param)
        if first.value != param.value:
            sentence = f"a login is one for all of a process, and {variable} holds what stands in {first.path}"
            self._report.say(param.path, "missing", sentence)
            return
        source = variable_in(param.value)
        sentence = f"what {source} held" if source else f"what stands in {param.path}"
        self._report.variables.setdefault(variable, "as before" if source == variable else sentence)

    def _named(self, place: str, text: str, stem: str) -> str:
        """The name of a key at a place: the one it has, else the one that is wanted or the next that is free."""
        if (place, text) not in self._names:
            count, name = 1, stem
            while name in self._used_names:
                count += 1
                name = f"{stem}_{count}"
            self._names[place, text] = name
            self._used_names.add(name)
        return self._names[place, text]


def _is_placeholder(value: object) -> bool:
    return value is None or str(value).strip().lower() in _PLACEHOLDERS


def _as_variable(text: str) -> str:
    """A text as the name of a variable that a DSN may name: capitals, digits, underscores, no digit first."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII).upper()
    return f"KEY_{name}" if name[:1].isdigit() else name


def variable_in(value: object) -> str | None:
    """The variable that `os.environ/NAME` names, or None."""
    if isinstance(value, str) and value.startswith(_ENVIRONMENT) and re.search(r"\w", value[len(_ENVIRONMENT) :]):
        return value[len(_ENVIRONMENT) :].strip()
    return None


def clean_model(model: str) -> bool:
    """Whether a name can stand behind the slash of a spec."""
    return bool(model) and model == model.strip() and model.isprintable() and "," not in model and "://" not in model


def read_deployment(
    entry: object, path: str, shared: dict[str, dict[str, Param]], keys: Keys, report: Report
) -> Deployment | None:
    """The deployment of an entry, or None where it cannot be served; either way the report has a word of it."""
    members = cast("Tree", entry) if isinstance(entry, dict) else {}
    name, params_raw = members.get("model_name"), members.get("litellm_params")
    if not isinstance(name, str) or not isinstance(
        cast("Tree", params_raw if isinstance(params_raw, dict) else {}).get("model"), str
    ):
        report.drop(path, "no deployment: it needs a model_name, and litellm_params with a model, as texts")
        return None
    # Each parameter has its place: those of shared credentials, those of `model_info`, then its own.
    members_of = cast("Tree", members["litellm_params"]).items()
    own = {_OLDER.get(key, key): Param(value, f"{path}.litellm_params.{key}") for key, value in members_of}
    info: object = members.get("model_info")
    costs = cast("Tree", info) if isinstance(info, dict) else {}
    of_info = {key: Param(value, f"{path}.model_info.{key}") for key, value in costs.items() if key in _PRICES}
    reference = own.get("litellm_credential_name")
    credential = shared.get(str(reference.value), {}) if reference else {}
    if reference:
        word = f"the credential {'is told at its provider' if credential else 'is not in credential_list'}"
        report.say(reference.path, "becomes" if credential else "missing", word)
    params = {**credential, **of_info, **own}
    provider, model = _split(str(params["model"].value), params)
    served = named(provider, model)
    base, in_path = params.get("api_base", params.get("base_url")), None
    if served.row == "azure" and base is not None and "[" not in str(base.value):
        in_path = _DEPLOYMENT.fullmatch(urlsplit(str(base.value)).path)  # an address of Azure may name the deployment
    model_name = in_path["name"] if in_path else served.model
    served = served._replace(row=SCHEMES.get(served.row, served.row), model=model_name)
    reason = _why_not(provider, model, served, params)
    if reason:
        report.drop(path, reason)
        return None
    account = _account(served, params, keys, report)
    if account is None:
        report.drop(path, "not served: its address cannot be read")
        return None
    _say_rest(params, path, keys, report)
    return Deployment(path, name, served.model, account, params)


def usual_keys(entries: list[object]) -> set[str]:
    """The variables that entries without a key have theirs in."""
    all_params = [cast("Tree", entry).get("litellm_params") for entry in entries if isinstance(entry, dict)]
    tables = [cast("Tree", params) for params in all_params if isinstance(params, dict)]
    tables = [params for params in tables if _is_placeholder(params.get("api_key"))]
    names = [_split(params["model"], {})[0] for params in tables if isinstance(params.get("model"), str)]
    schemes = [SCHEMES.get(name, name) for name in names]
    return {usual_variable(scheme) for scheme in schemes if scheme in ROWS}


def _split(model: str, params: dict[str, Param]) -> tuple[str, str]:
    """Provider and model, as LiteLLM reads them; no provider where it would have to guess."""
    provider, slash, rest = model.partition("/")
    provider_param = params.get("custom_llm_provider")
    if provider_param is not None:
        return str(provider_param.value), rest if slash and provider == provider_param.value else model
    if slash:
        return provider, rest
    return next((name for pattern, name in _BARE if pattern.match(model)), "*" if model == "*" else ""), model


def _why_not(provider: str, model: str, served: Named, params: dict[str, Param]) -> str:
    if provider == "*":
        return ""
    is_served = served.row in ROWS and provider.isprintable()
    is_named = is_served and (ROWS[served.row].needs_host or served.row == "azure-anthropic")
    reasons = (
        (not provider, "the model's name does not say whose it is"),
        (provider in _UNSERVED, _UNSERVED.get(provider, "")),
        (
            provider == "bedrock" and model.startswith(("agent/", "agentcore/")),
            "agents of Bedrock are no models; Converse is spoken with models alone",
        ),
        (
            provider == "azure_ai" and not is_served,
            "of Azure AI Foundry, Claude alone; what its resource has under /openai/v1 is azure/…",
        ),
        (
            not is_served,
            "no provider of that name is known here; where its server speaks OpenAI's Chat, write openai/",
        ),
        (
            provider == "vertex_ai" and not served.model.startswith(_ON_VERTEX),
            "of Vertex AI, Gemini, its embeddings and Claude alone",
        ),
        (is_named and "api_base" not in params, "it needs an api_base"),
        (not clean_model(served.model), "the model's name cannot stand in a spec"),
    )
    return next((f"not served: {sentence}" for holds, sentence in reasons if holds), "")


def _account(served: Named, params: dict[str, Param], keys: Keys, report: Report) -> Account | None:
    scheme = served.row
    if scheme == "*":
        return Account("openai", key="OPENAI_API_KEY")
    address = _address(scheme, params, report)
    if address is None:
        return None
    row, key_param = ROWS[scheme], params.get("api_key")
    at_home = not address or row.needs_host
    usual = usual_variable(scheme)
    key = ""
    if key_param is not None:
        # A key in the file gets no variable that another host's key may stand in.
        host = re.sub(r"[^A-Z0-9]+", "_", re.split("[:/]", address.upper())[0]).strip("_")
        own = f"{host or scheme.replace('-', '_').upper()}_API_KEY"
        key = keys.variable(key_param, (usual if at_home else "") or own)
    # A login stands in place of a key; there is none where the deployment says nothing of one.
    is_entra = scheme in ("azure", "azure-anthropic") and any(name in params for name in _ENTRA)
    login_name = "azure" if is_entra else _LOGINS.get(scheme, "")
    login = (("login", login_name),) if login_name and not key else ()
    if not key and not login and at_home and row.key_required:
        key = usual
        keys.notes.setdefault(key, f"the key of {row.title}")
    place = _place(served, params, report)
    base, version = params.get("api_base", params.get("base_url")), params.get("api_version")
    is_plain = bool(address) and base is not None and str(base.value).startswith("http://")
    tls = (("tls", "0"),) if is_plain else ()
    is_kept = version is not None and (version.value in _V1_VERSIONS[:2] or _DATE.fullmatch(str(version.value)))
    versions = (("api_version", str(version.value)),) if version is not None and is_kept else ()
    options = (*place, *login, *tls, *versions, *_prices(params, report))
    return Account(scheme, address, key, options)


def _place(served: Named, params: dict[str, Param], report: Report) -> tuple[tuple[str, str], ...]:
    """The option of a region or location; none where it is a part of the address, a variable, or not said."""
    is_aws = served.row == "bedrock"
    option, param = ("region", params.get("aws_region_name")) if is_aws else ("location", params.get("vertex_location"))
    text = served.region or (str(param.value) if param is not None else "")
    if not ROWS[served.row].variables or "vertex_project" in params or not text:
        return ()
    if re.fullmatch(r"[a-z0-9-]+", text):
        return ((option, text),)
    variable = variable_in(text)
    if variable is not None and is_aws and variable != "AWS_REGION":
        report.variables.setdefault("AWS_REGION", f"what {variable} held")
    return ()


def usual_variable(scheme: str) -> str:
    """The variable that LiteLLM reads for a provider where no key is given; empty where it reads none."""
    return _OF_LITELLM.get(scheme, next(iter(ROWS[scheme].key_env), ""))


def _address(scheme: str, params: dict[str, Param], report: Report) -> str | None:
    """Host, port and path; None where there is none to be read."""
    if scheme in ("vertex", "vertex-anthropic"):
        return _vertex(params, report, "google" if scheme == "vertex" else "anthropic")
    param = params.get("api_base", params.get("base_url"))
    if scheme == "bedrock":
        param = params.get("aws_bedrock_runtime_endpoint", param)
    if param is None or param.value is None:
        return ""
    if (variable := variable_in(param.value)) is not None:
        report.say(param.path, "becomes", "dsn_env: the whole DSN stands in a variable")
        return f"${variable}"
    try:
        url = urlsplit(str(param.value))
        port = url.port
    except ValueError:
        return None
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname or ""
    if url.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        return None
    left = " without the user or query in it" if url.query or url.username else ""
    report.say(param.path, "nearly" if left else "becomes", f"the address of a provider{left}")
    address = f"{host}{f':{port}' if port else ''}{_path(scheme, url.path)}"
    return "" if address == _home(scheme) else address


def _path(scheme: str, path: str) -> str:
    """The path as our DSN has it: the row's own is left out where LiteLLM adds it by itself."""
    path = quote(path.rstrip("/"), safe="/:%")
    if scheme in {"azure", "ollama", "google"}:
        return "" if path in {"", "/openai", "/openai/v1"} or _DEPLOYMENT.fullmatch(path) else path
    if scheme == "azure-anthropic":
        return f"{path.removesuffix('/messages').removesuffix('/v1').removesuffix('/anthropic')}/anthropic/v1"
    if scheme == "anthropic":
        return path if path.endswith("/v1") else f"{path}/v1"
    return path or "/"


def _home(scheme: str) -> str:
    url = urlsplit(ROWS[scheme].base_url)
    return f"{url.netloc}{url.path}"


def _vertex(params: dict[str, Param], report: Report, publisher: str) -> str | None:
    project, location = (params.get(name) for name in ("vertex_project", "vertex_location"))
    if project is None:
        if location is not None:
            report.say(location.path, "becomes", "location of the DSN, or GOOGLE_CLOUD_LOCATION")
        return ""
    place = str(location.value) if location is not None else "us-central1"
    for param in filter(None, (project, location)):
        report.say(param.path, "becomes", "a part of the provider's address")
    named = [variable_in(project.value) or str(project.value), variable_in(place) or place]
    if named != [project.value, place]:
        return f"${'/'.join(named)}"
    if not all(re.fullmatch(r"[\w.:-]+", text, re.ASCII) for text in (str(project.value), place)):
        return None
    row = ROWS["vertex" if publisher == "google" else "vertex-anthropic"]
    address = dict(row.variables[-1].addresses).get(place, row.base_url)
    return address.format(project=project.value, location=place).removeprefix("https://")


def _prices(params: dict[str, Param], report: Report) -> tuple[tuple[str, str], ...]:
    """The prices of a million tokens; both of input and output, or none."""
    prices = {name: _dollars(params[name].value) for name in _PRICES if name in params}
    if not prices:
        return ()
    whole = all(prices.get(name) for name in list(_PRICES)[:2]) and None not in prices.values()
    for name in prices:
        sentence = f"the option {_PRICES[name]} of the provider, in dollars for a million tokens"
        why = "a price needs input_cost_per_token and output_cost_per_token, as numbers"
        report.say(params[name].path, "becomes" if whole else "missing", sentence if whole else why)
    return tuple((_PRICES[name], text) for name, text in prices.items() if text) if whole else ()


def _dollars(value: object) -> str | None:
    try:
        number = Decimal(str(value)) * 1_000_000
    except InvalidOperation:
        return None
    if isinstance(value, bool) or not number.is_finite() or not 0 <= number < 10**9:
        return None
    text = f"{round(number, 12):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


# What else may be said of a deployment

_SAID: dict[str, tuple[Any, str]] = {
    "custom_llm_provider": ("becomes", "the provider of the target"),
    "api_version": ("nearly", "left out: Azure's v1 endpoint needs none; ?api_version= on the DSN for one that does"),
    "max_retries": ("missing", "a target is asked once more, and a chain at most eight times in all"),
    "num_retries": ("missing", "a target is asked once more, and a chain at most eight times in all"),
    "timeout": ("missing", "timeouts are the gateway's ([server] timeout_s, first_byte_s, idle_s), not a target's"),
    "stream_timeout": ("missing", "timeouts are the gateway's ([server] first_byte_s, idle_s), not a target's"),
    "drop_params": ("missing", "strict is the gateway's, or a request's (x-interlingua-strict), not a target's"),
    "organization": ("missing", "no header of its own goes to a provider; a key belongs to its organization"),
    "extra_headers": ("missing", "no header of its own goes to a provider"),
    "headers": ("missing", "no header of its own goes to a provider"),
    "vertex_credentials": ("nearly", "login=google reads the file that GOOGLE_APPLICATION_CREDENTIALS names"),
    "azure_ad_token": ("nearly", "login=azure fetches tokens by itself"),
    "azure_ad_token_provider": ("nearly", "login=azure fetches tokens by itself"),
    "azure_scope": ("nearly", "login=azure asks for the scope of its provider"),
    "base_model": ("needless", "what is known of a model is built in, and a deployment is asked by its own name"),
    "tenant_id": ("nearly", "login=azure reads AZURE_TENANT_ID"),
    "client_id": ("nearly", "login=azure reads AZURE_CLIENT_ID"),
    "client_secret": ("secret", "not copied; login=azure reads AZURE_CLIENT_SECRET"),
    "aws_access_key_id": ("secret", "not copied; login=aws reads AWS_ACCESS_KEY_ID"),
    "aws_secret_access_key": ("secret", "not copied; login=aws reads AWS_SECRET_ACCESS_KEY"),
    "aws_session_token": ("secret", "not copied; login=aws reads AWS_SESSION_TOKEN"),
    "aws_profile_name": ("nearly", "login=aws reads AWS_PROFILE, for all of a process"),
    "aws_role_name": ("nearly", "login=aws assumes the role of the profile in AWS_PROFILE"),
    "aws_session_name": ("nearly", "login=aws assumes the role of the profile in AWS_PROFILE"),
    "aws_web_identity_token": ("nearly", "login=aws reads AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN"),
    "aws_region_name": ("becomes", "region of the DSN, or AWS_REGION"),
    "aws_bedrock_runtime_endpoint": ("becomes", "the address of a provider"),
    "tags": ("missing", "requests are not routed by tags; an alias is what clients ask for"),
    "max_budget": ("missing", "budgets are those of keys and teams: il keys create --budget"),
    "budget_duration": ("missing", "budgets are those of keys and teams: il keys create --budget"),
    "mock_response": ("missing", "tests have interlingua.testing; fake/… answers without a model"),
    "use_in_pass_through": ("needless", "what is passed on goes to the same providers"),
}
_OF_LOGIN = {
    "vertex_credentials": "GOOGLE_APPLICATION_CREDENTIALS",
    "tenant_id": "AZURE_TENANT_ID",
    "client_id": "AZURE_CLIENT_ID",
    "client_secret": "AZURE_CLIENT_SECRET",
    "aws_access_key_id": "AWS_ACCESS_KEY_ID",
    "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "aws_session_token": "AWS_SESSION_TOKEN",
    "aws_profile_name": "AWS_PROFILE",
}
"""The variables that a login reads in the place of parameters."""
_DEFAULTS = (
    *("temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "seed", "stop", "n", "user"),
    *("frequency_penalty", "presence_penalty", "reasoning_effort", "thinking", "response_format", "tools"),
    *("tool_choice", "extra_body", "input_type", "dimensions", "stream"),
)
_DEFAULT = "a target brings no defaults for requests; the client says it"


def _say_rest(params: dict[str, Param], path: str, keys: Keys, report: Report) -> None:
    for name, param in params.items():
        if name in _OF_LOGIN:
            keys.login(_OF_LOGIN[name], param)
        if name == "api_version" and (param.value in _V1_VERSIONS[:2] or _DATE.fullmatch(str(param.value))):
            report.say(param.path, "becomes", "api_version of the DSN")
        elif name in _SAID:
            report.say(param.path, *_SAID[name])
        elif name in _DEFAULTS:
            report.say(param.path, "missing", _DEFAULT)
    info = f"{path}.model_info"
    report.say(f"{info}.mode", "needless", "the route that a client asks at says so")
    report.say(info, "missing", "descriptions of models are not served; what is known of a model is built in")
