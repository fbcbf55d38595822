"""Maps providers' errors to outcomes: HTTP status, error type and message → outcome, one line of text, retry delay.

The providers' errors have the same structure, so one table serves them all. Sources: the providers' error references,
and the mappings in their SDKs.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2

from jury_events.outcome import CallOutcome
from jury_providers.sdk.reply_parsing import objects

MAX_ERROR_CHARACTERS = 2000
"""Of a recorded error."""

_SHOWN = 300

_SEARCHED = 8000
"""Characters of an error's message that are searched: searching megabytes would block the event loop."""

_QUOTA = frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"})
_KEY = frozenset(
    {
        "api_key_invalid",
        "invalid_api_key",
        "authentication_error",
        "permission_error",
        "permission_denied",
        "unauthenticated",
    }
)
_BLOCKS = frozenset({"content_filter", "content_policy_violation", "invalid_prompt", "responsibleaipolicyviolation"})
_LENGTH = frozenset(
    {
        "context_length_exceeded",
        "exceed_context_size_error",
        "model_context_window_exceeded",
        "request_too_large",
    }
)
_NAME = re.compile(r"[A-Za-z][\w.:/-]{0,99}")
"""An identifier; a type or code that contains a sentence is ignored."""

_A_DAY = re.compile(r"per_?day", re.IGNORECASE)
"""In the name of an exhausted quota of Google's."""

_QUOTA_MESSAGE = re.compile(r"your credit balance is too low\b", re.IGNORECASE)
_KEY_MESSAGE = re.compile(r"api key (?:not valid|expired)\b", re.IGNORECASE)
"""Beginnings of messages, for errors whose type and code mean "invalid request" only."""

_LENGTH_MESSAGE = re.compile(
    r"prompt is too long|input token count \(?[\d,.]*\)? ?exceeds|maximum context length"
    r"|exceeds? (?:the )?(?:available )?context (?:size|limit|window)",
    re.IGNORECASE,
)

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
"""For errors inside a response with a good status; any other type is a server error."""

_STATUSES: Mapping[int, CallOutcome] = {
    401: CallOutcome.AUTHENTICATION,
    402: CallOutcome.QUOTA,
    403: CallOutcome.AUTHENTICATION,
    408: CallOutcome.TIMEOUT,
    413: CallOutcome.CONTEXT_TOO_LONG,
    429: CallOutcome.RATE_LIMITED,
}
_SERVER_ERROR = 500
_REDIRECTS = range(300, 400)
_FORBIDDEN = 403

PromptText = Callable[[], str]
"""Returns the texts of a call. A provider may quote them in its error message, so words in them are no evidence."""

NO_PROMPT_TEXT: PromptText = str


class CallFailure(NamedTuple):
    """Why a call failed: `error` is one line, `retry_after` in seconds."""

    outcome: CallOutcome
    error: str
    retry_after: float | None = None


def status_failure(
    status: int, headers: httpx2.Headers, body: bytes, prompt: PromptText = NO_PROMPT_TEXT
) -> CallFailure:
    """The failure reported by a response with a bad status.

    Args:
        status: the HTTP status.
        headers: for the retry delay and redirects.
        body: as far as it arrived.
        prompt: returns the texts of the call.
    """
    error = _error(_json(body))
    names = _names(error)
    message = _message(error) if error else preview(body)
    if status in _REDIRECTS:
        message = f"redirects are not followed{_redirect_target(headers)}"
    line = one_line(f"HTTP {status}{''.join(f' {name}' for name in names)}: {message or 'no reason given'}")
    if status == _FORBIDDEN and not error:
        # Not from the provider: a proxy or firewall in front of it may block a text of the case.
        return CallFailure(CallOutcome.MALFORMED_RESPONSE, line, _retry_after(headers, error))
    return CallFailure(_outcome(status, error, message, prompt), line, _retry_after(headers, error))


def embedded_failure(
    document: Mapping[str, Any], headers: httpx2.Headers, prompt: PromptText = NO_PROMPT_TEXT
) -> CallFailure | None:
    """The failure reported inside a response with a good status; None if there is none."""
    reported = document.get("type") == "error" or document.get("error")
    error = _error(document) if reported else {}
    if not error:
        return None
    names = _names(error)
    status = _embedded_status(error)
    message = _message(error)
    line = one_line(f"{' '.join(names) or 'error'}: {message}")
    return CallFailure(_outcome(status, error, message, prompt), line, _retry_after(headers, error))


def error_status(document: Mapping[str, Any]) -> int:
    """HTTP's status of the error that a document reports."""
    return _embedded_status(_error(document))


def _embedded_status(error: Mapping[str, Any]) -> int:
    code = error.get("code")
    if isinstance(code, int) and 400 <= code < 600:  # noqa: PLR2004  (HTTP's statuses of errors)
        return code
    return next((_STATUS_OF_TYPE[name] for name in _names(error) if name in _STATUS_OF_TYPE), _SERVER_ERROR)


