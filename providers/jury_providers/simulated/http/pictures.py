"""Pictures in a request; unsupported ones are refused with the provider's error message, as far as it is known.

Pictures are not interpreted. The media type, the base64, the size and the first bytes are checked. Sources: the
providers' pages on vision, and error messages in reports of their clients.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Mapping

from jury_providers.provider import ModelPicture
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, table, text

_MB = 1024 * 1024
_ANTHROPIC_MAX = 5 * _MB
"""In characters of base64."""

_OPENAI_MAX = 20 * _MB
"""In bytes."""

_SIGNATURES: Mapping[str, Callable[[bytes], bool]] = {
    "image/png": lambda content: content.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda content: content.startswith(b"\xff\xd8\xff"),
    "image/gif": lambda content: content.startswith((b"GIF87a", b"GIF89a")),
    "image/webp": lambda content: content.startswith(b"RIFF") and content[8:12] == b"WEBP",
}
_GOOGLE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")
_SHOWN = 40


def of_data_url(url: object, field: str) -> ModelPicture:
    """A picture as OpenAI's APIs accept it: a data URL.

    Raises:
        InvalidRequest: it is not a data URL (nothing is downloaded here), or not of a supported picture.
    """
    given = text(url, field)
    found = _DATA_URL.match(given)
    if found is None:
        got = "empty bytes" if not given else f"{given[:_SHOWN]!r}"
        raise InvalidRequest.verbatim(
            f"Invalid {field!r}. Expected a base64-encoded data URL with an image MIME type "
            f"(e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got {got}."
        )
    media_type = found[1]
    if not media_type.startswith("image/"):
        raise InvalidRequest.verbatim("Invalid MIME type. Only image types are supported.")
    content = _decoded(given[found.end() :])
    if content is None:
        raise InvalidRequest.verbatim(f"Invalid {field!r}. Expected a valid base64-encoded data URL.")
    if not _looks_like(media_type, content) or len(content) > _OPENAI_MAX:
        raise InvalidRequest.verbatim(
            "You uploaded an unsupported image. Please make sure your image is below 20 MB in size and is of one the "
            "following formats: ['png', 'jpeg', 'gif', 'webp']."
        )
    return ModelPicture(media_type, content)


def of_source(block: JsonObject, field: str) -> ModelPicture:
    """A picture as Anthropic's API accepts it: a block with a base64 source.

    Raises:
        InvalidRequest: it has another source, or is not a supported picture.
    """
    source = table(block.get("source"), f"{field}.source")
    if source.get("type") != "base64":
        raise InvalidRequest(f"{field}.source.type", "expected base64: nothing is downloaded here")
    path = f"{field}.image.source.base64"
    media_type, data = text(source.get("media_type"), f"{path}.media_type"), text(source.get("data"), f"{path}.data")
    if media_type not in _SIGNATURES:
        raise InvalidRequest(
            f"{path}.media_type", "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        )
    if len(data) > _ANTHROPIC_MAX:
        raise InvalidRequest(path, f"image exceeds 5 MB maximum: {len(data)} bytes > {_ANTHROPIC_MAX} bytes")
    content = _decoded(data)
    if content is None:
        raise InvalidRequest(f"{path}.data", "Invalid base64 data")
    if not any(begins(content) for begins in _SIGNATURES.values()):
        raise InvalidRequest.verbatim("Could not process image")
    if not _looks_like(media_type, content):
        raise InvalidRequest(f"{path}.data", f"Image does not match the provided media type {media_type}")
    return ModelPicture(media_type, content)


def of_inline_data(value: object, field: str) -> ModelPicture:
    """A picture as Google's API accepts it: inline data.

    Raises:
        InvalidRequest: it is not a supported picture.
    """
    inline = table(value, field)
    media_type, data = text(inline.get("mimeType"), f"{field}.mimeType"), text(inline.get("data"), f"{field}.data")
    content = _decoded(data)
    if content is None:
        raise InvalidRequest.verbatim(
            f"Invalid value at '{field}.data' (TYPE_BYTES), Base64 decoding failed for \"{data[:_SHOWN]}\""
        )
    if media_type not in _GOOGLE_TYPES:
        raise InvalidRequest.verbatim(f"Unsupported MIME type: {media_type}")
    if media_type in _SIGNATURES and not _looks_like(media_type, content):
        raise InvalidRequest.verbatim("Unable to process input image. Please retry or report the problem.")
    return ModelPicture(media_type, content)


def _looks_like(media_type: str, content: bytes) -> bool:
    begins = _SIGNATURES.get(media_type)
    return begins is not None and begins(content)


def _decoded(data: str) -> bytes | None:
    """The bytes; None if invalid or empty."""
    try:
        return b64decode(data, validate=True) or None
    except (binascii.Error, ValueError):
        return None
