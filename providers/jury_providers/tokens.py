"""Estimated token counts, before a provider has counted them."""

import json
from fnmatch import fnmatchcase

from jury_providers.provider import ModelRequest

_BYTES_PER_TOKEN = 3.5
"""UTF-8: about 4 in English and code, about 3 in Japanese."""

_MIN_BYTES_PER_TOKEN = 2
"""Tokens of prose or JSON are hardly ever shorter; used for upper bounds."""


ESTIMATED_PICTURE_TOKENS = 1600
"""For a screenshot. Claude: one per 28 x 28 pixels, pictures shrunk to 1,568 of them. GPT: one per 32 x 32 square, at
most 1,536. Gemini: 258 per tile (four to six tiles), or 1,120 per picture."""

MAX_PICTURE_TOKENS = 5000
"""For any picture: 4,784 for Claude models of high resolution, 1,536 x 2.46 for GPT, 2,240 for Gemini.

Sources: the providers' pages on vision and on counting tokens.
"""

_MAX_OF_MODEL = {"gpt-4o-mini*": 48_169}
"""Exceptions: 2,833 + 8 tiles x 5,667, so that a picture costs as much as with a model of dearer tokens."""


def estimated_tokens(size: int, pictures: int = 0) -> int:
    """Estimate for `size` bytes of UTF-8 and a number of pictures."""
    return int(size / _BYTES_PER_TOKEN) + pictures * ESTIMATED_PICTURE_TOKENS


def token_upper_bound(size: int, pictures: int = 0, model: str = "") -> int:
    """Upper bound for `size` bytes of UTF-8 and a number of pictures; `model` is the provider's id."""
    return size // _MIN_BYTES_PER_TOKEN + pictures * picture_token_upper_bound(model)


def picture_token_upper_bound(model: str) -> int:
    """Upper bound for one picture; `model` is the provider's id."""
    others = (tokens for pattern, tokens in _MAX_OF_MODEL.items() if fnmatchcase(model, pattern))
    return next(others, MAX_PICTURE_TOKENS)


def request_pictures(request: ModelRequest) -> int:
    return sum(len(message.pictures) for message in request.messages)


def request_bytes(request: ModelRequest) -> int:
    """The size of a call's messages, tools and answer schema in bytes of UTF-8, without pictures."""
    texts = sum(map(text_bytes, (message.whole for message in request.messages)))
    return texts + tool_bytes(request) + _json_bytes(request.schema)


def tool_bytes(request: ModelRequest) -> int:
    """The size of a call's tools in bytes of UTF-8."""
    return sum(len(tool.name) + text_bytes(tool.description) + _json_bytes(tool.parameters) for tool in request.tools)


def text_bytes(text: str) -> int:
    """The size of a text in bytes of UTF-8."""
    return len(text.encode("utf-8", "replace"))


def _json_bytes(value: object) -> int:
    return len(json.dumps(value))
