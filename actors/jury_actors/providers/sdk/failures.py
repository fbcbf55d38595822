"""What a provider's refusal means: statuses, error types and words → one outcome, one line, and when to try again.

The three providers' errors differ in their words alone, so one table serves them all. Sources: the providers' error
references, and what their SDKs map.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import httpx2

from jury_events.outcome import CallOutcome

MOST_CHARACTERS = 2000
"""Of an error."""

_SHOWN = 300

_SEARCHED = 8000
"""Characters of an error's words in which its meaning is looked for: searching megabytes would hold up every call."""

_QUOTA = re.compile(
    r"insufficient_quota|billing_error|billing_hard_limit|billing_not_active|credit balance is too low|perday",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"api_key_invalid|invalid_api_key|api key not valid|api key expired|authentication_error|permission_error"
    r"|permission_denied|unauthenticated",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"context_length_exceeded|exceed_context_size|model_context_window_exceeded|request_too_large|prompt is too long"
    r"|input token count.*exceeds|maximum context length"
    r"|exceeds? (?:the )?(?:available )?context (?:size|limit|window)",
    re.IGNORECASE | re.DOTALL,
)
_BLOCKS = frozenset({"content_filter", "content_policy_violation", "invalid_prompt", "ResponsibleAIPolicyViolation"})

_STATUS_OF_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_timeout": 408,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""For errors that come inside a response that began well; any other is the server's own trouble."""

_STATUSES: Mapping[int, CallOutcome] = {
    401: CallOutcome.AUTHENTICATION,
    402: CallOutcome.QUOTA,
    403: CallOutcome.AUTHENTICATION,
    408: CallOutcome.TIMEOUT,
    413: CallOutcome.CONTEXT_TOO_LONG,
    429: CallOutcome.RATE_LIMITED,
}
_SERVERS_OWN = 500


class Failure(NamedTuple):
    """`error` is one line, `retry_after` seconds."""

    outcome: CallOutcome
    error: str
    retry_after: float | None = None


def refused(status: int, headers: httpx2.Headers, body: bytes) -> Failure:
    """What a response with a bad status means; `body` as far as it came."""
    error = _error(_json(body))
    words = " ".join(_words(error)) if error else shown(body)
    name = _name(error)
    said = _message(error) if error else words
    line = one_line(f"HTTP {status}{f' {name}' if name else ''}: {said or 'no reason given'}")
    return Failure(_outcome(status, name, words), line, _retry_after(headers, error))


def reported(document: Mapping[str, Any], headers: httpx2.Headers) -> Failure | None:
    """What an error means that is told inside a response with a good status; None where none is told."""
    told = document.get("type") == "error" or document.get("error")
    error = _error(document) if told else {}
    if not error:
        return None
    name, words = _name(error), " ".join(_words(error))
    code = error.get("code")
    if isinstance(code, int) and 400 <= code < 600:  # noqa: PLR2004  (HTTP's statuses of errors)
        status = code
    else:
        status = next((_STATUS_OF_TYPE[word] for word in name.split() if word in _STATUS_OF_TYPE), _SERVERS_OWN)
    return Failure(
        _outcome(status, name, words), one_line(f"{name or 'error'}: {_message(error)}"), _retry_after(headers, error)
    )


def broken(trouble: Exception, *, built: bool) -> Failure:
    """What it means that nothing came; `built` says whether the call could be written down at all.

    A header that no request can hold lasts; whatever else kept a call from leaving may pass, and cost nothing.
    """
    if isinstance(trouble, httpx2.TimeoutException):
        outcome = CallOutcome.TIMEOUT
    elif isinstance(trouble, httpx2.DecodingError):
        outcome = CallOutcome.MALFORMED_RESPONSE
    elif isinstance(trouble, httpx2.UnsupportedProtocol) or not built or "illegal header" in str(trouble).lower():
        outcome = CallOutcome.BAD_REQUEST
    else:
        outcome = CallOutcome.CONNECTION
    return Failure(outcome, one_line(f"{type(trouble).__name__}: {trouble}"))


def one_line(text: str, most: int = MOST_CHARACTERS) -> str:
    """Text with its white space as single spaces, cut to what an error may hold."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shown(body: bytes) -> str:
    """The beginning of a body that is not what it should be, for an error."""
    return body[:_SHOWN].decode("utf-8", "replace")


def _outcome(status: int, name: str, words: str) -> CallOutcome:
    words = words[:_SEARCHED]
    if _QUOTA.search(words):
        return CallOutcome.QUOTA
    if _KEY.search(words):
        return CallOutcome.AUTHENTICATION
    if status < _SERVERS_OWN and _LENGTH.search(words):
        return CallOutcome.CONTEXT_TOO_LONG
    if not _BLOCKS.isdisjoint(name.split()):
        return CallOutcome.BLOCKED
    known = _STATUSES.get(status)
    if known is not None:
        return known
    return CallOutcome.OVERLOADED if status >= _SERVERS_OWN else CallOutcome.BAD_REQUEST


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error(document: Any) -> dict[str, Any]:
    """The error's object: `{"error": {…}}` at all three, sometimes in a list (Google), sometimes bare or a text."""
    if isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return {}
    error = document.get("error")
    if isinstance(error, dict):
        return error
    if isinstance(error, str):
        return {"message": error}
    return document if isinstance(document.get("message"), str) else {}


def _name(error: Mapping[str, Any]) -> str:
    """How the provider names the error: type, code and status, each once."""
    named = [error.get(key) for key in ("status", "type", "code")]
    reasons = [detail.get("reason") for detail in _details(error)]
    return " ".join(dict.fromkeys(name for name in (*named, *reasons) if isinstance(name, str) and name))


def _message(error: Mapping[str, Any]) -> str:
    message = error.get("message")
    return message if isinstance(message, str) else ""


def _words(error: Mapping[str, Any]) -> Iterator[str]:
    """All that tells what the error is."""
    yield _name(error)
    yield _message(error)
    for detail in _details(error):
        for violation in _objects(detail.get("violations")):
            yield from (value for value in violation.values() if isinstance(value, str))


def _details(error: Mapping[str, Any]) -> list[dict[str, Any]]:
    return _objects(error.get("details"))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _retry_after(headers: httpx2.Headers, error: Mapping[str, Any]) -> float | None:
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    if said is not None:
        seconds = _seconds(said)
        return _until(said, headers.get("date")) if seconds is None else seconds
    delays = (detail.get("retryDelay") for detail in _details(error))
    return next((_seconds(delay[:-1]) for delay in delays if isinstance(delay, str) and delay.endswith("s")), None)


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str, now: str | None) -> float | None:
    """Seconds to an HTTP date, by the server's own clock where it tells it."""
    end, start = _date(date), _date(now) or datetime.now(UTC)
    return None if end is None else max(0.0, (end - start).total_seconds())


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
