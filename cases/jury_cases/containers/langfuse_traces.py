"""Traces of a Langfuse project as rows: `langfuse://traces/ID` and `langfuse://traces?tag=…&from=…`.

Read through `GET /api/public/v2/observations`, page by page: first the root observations that meet the conditions, then
all observations of each of their traces. The keys are those of the environment.
"""

import json
import os
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx2

from jury_cases.containers.row import FileRow, RowSource
from jury_cases.errors import CaseFileError
from jury_events.errors import SettingError
from jury_events.nearest import did_you_mean
from jury_events.scrubbing import Scrubber, known_scrubber
from jury_events.text import visible_line

CLOUD = "https://cloud.langfuse.com"
_PUBLIC, _SECRET = "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"
_TOO_MANY, _SERVER_ERRORS = 429, 500
_TRIES = 5
_LONGEST_WAIT = 60.0
_SECONDS = 60.0
_SHOWN = 200


class LangfuseRefused(CaseFileError):
    """Langfuse did not answer, or refused a request; the message names the address and the reason, never a key."""


class LangfuseApi:
    """Requests of one project. What fails for now is asked again, a few times, as `Retry-After` says.

    Args:
        sleep: waits between attempts, in seconds.
    """

    def __init__(
        self, base_url: str, public_key: str, secret_key: str, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.base_url = base_url.rstrip("/")
        if not self.base_url.startswith(("http://", "https://")):
            raise SettingError(f"LANGFUSE_BASE_URL: {visible_line(base_url, _SHOWN)} is no http or https URL")
        self._auth = (public_key, secret_key)
        self._scrubber = Scrubber((secret_key, b64encode(f"{public_key}:{secret_key}".encode()).decode()))
        self._sleep = sleep

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "LangfuseApi":
        """That of the environment's variables."""
        for name in (_PUBLIC, _SECRET):
            if not environ.get(name):
                raise SettingError(f"{name} is not set; the settings of a Langfuse project show its API keys")
        base_url = environ.get("LANGFUSE_BASE_URL") or environ.get("LANGFUSE_HOST") or CLOUD
        return cls(base_url, environ[_PUBLIC], environ[_SECRET])

    def get(self, path: str, **asked: Any) -> dict[str, Any]:
        """The JSON object at a path."""
        return self._object(path, self._send("GET", path, params=_given(asked)))

    def post(self, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        """Send JSON; returns the status, 200 to 299, and the JSON object of the answer."""
        answer = self._send("POST", path, json=body)
        return answer.status_code, self._object(path, answer)

    def quoted(self, text: str) -> str:
        """What the server said, without the keys, whole or as they are sent: to be cut afterwards."""
        return self._scrubber.text(known_scrubber().text(text))

    def _object(self, path: str, answer: httpx2.Response) -> dict[str, Any]:
        try:
            found = answer.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise LangfuseRefused(f"Langfuse at {self.base_url}{path} answered with no JSON object")
        return found

    def _send(self, method: str, path: str, **request: Any) -> httpx2.Response:
        said, wait = "", 0.0
        for attempt in range(_TRIES):
            self._sleep(wait)
            wait = min(2.0**attempt, _LONGEST_WAIT)
            try:
                answer = httpx2.request(
                    method, self.base_url + path, auth=self._auth, timeout=_SECONDS, follow_redirects=False, **request
                )
            except httpx2.HTTPError as error:
                said = type(error).__name__
                continue
            if answer.is_success:
                return answer
            place = answer.headers.get("location")
            shown = f"a redirect to {place}; set LANGFUSE_BASE_URL" if place and answer.is_redirect else answer.text
            said = f"HTTP {answer.status_code}: {visible_line(self.quoted(shown), _SHOWN)}"
            if answer.status_code != _TOO_MANY and answer.status_code < _SERVER_ERRORS:
                break
            wait = _retry_after(answer, wait)
        raise LangfuseRefused(f"Langfuse at {self.base_url}{path}: {said}")


def _given(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if value is not None}


def _retry_after(answer: httpx2.Response, otherwise: float) -> float:
    try:
        return min(max(float(answer.headers.get("retry-after", "")), 0.0), _LONGEST_WAIT)
    except ValueError:
        return otherwise


_PATH = "/api/public/v2/observations"
_FIELDS = "core,basic,time,io,metadata,model,usage,trace_context"
_PAGE = 100
_COLUMNS = {"name": "traceName", "session": "sessionId", "user": "userId", "environment": "environment"}
_TIMES = {"from": ">=", "to": "<"}
_KNOWN = ("tag", *_COLUMNS, *_TIMES, "limit")
_ROOTS = {"type": "boolean", "column": "isRootObservation", "operator": "=", "value": True}
_MOST = 10**9
_FORMS = "write langfuse://traces/ID, or langfuse://traces?tag=TAG&name=NAME&from=2026-11-01&limit=100"


def read_rows(path: str, environ: Mapping[str, str] | None = None) -> Iterator[FileRow]:
    """The observations of the traces, those of one trace after those of another; one page in memory at a time.

    Without `to` no later trace is read than were there when this process first asked: so every reading of a run has the
    same traces.

    Args:
        environ: the environment's variables, with the keys; None is `os.environ`.
    """
    name = visible_line(path, 1000)
    one, conditions, limit = _asked(path, name)
    api = LangfuseApi.of(os.environ if environ is None else environ)
    origin = RowSource(name, "langfuse")
    number = 0
    for trace in [one] if one else _trace_ids(api, conditions, limit):
        for row in _pages(api, traceId=trace, fields=_FIELDS):
            number += 1
            yield origin.numbered(number, row, f"observation {visible_line(str(row.get('id')), 200)}")


def _asked(path: str, name: str) -> tuple[str, list[dict[str, Any]], int | None]:
    """The id of the one trace ("": several), or conditions on root observations, and how many traces at most."""
    parts = urlsplit(path)
    if parts.netloc != "traces" or parts.fragment:
        raise CaseFileError(f"{name}: names no traces; {_FORMS}")
    trace = unquote(parts.path.strip("/"))
    if trace and (parts.query or "/" in trace):
        raise CaseFileError(f"{name}: names one trace and conditions; {_FORMS}")
    given = parse_qsl(parts.query, keep_blank_values=True)
    found = [_ROOTS, *(_condition(key, value, name) for key, value in given if key not in {"tag", "limit"})]
    if tags := [value for key, value in given if key == "tag"]:
        found.append({"type": "arrayOptions", "column": "traceTags", "operator": "all of", "value": tags})
    if "to" not in dict(given):
        found.append({"type": "datetime", "column": "startTime", "operator": "<", "value": _first_asked()})
    limit = dict(given).get("limit")
    if limit is not None and not (limit.isascii() and limit.isdigit() and 0 < int(limit) <= _MOST):
        raise CaseFileError(f"{name}: limit: must be a whole number from 1 on")
    return trace, found, None if limit is None else int(limit)


def _condition(key: str, value: str, name: str) -> dict[str, Any]:
    if key in _COLUMNS:
        return {"type": "string", "column": _COLUMNS[key], "operator": "=", "value": value}
    if key in _TIMES:
        return {
            "type": "datetime",
            "column": "startTime",
            "operator": _TIMES[key],
            "value": _time(value, key, name),
        }
    shown = f"{visible_line(key, 60)!r}{did_you_mean(key, _KNOWN)}"
    raise CaseFileError(f"{name}: there is no condition {shown}; the conditions are {', '.join(_KNOWN)}")


def _time(text: str, key: str, name: str) -> str:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise CaseFileError(f"{name}: {key}: must be a day or a time, as 2026-11-01 or 2026-11-01T12:00:00Z") from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).isoformat()


@cache
def _first_asked() -> str:
    return datetime.now(UTC).isoformat()


def _trace_ids(api: LangfuseApi, conditions: list[dict[str, Any]], limit: int | None) -> Iterator[str]:
    seen: set[str] = set()  # a trace may have several roots
    for row in _pages(api, filter=json.dumps(conditions), fields="core"):
        trace = row.get("traceId")
        if isinstance(trace, str) and trace not in seen:
            if limit is not None and len(seen) == limit:
                return
            seen.add(trace)
            yield trace


def _pages(api: LangfuseApi, **asked: str) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        page = api.get(_PATH, **asked, limit=_PAGE, cursor=cursor)
        rows, meta = page.get("data"), page.get("meta")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise CaseFileError(f"Langfuse at {api.base_url}{_PATH} answered with no list of observations")
        yield from rows
        following = meta.get("cursor") if isinstance(meta, dict) else None
        if following is None:
            return
        if following == cursor:
            raise CaseFileError(f"Langfuse at {api.base_url}{_PATH} gives the same page again")
        cursor = following
