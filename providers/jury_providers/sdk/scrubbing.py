"""Removal of API keys from recorded data: providers echo keys in their errors, whole or partly masked."""

import json
import re
from urllib.parse import quote

_MASK = "[key]"
_SHORTEST = 8
"""Characters of a key; a shorter one is a local server's placeholder and may be a common word."""

_ECHO = re.compile(r"\b(?:sk-|AIza)[\w*.…-]{4,}(?<!\.)|(?<![\w-])[\w-]*\*{3,}[\w*-]*")
"""Text in an error that looks like a key or a masked key; matches in linear time."""


_HINTS = ("\\u00", "%")
"""A text without them contains no escaped character of a key; searching for every escape is slow."""


class Scrubber:
    """Replaces a key by `[key]`, verbatim or with characters escaped for a URL or JSON (`\\u0061`, nested JSON too)."""

    def __init__(self, key: str | None) -> None:
        secret = key if key is not None and len(key) >= _SHORTEST else ""
        in_json = json.dumps(secret)[1:-1]
        forms = {secret, quote(secret, safe=""), in_json, in_json.replace("/", "\\/")} if secret else set()
        self._forms = sorted(forms, key=len, reverse=True)
        self._bytes = [form.encode() for form in self._forms]
        spelled = "".join(map(_spellings, secret))
        self._spelled = re.compile(spelled), re.compile(spelled.encode())

    def text(self, text: str) -> str:
        """The text without the key."""
        for form in self._forms:
            text = text.replace(form, _MASK)
        hinted = self._forms and any(hint in text for hint in _HINTS)
        return self._spelled[0].sub(_MASK, text) if hinted else text

    def data(self, data: bytes) -> bytes:
        """The bytes without the key; the same object if it does not occur."""
        for form in self._bytes:
            if form in data:
                data = data.replace(form, _MASK.encode())
        hinted = self._bytes and any(hint.encode() in data for hint in _HINTS)
        return self._spelled[1].sub(_MASK.encode(), data) if hinted else data

    def error(self, text: str) -> str:
        """An error without the key and without anything that looks like one."""
        return _ECHO.sub(_MASK, self.text(text))

    def error_data(self, data: bytes) -> bytes:
        """An error's bytes, likewise; bytes that are not UTF-8 are searched for the key only."""
        data = self.data(data)
        try:
            return _ECHO.sub(_MASK, data.decode()).encode()
        except UnicodeDecodeError:
            return data


def _spellings(char: str) -> str:
    """A regular expression for all escapes of a character; at most four backslashes, as in JSON nested three times."""
    in_url = "".join(f"%{_hexadecimal(f'{byte:02x}')}" for byte in char.encode("utf-8", "surrogatepass"))
    forms = [re.escape(char), rf"\\{{1,4}}u{_hexadecimal(f'{ord(char):04x}')}", in_url]
    in_json = json.dumps(char)[1:-1]
    if char == "/" or in_json != char:
        forms.append(rf"\\{{1,4}}{re.escape(in_json.removeprefix(chr(92)))}")
    return f"(?:{'|'.join(forms)})"


def _hexadecimal(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)
