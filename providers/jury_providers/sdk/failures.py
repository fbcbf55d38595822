"""Reads providers' errors: HTTP status and body → outcome (by `failure_table`), one line of text, retry delay.

The providers' errors have the same structure, so they are read alike. Sources: the providers' error references, and the
mappings in their SDKs.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2

from jury_events.outcome import CallOutcome
from jury_providers.failure_table import FailureTable, PromptText, ReportedError
from jury_providers.sdk.json_fields import objects

MAX_ERROR_CHARACTERS = 2000
"""Of a recorded error."""

_SHOWN = 300

_NAME = re.compile(r"[A-Za-z][\w.:/-]{0,99}|\d{4,9}")
"""An identifier or a number of its own; a type or code that contains a sentence is ignored."""

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

_STATUS_OF_WRAPPED: Mapping[str, int] = {
    "BadRequestError": 400,
    "ContextWindowExceededError": 400,
    "ContentPolicyViolationError": 400,
    "UnsupportedParamsError": 400,
    "AuthenticationError": 401,
    "PermissionDeniedError": 403,
    "NotFoundError": 404,
    "UnprocessableEntityError": 422,
    "RateLimitError": 429,
}
"""For errors that LiteLLM wraps in one of its own, which come with the status of the outermost."""

_WRAPPED = re.compile(r"(?:litellm\.)?(\w+): *")
_INNER_STATUS = re.compile(r"Error code: ([45]\d\d)\b")

_SERVER_ERROR = 500
_REDIRECTS = range(300, 400)
_FORBIDDEN = 403

_DEEPEST = 3
_MOST_MESSAGES = 5
"""Of nested messages."""

NO_PROMPT_TEXT: PromptText = str


class CallFailure(NamedTuple):
    """Why a call failed: `error` is one line, `retry_after` in seconds.

    `status` and `code` as the provider reported them. `understood`: what it reported is known to mean `outcome`; else
    that is what such a status means if nothing else is known.
    """

    outcome: CallOutcome
    error: str
    retry_after: float | None = None
    status: int | None = None
    code: str | None = None
    understood: bool = True


class FailureReader:
    """Reads the errors of one provider.

    Args:
        table: what its errors mean.
    """

    def __init__(self, table: FailureTable) -> None:
        self._table = table

    def of_status(
        self, status: int, headers: httpx2.Headers, body: bytes, prompt: PromptText = NO_PROMPT_TEXT
    ) -> CallFailure:
        """The failure reported by a response with a bad status.

        Args:
            body: as far as it arrived.
        """
        error = _error(_json(body))
        names = _names(error, headers)
        message = _message(error) if error else preview(body)
        if status in _REDIRECTS:
            message = f"redirects are not followed{_redirect_target(headers)}"
        line = one_line(f"HTTP {status}{''.join(f' {name}' for name in names)}: {message or 'no reason given'}")
        failure = self._failure(status, error, headers, line, prompt)
        if status == _FORBIDDEN and not error:
            # Not from the provider: a proxy or firewall in front of it may block a text of the case.
            return failure._replace(outcome=CallOutcome.MALFORMED_RESPONSE)
        return failure

    def embedded(
        self, document: Mapping[str, Any], headers: httpx2.Headers, prompt: PromptText = NO_PROMPT_TEXT
    ) -> CallFailure | None:
        """The failure reported inside a response with a good status; None if there is none."""
        reported = (
            document.get("type") == "error" or document.get("error") or _base_code(document) or _is_bare(document)
        )
        error = _error(document) if reported else {}
        if not error:
            return None
        names = _names(error, headers)
        line = one_line(f"{' '.join(names) or 'error'}: {_message(error)}")
        return self._failure(_embedded_status(error), error, headers, line, prompt)

    def _failure(
        self, status: int, error: Mapping[str, Any], headers: httpx2.Headers, line: str, prompt: PromptText
    ) -> CallFailure:
        names = _names(error, headers)
        message = f"{_message(error)} {_passed_on(error)}"
        inner = _wrapped_status(status, message)
        outcome = self._table.outcome(ReportedError(inner, names, message), prompt)
        understood = outcome is not None or inner >= _SERVER_ERROR
        if outcome is None and understood:
            outcome = CallOutcome.OVERLOADED
        elif outcome is None:
            outcome = CallOutcome.AUTHENTICATION if inner == _FORBIDDEN else CallOutcome.BAD_REQUEST
        code = next((name for key in ("code", "type", "status") if (name := _text(error.get(key))) in names), None)
        return CallFailure(
            outcome,
            line,
            _retry_after(headers, error),
            status,
            code or next(iter(names), None),
            understood,
        )


def error_status(document: Mapping[str, Any]) -> int:
    """HTTP's status of the error that a document reports."""
    return _embedded_status(_error(document))


