"""How many tokens a text is likely to be, before a provider has counted them."""

import json

from jury_actors.providers.provider import ModelRequest

_BYTES = 3.5
"""Of UTF-8 a token: about 4 in English and code, about 3 in Japanese."""

_FEWEST_BYTES = 2
"""A token of prose or JSON has hardly ever fewer; what bounds a cost counts with these."""


def likely_tokens(size: int) -> int:
    """Of so many bytes of UTF-8."""
    return int(size / _BYTES)


def most_tokens(size: int) -> int:
    """Of so many bytes of UTF-8, at most."""
    return size // _FEWEST_BYTES


def request_bytes(request: ModelRequest) -> int:
    """What a call sends: messages, tools and the answer's schema."""
    texts = sum(len(message.text.encode("utf-8", "replace")) for message in request.messages)
    tools = sum(
        len(tool.name) + len(tool.description.encode()) + _json_bytes(tool.parameters) for tool in request.tools
    )
    return texts + tools + _json_bytes(request.schema)


def _json_bytes(value: object) -> int:
    return len(json.dumps(value))
