"""Removal of keys, tokens and signatures from what is recorded or printed, and the secrets of this process.

Providers echo them in errors, whole or partly masked. The process's are what the variables contain that it, the SDKs
and the tools beside it read. Source: the SDKs openai 3.52, anthropic 2.11, google-genai 3.4 and azure-identity, which
read these variables. A name that says what it has is enough: so are variables of other tools known (Langfuse,
OpenTelemetry, AWS, PostgreSQL), and most that a panel file names in `key_env`.
"""

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from jury_events.regular_files import read_text

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
        known, forms = set[str](), set[str]()
        for secret in secrets:
            if secret is not None and len(secret) >= _SHORTEST:
                known.add(secret)
                forms |= _forms(secret)
        self._secrets = frozenset(known)
        self._forms = sorted(forms, key=len, reverse=True)
        self._bytes = list(map(str.encode, self._forms))

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


_SECRET_NAME = re.compile(
    r"(?:^|_)(?:[A-Z]*KEY|TOKEN|[A-Z]*SECRET|[A-Z]*PASSWORD|PASSWD|PASSPHRASE|[A-Z]*PASS|CREDENTIALS?|PAT|COOKIE)"
    r"(?:_ID|_BEDROCK|_VALUE)?$"
)
"""Of variables, in upper case."""

_SECRETS = frozenset(
    {
        "IDENTITY_HEADER",
        "OPENAI_ORG_ID",
        "OPENAI_ORGANIZATION",
        "OPENAI_PROJECT_ID",
        "ANTHROPIC_ORGANIZATION_ID",
        "ANTHROPIC_WORKSPACE_ID",
    }
)
"""Whose names do not say so: a token of Azure's hosts, and the accounts that the SDKs send with each request."""

_NO_SECRETS = frozenset({"AZURE_TOKEN_CREDENTIALS"})
"""Whose names only seem to: the name of a kind of credentials."""

_HEADERS = re.compile(r"^(?:[A-Z0-9]+_)*(?:CUSTOM|DEFAULT|OTLP|TRACES|LOGS|METRICS|EXTRA)_HEADERS$")
"""Variables with whole headers: lines `Name: value`, or `name=value` with commas between."""

_HEADER = re.compile(r"[\s,{\"']*([A-Za-z0-9_-]+)[\"']?\s*[:=]\s*[\"']?([^\n,\"']*)")

_PUBLIC_HEADERS = frozenset(
    {"accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta", "user-agent"}
)

_FILE = "_FILE"
_FILES = frozenset({"GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_CERTIFICATE_PATH", "PGPASSFILE", "JURY_SEAL_KEY"})
"""Variables that name a file of credentials, without saying so by `_FILE` behind a secret's name."""

_LONGEST_FILE = 1 << 14

_SHORTEST_WORD = 12
"""Characters of a password that may be a word; `postgres` in a judged text is no password."""


def known_secrets(environ: Mapping[str, str] | None = None) -> frozenset[str]:
    """The values that nothing may record, print or send to a juror.

    Of a URL with user and password these, and their form in a header; of variables with headers their values; of a
    variable `NAME_FILE`, where NAME has a secret, the line in that file. A value that may be a word is none.

    Args:
        environ: the environment; None is `os.environ`.
    """
    return _known(frozenset((os.environ if environ is None else environ).items()))


def secret_files(environ: Mapping[str, str] | None = None) -> tuple[Path, ...]:
    """The files of credentials that the environment names, whether they exist or not.

    Args:
        environ: the environment; None is `os.environ`.
    """
    found = os.environ if environ is None else environ
    return tuple(Path(value.strip()) for name, value in found.items() if value.strip() and _names_file(name.upper()))


def known_scrubber() -> Scrubber:
    """Removes the secrets of this process's environment."""
    return _scrubber(_known(frozenset(os.environ.items())))


@lru_cache(maxsize=4)
def _known(variables: frozenset[tuple[str, str]]) -> frozenset[str]:
    found = set[str]()
    for name, value in variables:
        found.update(map(str.strip, _in_variable(name.upper(), value.strip())))
    return frozenset(found.difference(("", *filter(_is_word, found))))


def _in_variable(name: str, value: str) -> Iterator[str]:
    if _HEADERS.search(name):
        yield from _in_headers(value)
    elif "://" in value:
        yield from _in_url(value)
    elif _names_file(name):
        yield from _in_file(value)
    elif name in _SECRETS or (_says_secret(name) and not os.path.exists(value)):  # noqa: PTH110  (never raises)
        yield value


def _says_secret(name: str) -> bool:
    return name not in _NO_SECRETS and _SECRET_NAME.search(name) is not None


def _names_file(name: str) -> bool:
    return name in _FILES or (name.endswith(_FILE) and _says_secret(name.removesuffix(_FILE)))


def _in_headers(value: str) -> Iterator[str]:
    for name, written in _HEADER.findall(value):
        if name.lower() in _PUBLIC_HEADERS:
            continue
        for text in dict.fromkeys((written.strip(), unquote(written).strip())):
            yield from (text, *sent_secrets({"authorization": text}))


def _in_url(value: str) -> Iterator[str]:
    try:
        parts: SplitResult = urlsplit(value)
        user, password = parts.username, parts.password
    except ValueError:
        return
    if password:
        yield from (password, unquote(password))
        for pair in dict.fromkeys((f"{user}:{password}", f"{unquote(user or '')}:{unquote(password)}")):
            yield b64encode(pair.encode()).decode()
    for name, written in parse_qsl(parts.query):
        if _says_secret(name.upper()):
            yield written


def _in_file(path: str) -> Iterator[str]:
    try:
        text = read_text(Path(path), _LONGEST_FILE).strip()
    except (OSError, ValueError):
        return  # who reads it says so
    if "\n" not in text:
        yield text


def _is_word(value: str) -> bool:
    """Whether every text may have it, though it is no secret: a lower-case word, a number."""
    return len(value) < _SHORTEST_WORD and ((value.isalpha() and value.islower()) or value.isdigit())
