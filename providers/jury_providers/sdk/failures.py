"""What a provider's refusal means: statuses, error types and words → one outcome, one line, and when to try again.

The three providers' errors differ in their words alone, so one table serves them all. Sources: the providers' error
references, and what their SDKs map.
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

MOST_CHARACTERS = 2000
"""Of an error."""

_SHOWN = 300

_SEARCHED = 8000
"""Characters of an error's message in which its meaning is looked for: searching megabytes would hold up every call."""

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
"""A name is a word: a type or code that holds a sentence names nothing."""

_A_DAY = re.compile(r"per_?day", re.IGNORECASE)
"""In the name of a quota of Google's that is used up."""

_QUOTA_SAID = re.compile(r"your credit balance is too low\b", re.IGNORECASE)
_KEY_SAID = re.compile(r"api key (?:not valid|expired)\b", re.IGNORECASE)
"""Where a provider's type and code tell no more than "invalid request", how its message begins."""

_LENGTH_SAID = re.compile(
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


_REDIRECTS = range(300, 400)
_FORBIDDEN = 403

Prompt = Callable[[], str]
"""Gives the texts of a call. A provider may quote them in its error: what stands in them tells nothing of the error."""


NO_PROMPT: Prompt = str


class Failure(NamedTuple):
    """`error` is one line, `retry_after` seconds."""

    outcome: CallOutcome
    error: str
    retry_after: float | None = None


def refused(status: int, headers: httpx2.Headers, body: bytes, prompt: Prompt = NO_PROMPT) -> Failure:
    """What a response with a bad status means; `body` as far as it came, `prompt` the texts of the call."""
    error = _error(_json(body))
    names = _names(error)
    said = _message(error) if error else shown(body)
    if status in _REDIRECTS:
        said = f"redirects are not followed{_leads_to(headers)}"
    line = one_line(f"HTTP {status}{''.join(f' {name}' for name in names)}: {said or 'no reason given'}")
    if status == _FORBIDDEN and not error:
        # No provider's own refusal: what stands before it (a proxy, a firewall) may object to a text of the case.
        return Failure(CallOutcome.MALFORMED_RESPONSE, line, _retry_after(headers, error))
    return Failure(_outcome(status, error, said, prompt), line, _retry_after(headers, error))


def reported(document: Mapping[str, Any], headers: httpx2.Headers, prompt: Prompt = NO_PROMPT) -> Failure | None:
    """What an error means that is told inside a response with a good status; None where none is told."""
    told = document.get("type") == "error" or document.get("error")
    error = _error(document) if told else {}
    if not error:
        return None
    names = _names(error)
    code = error.get("code")
    if isinstance(code, int) and 400 <= code < 600:  # noqa: PLR2004  (HTTP's statuses of errors)
        status = code
    else:
        status = next((_STATUS_OF_TYPE[name] for name in names if name in _STATUS_OF_TYPE), _SERVERS_OWN)
    message = _message(error)
    line = one_line(f"{' '.join(names) or 'error'}: {message}")
    return Failure(_outcome(status, error, message, prompt), line, _retry_after(headers, error))


def broken(trouble: Exception, *, built: bool) -> Failure:
    """What it means that nothing came; `built` says whether the call could be written down at all.

    A header that no request can hold lasts; whatever else kept a call from leaving may pass, and cost nothing. A header
    that no response may hold is a broken connection.
    """
    if isinstance(trouble, httpx2.TimeoutException):
        outcome = CallOutcome.TIMEOUT
    elif isinstance(trouble, httpx2.DecodingError):
        outcome = CallOutcome.MALFORMED_RESPONSE
    elif isinstance(trouble, httpx2.UnsupportedProtocol) or not built or _is_our_header(trouble):
        outcome = CallOutcome.BAD_REQUEST
    else:
        outcome = CallOutcome.CONNECTION
    return Failure(outcome, one_line(f"{type(trouble).__name__}: {trouble}"))


def _is_our_header(trouble: Exception) -> bool:
    return isinstance(trouble, httpx2.LocalProtocolError) and "illegal header" in str(trouble).lower()


def one_line(text: str, most: int = MOST_CHARACTERS) -> str:
    """Text with its white space as single spaces, cut to what an error may hold."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shown(body: bytes) -> str:
    """The beginning of a body that is not what it should be, for an error."""
    return body[:_SHOWN].decode("utf-8", "replace")


def _outcome(status: int, error: Mapping[str, Any], message: str, prompt: Prompt) -> CallOutcome:
    """Types, codes and the status decide, for they are the provider's own words.

    A message counts only where they say no more than that the request is invalid, and only in words that the call did
    not send: a case must not be able to say that the key is refused.
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
    if status >= _SERVERS_OWN:
        return CallOutcome.OVERLOADED
    return _meant(message[:_SEARCHED], prompt) or CallOutcome.BAD_REQUEST


def _meant(message: str, prompt: Prompt) -> CallOutcome | None:
    """What the message of an invalid request means, as far as its words are the provider's own."""
    found = [
        (outcome, [phrase.group() for phrase in phrases if phrase is not None])
        for outcome, phrases in (
            (CallOutcome.AUTHENTICATION, [_KEY_SAID.match(message)]),
            (CallOutcome.QUOTA, [_QUOTA_SAID.match(message)]),
            (CallOutcome.CONTEXT_TOO_LONG, _LENGTH_SAID.finditer(message)),
        )
    ]
    if not any(phrases for _, phrases in found):
        return None
    sent = " ".join(prompt().split()).casefold()
    return next((outcome for outcome, said in found if any(one.casefold() not in sent for one in said)), None)


def _is_flagged(error: Mapping[str, Any]) -> bool:
    """As OpenRouter says that a moderation stopped the prompt, with a status that elsewhere means the key."""
    metadata = error.get("metadata")
    return isinstance(metadata, dict) and "flagged_input" in metadata


def _leads_to(headers: httpx2.Headers) -> str:
    """Where a redirect leads, without what an address may hold besides."""
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


def _names(error: Mapping[str, Any]) -> tuple[str, ...]:
    """How the provider names the error: type, code and status, each once."""
    inner = error.get("innererror")
    named = [error.get(key) for key in ("status", "type", "code")]
    named += [inner.get("code")] if isinstance(inner, dict) else []
    named += [detail.get("reason") for detail in _details(error)]
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str) and _NAME.fullmatch(name)))


def _message(error: Mapping[str, Any]) -> str:
    message = error.get("message")
    return message if isinstance(message, str) else ""


def _quotas(error: Mapping[str, Any]) -> Iterator[str]:
    """The names of the quotas that are used up, as Google tells them."""
    for detail in _details(error):
        for violation in _objects(detail.get("violations")):
            yield from (value for key in ("quotaId", "quotaMetric") if isinstance(value := violation.get(key), str))


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
