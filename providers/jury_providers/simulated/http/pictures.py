"""Pictures in a request: what a provider does not take is refused in its own words, as far as they are known.

Nobody looks at them; only their form is checked: the media type, the base64, the size, and that the bytes begin as
those of such a picture do. Sources: the providers' pages on vision, and the errors that their clients report.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Mapping

from jury_providers.provider import Picture
from jury_providers.simulated.http.fields import Table, Unusable, table, text

_MB = 1024 * 1024
_ANTHROPIC_MOST = 5 * _MB
"""Characters of base64."""

_OPENAI_MOST = 20 * _MB
"""Bytes."""

_BEGINNINGS: Mapping[str, Callable[[bytes], bool]] = {
    "image/png": lambda content: content.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda content: content.startswith(b"\xff\xd8\xff"),
    "image/gif": lambda content: content.startswith((b"GIF87a", b"GIF89a")),
    "image/webp": lambda content: content.startswith(b"RIFF") and content[8:12] == b"WEBP",
}
_GOOGLE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")
_SHOWN = 40


def of_data_url(url: object, field: str) -> Picture:
    """OpenAI's form: a data URL.

    Raises:
        Unusable: it is none, or of no picture that is taken. Other URLs are refused, as nothing is downloaded here.
    """
    given = text(url, field)
    found = _DATA_URL.match(given)
    if found is None:
        got = "empty bytes" if not given else f"{given[:_SHOWN]!r}"
        raise Unusable.said(
            f"Invalid {field!r}. Expected a base64-encoded data URL with an image MIME type "
            f"(e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got {got}."
        )
    media_type = found[1]
    if not media_type.startswith("image/"):
        raise Unusable.said("Invalid MIME type. Only image types are supported.")
    content = _decoded(given[found.end() :])
    if content is None:
        raise Unusable.said(f"Invalid {field!r}. Expected a valid base64-encoded data URL.")
    if not _looks_like(media_type, content) or len(content) > _OPENAI_MOST:
        raise Unusable.said(
            "You uploaded an unsupported image. Please make sure your image is below 20 MB in size and is of one the "
            "following formats: ['png', 'jpeg', 'gif', 'webp']."
        )
    return Picture(media_type, content)


def of_source(block: Table, field: str) -> Picture:
    """Anthropic's form: a block with a base64 source.

    Raises:
        Unusable: it has another source, or is no picture that is taken.
    """
    source = table(block.get("source"), f"{field}.source")
    if source.get("type") != "base64":
        raise Unusable(f"{field}.source.type", "expected base64: nothing is downloaded here")
    place = f"{field}.image.source.base64"
    media_type, data = text(source.get("media_type"), f"{place}.media_type"), text(source.get("data"), f"{place}.data")
    if media_type not in _BEGINNINGS:
        raise Unusable(f"{place}.media_type", "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'")
    if len(data) > _ANTHROPIC_MOST:
        raise Unusable(place, f"image exceeds 5 MB maximum: {len(data)} bytes > {_ANTHROPIC_MOST} bytes")
    content = _decoded(data)
    if content is None:
        raise Unusable(f"{place}.data", "Invalid base64 data")
    if not any(begins(content) for begins in _BEGINNINGS.values()):
        raise Unusable.said("Could not process image")
    if not _looks_like(media_type, content):
        raise Unusable(f"{place}.data", f"Image does not match the provided media type {media_type}")
    return Picture(media_type, content)


def of_inline_data(value: object, field: str) -> Picture:
    """Google's form: inline data.

    Raises:
        Unusable: it is no picture that is taken.
    """
    inline = table(value, field)
    media_type, data = text(inline.get("mimeType"), f"{field}.mimeType"), text(inline.get("data"), f"{field}.data")
    content = _decoded(data)
    if content is None:
        raise Unusable.said(
            f"Invalid value at '{field}.data' (TYPE_BYTES), Base64 decoding failed for \"{data[:_SHOWN]}\""
        )
    if media_type not in _GOOGLE_TYPES:
        raise Unusable.said(f"Unsupported MIME type: {media_type}")
    if media_type in _BEGINNINGS and not _looks_like(media_type, content):
        raise Unusable.said("Unable to process input image. Please retry or report the problem.")
    return Picture(media_type, content)


def _looks_like(media_type: str, content: bytes) -> bool:
    begins = _BEGINNINGS.get(media_type)
    return begins is not None and begins(content)


def _decoded(data: str) -> bytes | None:
    """The bytes; None where it is no base64, or empty."""
    try:
        return b64decode(data, validate=True) or None
    except (binascii.Error, ValueError):
        return None
