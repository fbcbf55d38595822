"""The secrets of this process: what the variables contain that it, the SDKs and the tools beside it read.

Source: the SDKs openai 3.52, anthropic 2.11, google-genai 3.4 and azure-identity, which read these variables. A name
that says what it has is enough: so are variables of other tools known (Langfuse, OpenTelemetry, AWS, PostgreSQL), and
most that a panel file names in `key_env`.
"""

import os
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from jury_events.regular_files import read_text
from jury_events.scrubbing import Scrubber, sent_secrets

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
    return _scrubber(frozenset(os.environ.items()))


@lru_cache(maxsize=4)
def _scrubber(variables: frozenset[tuple[str, str]]) -> Scrubber:
    return Scrubber(_known(variables))


@lru_cache(maxsize=4)
def _known(variables: frozenset[tuple[str, str]]) -> frozenset[str]:
    found = (secret.strip() for name, value in variables for secret in _in_variable(name.upper(), value.strip()))
    return frozenset(secret for secret in found if secret and not _is_word(secret))


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
