"""Removal of keys, tokens and signatures from what is recorded or printed.

Providers echo them in errors, whole or partly masked.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote

_MASK = "[key]"
_SHORTEST = 8
"""Characters of a key; a shorter one is a local server's placeholder and may be a common word."""

_ECHO = re.compile(
    r"\b(?:sk-|AIza|ya29\.|eyJ)[\w*.…-]{4,}(?<!\.)|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|(?<![\w-])[\w-]*\*{3,}[\w*-]*"
)
"""Text in an error that looks like a key, a token of a cloud or a masked key; matches in linear time."""

_SECRET_HEADER = re.compile(r"(?:^|-)(?:authorization|(?:api-?)?key|token|cookie|secret)$")
"""Names of request headers with credentials, in lower case. A panel file's headers have no such names."""

_SIGNED = re.compile(r"(?:Credential|Signature)=([^/,\s]+)")
"""In the header of AWS's signatures: the id of the key, and the signature."""

_HINT = re.compile(r"\\u00|%[0-9A-Fa-f]{2}")
_HINT_IN_BYTES = re.compile(_HINT.pattern.encode())
"""A text without a match contains no escaped character of a secret; searching for every escape is slow."""

_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|%([0-9A-Fa-f]{2})")


def sent_secrets(headers: Mapping[str, str]) -> Iterator[str]:
    """The credentials in a request's headers; an SDK may have found them by itself."""
    for name, value in headers.items():
        if not _is_secret_header(name):
            continue
        scheme, _, credentials = value.strip().partition(" ")
        if scheme.startswith("AWS4-"):
            yield from _SIGNED.findall(credentials)
        else:
            yield credentials.strip() or scheme


@lru_cache(maxsize=512)
def _is_secret_header(name: str) -> bool:
    return _SECRET_HEADER.search(name.lower()) is not None


class Scrubber:
    """Replaces secrets by `[key]`, verbatim or with characters escaped for a URL or JSON (`\\u0061`, nested JSON too).

    One scrubber may know many secrets: they are searched for one after another only in a text that has a form of one.

    Args:
        secrets: keys and tokens; short ones are left out.
    """

    def __init__(self, secrets: Iterable[str | None]) -> None:
        self._secrets = frozenset(secret for secret in secrets if secret is not None and len(secret) >= _SHORTEST)
        self._forms = sorted({form for secret in self._secrets for form in _forms(secret)}, key=len, reverse=True)
        self._bytes = [form.encode() for form in self._forms]

    def knowing(self, secrets: Iterable[str]) -> "Scrubber":
        """A scrubber of further secrets; this one if it knows them."""
        known = self._secrets.union(secret for secret in secrets if len(secret) >= _SHORTEST)
        return self if known == self._secrets else _scrubber(known)

    def text(self, text: str) -> str:
        """The text without the secrets."""
        for form in self._forms:
            text = text.replace(form, _MASK)
        if self._forms and ("%" in text or "\\u00" in text) and _HINT.search(text):
            plain = _unescaped(text)
            for secret in self._secrets:
                if _may_be_in(plain, secret):
                    text = _spelled(secret).sub(_MASK, text)
        return text

    def knows(self, data: bytes) -> bool:
        """Whether a secret occurs in the bytes, in any of these forms."""
        return self.data(data) is not data

    def data(self, data: bytes) -> bytes:
        """The bytes without the secrets; the same object if none occurs."""
        for form in self._bytes:
            if form in data:
                data = data.replace(form, _MASK.encode())
        if self._forms and (b"%" in data or b"\\u00" in data) and _HINT_IN_BYTES.search(data):
            plain = _unescaped(data.decode("utf-8", "replace"))
            for secret in self._secrets:
                if _may_be_in(plain, secret):
                    data = _spelled_bytes(secret).sub(_MASK.encode(), data)
        return data

    def error(self, text: str) -> str:
        """An error without the secrets and without anything that looks like one."""
        return _ECHO.sub(_MASK, self.text(text))

    def error_data(self, data: bytes) -> bytes:
        """An error's bytes, likewise; bytes that are not UTF-8 are searched for the secrets only."""
        data = self.data(data)
        try:
            return _ECHO.sub(_MASK, data.decode()).encode()
        except UnicodeDecodeError:
            return data


@lru_cache(maxsize=64)
def _scrubber(secrets: frozenset[str]) -> Scrubber:
    return Scrubber(secrets)


def _forms(secret: str) -> set[str]:
    in_json = json.dumps(secret)[1:-1]
    return {secret, quote(secret, safe=""), in_json, in_json.replace("/", "\\/")}


# Compiled when they are needed: a signature lasts for one call, and a token of 2,000 characters takes 70 ms.
@lru_cache(maxsize=64)
def _spelled(secret: str) -> re.Pattern[str]:
    return re.compile("".join(map(_spellings, secret)))


@lru_cache(maxsize=64)
def _spelled_bytes(secret: str) -> re.Pattern[bytes]:
    return re.compile(_spelled(secret).pattern.encode())


def _spellings(char: str) -> str:
    """A regular expression for all escapes of a character; at most four backslashes, as in JSON nested three times."""
    in_url = "".join(f"%{_hexadecimal(f'{byte:02x}')}" for byte in char.encode("utf-8", "surrogatepass"))
    forms = [re.escape(char), rf"\\{{1,4}}u{_hexadecimal(f'{ord(char):04x}')}", in_url]
    in_json = json.dumps(char)[1:-1]
    if char == "/" or in_json != char:
        forms.append(rf"\\{{1,4}}{re.escape(in_json.removeprefix(chr(92)))}")
    return f"(?:{'|'.join(forms)})"


def _may_be_in(plain: str, secret: str) -> bool:
    """Whether the secret may be in a text of which this is `_unescaped`; what is itself an escape always may be."""
    return secret in plain or not secret.isascii() or "%" in secret or "\\" in secret


def _unescaped(text: str) -> str:
    """The text with `\\u0061` and `%61` resolved and without backslashes."""
    return _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), text).replace("\\", "")


def _hexadecimal(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)
