"""No key in anything written: providers echo keys in their errors, whole or partly starred out."""

import json
import re
from urllib.parse import quote

_MASK = "[key]"
_SHORTEST = 8
"""A shorter key is a local server's placeholder, no secret, and may be a common word."""

_ECHO = re.compile(r"\b(?:sk-|AIza)[\w*.…-]{4,}(?<!\.)|(?<![\w-])[\w-]*\*{3,}[\w*-]*")
"""What looks like a key in an error, or like one that was starred out; in time that grows with the text alone."""


class Scrubber:
    """Replaces a key by `[key]` wherever it stands, as it is or escaped for a URL or for JSON."""

    def __init__(self, key: str | None) -> None:
        forms: set[str] = set()
        if key is not None and len(key) >= _SHORTEST:
            in_json = json.dumps(key)[1:-1]
            forms = {key, quote(key, safe=""), in_json, in_json.replace("/", "\\/")}
        self._texts = sorted(forms, key=len, reverse=True)
        self._bytes = [form.encode() for form in self._texts]

    def text(self, text: str) -> str:
        """The text without the key."""
        for form in self._texts:
            text = text.replace(form, _MASK)
        return text

    def data(self, data: bytes) -> bytes:
        """The bytes without the key; the same object where it does not occur."""
        for form in self._bytes:
            if form in data:
                data = data.replace(form, _MASK.encode())
        return data

    def error(self, text: str) -> str:
        """An error without the key and without whatever looks like one."""
        return _ECHO.sub(_MASK, self.text(text))

    def error_data(self, data: bytes) -> bytes:
        """An error's bytes likewise; those that are no text are only searched for the key."""
        data = self.data(data)
        try:
            return _ECHO.sub(_MASK, data.decode()).encode()
        except UnicodeDecodeError:
            return data
