"""Models at a cloud instead of their provider: which protocols a cloud has, and where its SDK finds credentials.

Source: the clients of the SDKs openai 3.52, anthropic 2.11 and google-genai 3.4, which read these variables themselves.

Claude at `vertex` is what Google serves in its Vertex AI (`AnthropicVertex`), not what Anthropic serves itself through
Google Cloud (`AnthropicGoogleCloud`), whose names of variables the SDK calls provisional.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Literal, NamedTuple

from jury_events.errors import install_line

CloudName = Literal["azure", "bedrock", "vertex", "foundry", "aws"]

ENTRA_VARIABLE = "AZURE_OPENAI_AD_TOKEN"
"""The variable of a token of Entra ID, which OpenAI's SDK reads."""

_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")


class Packages(NamedTuple):
    """The modules that an extra of jury-judge installs, in the order in which they are missed."""

    extra: str
    modules: tuple[str, ...]


class Cloud(NamedTuple):
    """How one protocol is reached at a cloud.

    Args:
        tokens: variables that may have a token instead, which the SDK reads itself.
        address: groups of variables; where the panel file has no `base_url`, one of each must be set.
        settings: further groups; one of each must be set.
        packages: what finds the cloud's own credentials where neither key nor token is set; None: what is installed
            anyway.
    """

    name: str
    keys: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    address: tuple[tuple[str, ...], ...] = ()
    settings: tuple[tuple[str, ...], ...] = ()
    packages: Packages | None = None


_AZURE_IDENTITY = Packages("azure", ("azure.identity", "aiohttp"))
_BOTO3 = Packages("bedrock", ("boto3",))
_OPENAI: Mapping[str, Cloud] = {
    "azure": Cloud(
        "Azure",
        ("AZURE_OPENAI_API_KEY",),
        (ENTRA_VARIABLE,),
        address=(("AZURE_OPENAI_ENDPOINT",),),
        settings=(("OPENAI_API_VERSION",),),
        packages=_AZURE_IDENTITY,
    ),
    "bedrock": Cloud(
        "Amazon Bedrock",
        ("AWS_BEARER_TOKEN_BEDROCK",),
        address=(_REGION,),
        packages=Packages("bedrock", ("botocore",)),
    ),
}
_VERTEX = "Google Vertex AI"
_VERTEX_PLACE = (("GOOGLE_CLOUD_PROJECT",), ("GOOGLE_CLOUD_LOCATION",))

CLOUDS: Mapping[str, Mapping[str, Cloud]] = MappingProxyType(
    {
        "openai": _OPENAI,
        "openai-responses": {**_OPENAI, "vertex": Cloud(_VERTEX, address=_VERTEX_PLACE)},
        "anthropic": {
            "bedrock": Cloud("Amazon Bedrock", ("AWS_BEARER_TOKEN_BEDROCK",), settings=(_REGION,), packages=_BOTO3),
            "vertex": Cloud(_VERTEX, settings=(("CLOUD_ML_REGION",), ("ANTHROPIC_VERTEX_PROJECT_ID",))),
            "foundry": Cloud(
                "Microsoft Foundry",
                ("ANTHROPIC_FOUNDRY_API_KEY",),
                address=(("ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL"),),
                packages=_AZURE_IDENTITY,
            ),
            "aws": Cloud(
                "Claude Platform on AWS",
                ("ANTHROPIC_AWS_API_KEY",),
                address=(_REGION,),
                settings=(("ANTHROPIC_AWS_WORKSPACE_ID",),),
                packages=_BOTO3,
            ),
        },
        "google": {"vertex": Cloud(_VERTEX, settings=_VERTEX_PLACE)},
        "openai-decisions": {},
        "google-decisions": {},
        "systemone": {},
    }
)
"""By protocol and cloud."""


def missing_for_cloud(
    cloud: Cloud, *, has_key: bool, key_env: str | None, has_address: bool, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """What has to be done before a call, one clause each; () where nothing is missing.

    Args:
        has_key: whether a key is set.
        has_address: whether the panel file has a base URL.
    """
    groups = (*cloud.settings, *(() if has_address else cloud.address))
    found = [f"set {' or '.join(group)}" for group in groups if not _any_set(group, environ)]
    if has_key:
        return tuple(found)
    if key_env is not None:
        return (*found, f"set {key_env}")
    if cloud.packages is not None and not _any_set(cloud.tokens, environ):
        missing = next((module for module in cloud.packages.modules if not _is_installed(module)), None)
        if missing is not None:
            found.append(
                f"set {' or '.join(cloud.keys)}, or install the package {missing.replace('.', '-')} with: "
                + install_line(cloud.packages.extra)
            )
    return tuple(found)


def _any_set(variables: tuple[str, ...], environ: Mapping[str, str]) -> bool:
    return any(environ.get(name, "").strip() for name in variables)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False
