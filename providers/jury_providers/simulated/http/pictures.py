"""Pictures in a request: not interpreted, and not downloaded; what is no picture in base64 is refused."""

import binascii
import re
from base64 import b64decode

from jury_providers.provider import ModelPicture
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, table, text

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")


def of_data_url(url: object, field: str) -> ModelPicture:
    """A picture as OpenAI's APIs accept it: a data URL."""
    given = text(url, field)
    found = _DATA_URL.match(given)
    if found is None:
        raise InvalidRequest(field, "expected a data URL in base64")
    return _picture(found[1], given[found.end() :], field)


def of_source(block: JsonObject, field: str) -> ModelPicture:
    """A picture as Anthropic's API accepts it: a block with a source in base64."""
    source = table(block.get("source"), f"{field}.source")
    if source.get("type") != "base64":
        raise InvalidRequest(f"{field}.source.type", "expected base64")
    return _picture(text(source.get("media_type"), f"{field}.source.media_type"), source.get("data"), f"{field}.source")


def of_inline_data(value: object, field: str) -> ModelPicture:
    """A picture as Google's API accepts it: inline data."""
    inline = table(value, field)
    return _picture(text(inline.get("mimeType"), f"{field}.mimeType"), inline.get("data"), field)


def _picture(media_type: str, data: object, field: str) -> ModelPicture:
    try:
        content = b64decode(text(data, f"{field}.data"), validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if not content or not media_type.startswith("image/"):
        raise InvalidRequest(field, f"expected a picture in base64, got {media_type}")
    return ModelPicture(media_type, content)
