"""Sends one message to one address, which is checked before every connection, and signs it.

Signatures are those of the specification Standard Webhooks 1.0 (https://www.standardwebhooks.com).
"""

import base64
import binascii
import hashlib
import hmac
from http.client import HTTPException
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request

from jury_cases.artifact_hosts import AllowedHosts, Resolve, checked_opener, resolved
from jury_cases.errors import ArtifactSourceError
from jury_events.errors import SettingError
from jury_events.text import visible_line, visible_url
from jury_judge.errors import SettingsRefused, escaped

HOSTS = "JURY_WEBHOOK_HOSTS"
"""The variable with further allowed addresses, as `HOST=NETWORK`."""

_SECONDS = 10.0


class SendOutcome(NamedTuple):
    """How an attempt ended: with an HTTP status, or with a problem in words, without secrets."""

    status: int | None
    problem: str | None

    @property
    def accepted(self) -> bool:
        """Whether the receiver has the message."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004  (RFC 9110, 15.3)


class WebhookSender:
    """Posts signed JSON to a URL. No redirect is followed, and no proxy is used.

    The host must have public addresses, be an address or `localhost` itself, or be allowed with its network.

    Args:
        url: http or https.
        key: of `webhook_secret`.
        hosts: allowed besides, as in `JURY_ARTIFACT_HOSTS`.
        seconds: timeout of the connection, of TLS, of sending, and of the answer's head, of which no more is read.
    """

    def __init__(
        self,
        url: str,
        key: bytes,
        hosts: frozenset[str] = frozenset(),
        *,
        seconds: float = _SECONDS,
        resolve: Resolve = resolved,
    ) -> None:
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host, parts = None, urlsplit("")
        if (
            not host
            or parts.scheme not in {"http", "https"}
            or not url.isascii()
            or not url.isprintable()
            or " " in url
        ):
            raise SettingsRefused(f"{{webhook}}: {escaped(visible_url(url))} is not an http or https URL", usage=False)
        if parts.username is not None or parts.password is not None:
            raise SettingsRefused(
                "{webhook}: the URL has a user or password; the signature shows who sends", usage=False
            )
        allowed = AllowedHosts({host, *hosts}, HOSTS)
        self._url, self._key, self._seconds = url, key, seconds
        self._opener = checked_opener(allowed, resolve, redirects=False)

    @property
    def place(self) -> str:
        """The URL for messages, without its query."""
        return visible_url(self._url)

    def send(self, message_id: str, seconds: int, body: bytes) -> SendOutcome:
        """One attempt at `seconds` since 1970-01-01 UTC; never raises for what the network or the receiver does."""
        headers = {
            **signed_headers(self._key, message_id, seconds, body),
            "Content-Type": "application/json",
            "User-Agent": "jury-judge",
        }
        request = Request(self._url, body, headers, method="POST")  # noqa: S310  (the scheme was checked)
        try:
            with self._opener.open(request, timeout=self._seconds) as answer:
                return SendOutcome(int(answer.status), None)
        except HTTPError as error:
            error.close()
            return SendOutcome(error.code, None)
        except ArtifactSourceError as error:
            return SendOutcome(None, visible_line(str(error), 300))
        except (URLError, HTTPException, OSError, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if isinstance(reason, TimeoutError):
                return SendOutcome(None, f"no answer within {self._seconds:g} seconds")
            said = getattr(reason, "strerror", None) or type(reason).__name__
            return SendOutcome(None, visible_line(str(said), 300))


WEBHOOK_SECRET = "JURY_WEBHOOK_SECRET"  # noqa: S105  (a variable's name)
_PREFIX = "whsec_"
_FEWEST, _MOST = 24, 64


def webhook_secret(text: str, place: str) -> bytes:
    """The key in a secret: `whsec_` and 24 to 64 bytes in base64.

    Args:
        text: the secret; blanks around it are ignored.
        place: a file or a variable, for the message.
    """
    try:
        key = base64.b64decode(text.strip().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not text.strip().startswith(_PREFIX) or not _FEWEST <= len(key) <= _MOST:
        raise SettingError(
            f"{place}: a secret is {_PREFIX} and {_FEWEST} to {_MOST} random bytes in base64; make one with: "
            f"python -c \"import base64, os; print('{_PREFIX}' + base64.b64encode(os.urandom(32)).decode())\""
        )
    return key


def signed_headers(key: bytes, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The headers of one attempt.

    Args:
        key: of `webhook_secret`.
        message_id: the same in every attempt, without a full stop.
        seconds: the time of the attempt, since 1970-01-01 UTC.
    """
    signed = f"{message_id}.{seconds}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{signature}",
    }
