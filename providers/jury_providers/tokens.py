"""How many tokens a text is likely to be, before a provider has counted them."""

import json
from fnmatch import fnmatchcase

from jury_providers.provider import ModelRequest

_BYTES = 3.5
"""Of UTF-8 a token: about 4 in English and code, about 3 in Japanese."""

_FEWEST_BYTES = 2
"""A token of prose or JSON has hardly ever fewer; what bounds a cost counts with these."""


LIKELY_PICTURE_TOKENS = 1600
"""Of a screenshot: Claude counts 28 x 28 pixels as one and shrinks a picture to 1,568 of them, GPT counts 1,536 squares
of 32 x 32 at most, Gemini 258 a tile (four to six of them) or 1,120 a picture."""

MOST_PICTURE_TOKENS = 5000
"""Of any picture: 4,784 for the Claudes of high resolution, 1,536 x 2.46 for GPT, 2,240 for Gemini.

Sources: the providers' pages on vision and on counting tokens.
"""

_MOST_OF_MODEL = {"gpt-4o-mini*": 48_169}
"""Of models that count otherwise: 2,833 + 8 tiles x 5,667, which is how a cheaper token costs as much a picture."""


def likely_tokens(size: int, pictures: int = 0) -> int:
    """Of so many bytes of UTF-8 and so many pictures."""
    return int(size / _BYTES) + pictures * LIKELY_PICTURE_TOKENS


def most_tokens(size: int, pictures: int = 0, model: str = "") -> int:
    """Of so many bytes of UTF-8 and so many pictures, at most; `model` is the provider's own id."""
    return size // _FEWEST_BYTES + pictures * most_picture_tokens(model)


def most_picture_tokens(model: str) -> int:
    """Of one picture, at most; `model` is the provider's own id."""
    others = (tokens for pattern, tokens in _MOST_OF_MODEL.items() if fnmatchcase(model, pattern))
    return next(others, MOST_PICTURE_TOKENS)


def request_pictures(request: ModelRequest) -> int:
    """How many pictures a call sends."""
    return sum(len(message.pictures) for message in request.messages)


def request_bytes(request: ModelRequest) -> int:
    """What a call sends besides pictures: messages, tools and the answer's schema."""
    texts = sum(len(message.text.encode("utf-8", "replace")) for message in request.messages)
    tools = sum(
        len(tool.name) + len(tool.description.encode()) + _json_bytes(tool.parameters) for tool in request.tools
    )
    return texts + tools + _json_bytes(request.schema)


def _json_bytes(value: object) -> int:
    return len(json.dumps(value))