def _embedded_status(error: Mapping[str, Any]) -> int:
    code = error.get("code")
    if isinstance(code, str) and code.isdecimal() and len(code) == len("400"):
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:  # noqa: PLR2004  (HTTP's statuses of errors)
        return code
    named = (_text(error.get(key)) for key in ("status", "type", "code"))
    return next((_STATUS_OF_TYPE[name] for name in named if name in _STATUS_OF_TYPE), _SERVER_ERROR)


def _wrapped_status(status: int, message: str) -> int:
    """The status that a gateway's 500 wraps, as the words say with which its message begins; else the status.

    Only its first words: what follows may quote the prompt.
    """
    if status != _SERVER_ERROR:
        return status
    at, found = 0, None
    while (wrapped := _WRAPPED.match(message, at)) and (
        message[at:].startswith("litellm.") or wrapped[1] in _STATUS_OF_WRAPPED
    ):
        at, found = wrapped.end(), _STATUS_OF_WRAPPED.get(wrapped[1], found)
    inner = _INNER_STATUS.match(message, at)
    return int(inner[1]) if inner else found or status


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
        return {**document, "message": error}
    if (code := _base_code(document)) is not None:
        return {"code": f"base_resp.{code}", "message": document["base_resp"].get("status_msg")}
    if first := next(iter(objects(document.get("errors"))), None):
        return first
    return document if document.get("message") or document.get("detail") else {}


def _is_bare(document: Mapping[str, Any]) -> bool:
    """Whether a document without `error` is one: vLLM's `object`, FastAPI's `detail` alone, Cloudflare's `success`."""
    return document.get("object") == "error" or document.get("success") is False or document.keys() == {"detail"}


def _base_code(document: Mapping[str, Any]) -> int | None:
    """The code with which MiniMax reports an error in a good response; None: it reports none."""
    reported = document.get("base_resp")
    code = reported.get("status_code") if isinstance(reported, dict) else None
    return code if isinstance(code, int) and code else None


def _names(error: Mapping[str, Any], headers: httpx2.Headers) -> tuple[str, ...]:
    """The error's types, codes and statuses, and the names of exhausted quotas, each once."""
    named = [error.get(key) for key in ("status", "type", "code", "error_type")]
    for holder in (error, error.get("provider_specific_fields")):
        inner = holder.get("innererror") if isinstance(holder, dict) else None
        named += [inner.get("code")] if isinstance(inner, dict) else []
    metadata = error.get("metadata")
    if isinstance(metadata, dict):  # OpenRouter's
        named += [metadata.get("limit_source"), "flagged_input" if "flagged_input" in metadata else None]
    named += [detail.get("reason") for detail in _details(error)]
    named += [*_quotas(error), headers.get("x-amzn-errortype", "").partition(":")[0]]
    return tuple(dict.fromkeys(name for one in named if _NAME.fullmatch(name := _text(one))))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _message(error: Mapping[str, Any]) -> str:
    """Its message: a text, or the texts of an object or a list, as of a validation."""
    return _said(error.get("message") or error.get("detail"))


def _said(value: object, depth: int = _DEEPEST) -> str:
    if isinstance(value, dict) and depth:
        return _said(
            next((value[key] for key in ("msg", "message", "detail", "error") if value.get(key)), ""), depth - 1
        )
    if isinstance(value, list) and depth:
        return "; ".join(filter(None, (_said(one, depth - 1) for one in value[:_MOST_MESSAGES])))
    return value if isinstance(value, str) else ""


def _passed_on(error: Mapping[str, Any]) -> str:
    """What stands behind a gateway said, as it passes it on."""
    metadata = error.get("metadata")
    return _text(metadata.get("raw")) if isinstance(metadata, dict) else ""


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