def exception_failure(error: Exception, *, built: bool) -> CallFailure:
    """The failure of a call that raised; `built`: the request could be built.

    An invalid request header is permanent; other reasons for which a request was not sent may be temporary, and cost
    nothing. An invalid response header is a connection failure.
    """
    if isinstance(error, httpx2.TimeoutException):
        outcome = CallOutcome.TIMEOUT
    elif isinstance(error, httpx2.DecodingError):
        outcome = CallOutcome.MALFORMED_RESPONSE
    elif isinstance(error, httpx2.UnsupportedProtocol) or not built or _is_our_header(error):
        outcome = CallOutcome.BAD_REQUEST
    else:
        outcome = CallOutcome.CONNECTION
    return CallFailure(outcome, one_line(f"{type(error).__name__}: {error}"))


def _is_our_header(error: Exception) -> bool:
    return isinstance(error, httpx2.LocalProtocolError) and "illegal header" in str(error).lower()


def one_line(text: str, most: int = MAX_ERROR_CHARACTERS) -> str:
    """The text with runs of white space as single spaces, cut to `most` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def preview(body: bytes) -> str:
    """The beginning of an unexpected body, for an error message."""
    return body[:_SHOWN].decode("utf-8", "replace")


def _outcome(status: int, error: Mapping[str, Any], message: str, prompt: PromptText) -> CallOutcome:
    """Decided by types, codes and the status, which only the provider can set.

    The message counts only if they mean just "invalid request", and only words that the call did not send: a case
    must not be able to claim that the key is refused.
    """
    names = {name.lower() for name in _names(error)}
    if not _KEY.isdisjoint(names):
        return CallOutcome.AUTHENTICATION
    if not _QUOTA.isdisjoint(names) or any(map(_A_DAY.search, _quotas(error))):
        return CallOutcome.QUOTA
    if not _LENGTH.isdisjoint(names):
        return CallOutcome.CONTEXT_TOO_LONG
    if not _BLOCKS.isdisjoint(names) or _is_flagged(error):
        return CallOutcome.BLOCKED
    known = _STATUSES.get(status)
    if known is not None:
        return known
    if status >= _SERVER_ERROR:
        return CallOutcome.OVERLOADED
    return _outcome_of_message(message[:_SEARCHED], prompt) or CallOutcome.BAD_REQUEST


def _outcome_of_message(message: str, prompt: PromptText) -> CallOutcome | None:
    """The outcome named by phrases of an invalid request's message that do not occur in the prompt."""
    found = [
        (outcome, [phrase.group() for phrase in phrases if phrase is not None])
        for outcome, phrases in (
            (CallOutcome.AUTHENTICATION, [_KEY_MESSAGE.match(message)]),
            (CallOutcome.QUOTA, [_QUOTA_MESSAGE.match(message)]),
            (CallOutcome.CONTEXT_TOO_LONG, _LENGTH_MESSAGE.finditer(message)),
        )
    ]
    if not any(phrases for _, phrases in found):
        return None
    sent = " ".join(prompt().split()).casefold()
    return next((outcome for outcome, phrases in found if any(one.casefold() not in sent for one in phrases)), None)


def _is_flagged(error: Mapping[str, Any]) -> bool:
    """OpenRouter reports a prompt stopped by moderation with status 403, which otherwise means a refused key."""
    metadata = error.get("metadata")
    return isinstance(metadata, dict) and "flagged_input" in metadata


def _redirect_target(headers: httpx2.Headers) -> str:
    """Scheme and host of a redirect's target; its path and query may contain secrets."""
    try:
        parts = urlsplit(headers.get("location", ""))
        host = parts.hostname
    except ValueError:
        return ""
    return f"; this one leads to {parts.scheme or 'https'}://{host}: write the right base URL" if host else ""


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error(document: Any) -> dict[str, Any]:
    """The error object: `{"error": {…}}` for all three, sometimes in a list (Google), bare, or a string."""
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


def _names(error: Mapping[str, Any]) -> tuple[str, ...]:
    """The error's type, code and status, each once."""
    inner = error.get("innererror")
    named = [error.get(key) for key in ("status", "type", "code")]
    named += [inner.get("code")] if isinstance(inner, dict) else []
    named += [detail.get("reason") for detail in _details(error)]
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str) and _NAME.fullmatch(name)))


def _message(error: Mapping[str, Any]) -> str:
    message = error.get("message")
    return message if isinstance(message, str) else ""


def _quotas(error: Mapping[str, Any]) -> Iterator[str]:
    """The names of exhausted quotas, as Google lists them."""
    for detail in _details(error):
        for violation in objects(detail.get("violations")):
            yield from (value for key in ("quotaId", "quotaMetric") if isinstance(value := violation.get(key), str))


def _details(error: Mapping[str, Any]) -> list[dict[str, Any]]:
    return objects(error.get("details"))


def _retry_after(headers: httpx2.Headers, error: Mapping[str, Any]) -> float | None:
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    header = headers.get("retry-after")
    if header is not None:
        seconds = _seconds(header)
        return _until(header, headers.get("date")) if seconds is None else seconds
    delays = (detail.get("retryDelay") for detail in _details(error))
    return next((_seconds(delay[:-1]) for delay in delays if isinstance(delay, str) and delay.endswith("s")), None)


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str, now: str | None) -> float | None:
    """Seconds until an HTTP date, by the server's clock if it sends a date."""
    end, start = _date(date), _date(now) or datetime.now(UTC)
    return None if end is None else max(0.0, (end - start).total_seconds())


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
