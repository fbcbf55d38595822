"""Ids of models at clouds: what is known of a model there is known by its provider's own id.

Sources: the ids in the SDKs openai 3.52 and anthropic 2.11, and the clouds' pages on these models.
"""

import re

_BEDROCK = re.compile(r"^(?:[a-z-]+\.)?(?:anthropic|openai)\.(.+?)(?:-v\d+:\d+)?$")
_VERTEX = re.compile(r"@(?:20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|default)$")


def own_id(model: str) -> str:
    """The provider's own id of a model: without Bedrock's region, provider and version, and without Vertex's date.

    `us.anthropic.claude-haiku-4-5-20251001-v1:0` is `claude-haiku-4-5-20251001`, and `claude-haiku-4-5@20251001` is
    `claude-haiku-4-5`. Any other id is returned as it is.
    """
    return _VERTEX.sub("", _BEDROCK.sub(r"\1", model))
