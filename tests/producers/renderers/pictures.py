"""Pictures as text."""

import base64


def in_base64(content: bytes) -> str:
    """Base64 without line breaks."""
    return base64.b64encode(content).decode("ascii")


def data_url(content: bytes) -> str:
    """A `data:` URL of a PNG."""
    return f"data:image/png;base64,{in_base64(content)}"
