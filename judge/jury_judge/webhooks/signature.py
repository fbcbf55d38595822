"""Signed messages, as the specification Standard Webhooks 1.0 describes them (https://www.standardwebhooks.com)."""

import base64
import binascii
import hashlib
import hmac

from jury_events.errors import SettingError

WEBHOOK_SECRET = "JURY_WEBHOOK_SECRET"  # noqa: S105  (a variable's name)
_PREFIX = "whsec_"
_FEWEST, _MOST = 24, 64


def webhook_secret(text: str, place: str) -> bytes:
    """The key in a secret: `whsec_` and 24 to 64 bytes in base64.

    Args:
        text: the secret; blanks around it are ignored.
        place: a file or a variable, for the message.

    Raises:
        SettingError: it is something else; the message does not contain it.
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
        body: as it is sent.
    """
    signed = f"{message_id}.{seconds}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{signature}",
    }
