"""Which bytes are pictures."""

_MAGIC: dict[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def picture_type(content: bytes) -> str | None:
    """The media type of a picture by its first bytes; None: not a PNG, JPEG, GIF or WebP."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((media for magic, media in _MAGIC.items() if content.startswith(magic)), None)
