"""Langfuse's public API over HTTP, with the keys of a project.

Source: the API reference of Langfuse, and its SDK 5: `LANGFUSE_PUBLIC_KEY`, `LANGFUSE_SECRET_KEY`, `LANGFUSE_BASE_URL`
(`LANGFUSE_HOST` in earlier versions).
"""

import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

import httpx2

from jury_cases.errors import CaseFileError
from jury_events.errors import SettingError
from jury_events.known_secrets import known_scrubber
from jury_events.scrubbing import Scrubber
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
