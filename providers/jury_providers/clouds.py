"""Models at a cloud instead of their provider: which protocols a cloud has, and where its SDK finds credentials.

Source: the clients of the SDKs openai 3.52, anthropic 2.11 and google-genai 3.4, which read these variables themselves.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Literal, NamedTuple

CloudName = Literal["azure", "bedrock", "vertex", "foundry", "aws"]

_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")


class Cloud(NamedTuple):
    """How one protocol is reached at a cloud.

    Args:
        name: for people.
        keys: variables that may have a key.
        key_needed: whether the SDK finds no other credentials.
        address: variables of which one must be set where the panel file has no `base_url`.
        settings: further variables, of each group one must be set.
        package: what the SDK imports to sign requests where no key is set; with the extra that installs it.
    """

    name: str
    keys: tuple[str, ...] = ()
    key_needed: bool = False
    address: tuple[str, ...] = ()
    settings: tuple[tuple[str, ...], ...] = ()
    package: tuple[str, str] | None = None


_BOTO3 = ("boto3", "bedrock")
_OPENAI: Mapping[str, Cloud] = {
    "azure": Cloud(
        "Azure",
        ("AZURE_OPENAI_API_KEY",),
        key_needed=True,
        address=("AZURE_OPENAI_ENDPOINT",),
        settings=(("OPENAI_API_VERSION",),),
    ),
    "bedrock": Cloud("Amazon Bedrock", ("AWS_BEARER_TOKEN_BEDROCK",), address=_REGION, package=("botocore", "bedrock")),
}

CLOUDS: Mapping[str, Mapping[str, Cloud]] = MappingProxyType(
    {
        "openai": _OPENAI,
        "openai-responses": _OPENAI,
        "anthropic": {
            "bedrock": Cloud("Amazon Bedrock", ("AWS_BEARER_TOKEN_BEDROCK",), settings=(_REGION,), package=_BOTO3),
            "vertex": Cloud("Google Vertex AI", settings=(("CLOUD_ML_REGION",), ("ANTHROPIC_VERTEX_PROJECT_ID",))),
            "foundry": Cloud(
                "Microsoft Foundry",
                ("ANTHROPIC_FOUNDRY_API_KEY",),
                key_needed=True,
                address=("ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL"),
            ),
            "aws": Cloud(
                "Claude Platform on AWS",
                ("ANTHROPIC_AWS_API_KEY",),
                address=_REGION,
                settings=(("ANTHROPIC_AWS_WORKSPACE_ID",),),
                package=_BOTO3,
            ),
        },
        "google": {
            "vertex": Cloud("Google Vertex AI", settings=(("GOOGLE_CLOUD_PROJECT",), ("GOOGLE_CLOUD_LOCATION",))),
        },
    }
)
"""By protocol and cloud."""


def missing_for_cloud(cloud: Cloud, *, has_key: bool, has_address: bool, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What has to be done before a call, one clause each; () where nothing is missing.

    Args:
        cloud: of the provider.
        has_key: whether a key is set.
        has_address: whether the panel file has a base URL.
        environ: the environment.
    """
    groups = [*cloud.settings, *([] if has_address or not cloud.address else [cloud.address])]
    unset = [group for group in groups if not any(environ.get(name, "").strip() for name in group)]
    found = [f"set {' or '.join(group)}" for group in unset]
    if not has_key and cloud.key_needed:
        found.append(f"set {' or '.join(cloud.keys)}")
    elif not has_key and cloud.package is not None and find_spec(cloud.package[0]) is None:
        package, extra = cloud.package
        keys = f"set {' or '.join(cloud.keys)}, or "
        found.append(f"{keys}install the package {package} with: pip install 'jury-judge[{extra}]'")
    return tuple(found)
