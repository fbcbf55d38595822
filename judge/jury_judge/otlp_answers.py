"""Whether a collector took what it was sent by OTLP over HTTP. Needs the extra `otel`.

Source: OpenTelemetry Protocol Specification 1, "OTLP/HTTP Response". Success is status 200 with the export's response,
which is empty where all was taken; its `partial_success` says how much was refused. OpenTelemetry's exporters call
every answer below 400 a success.
"""

import json
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from requests import RequestException, Response, Session

from jury_events.scrubbing import known_scrubber
from jury_events.text import visible_line

_OK, _ERRORS = 200, 400
_SHOWN = 200


class Signal(NamedTuple):
    """What is exported.

    Attributes:
        name: in the names of the standard variables.
        response: the message that a collector answers with.
        rejected: the field of its `partial_success` with the number of refused records; its name in JSON.
    """

    name: str
    response: Any
    rejected: tuple[str, str]


class NotTaken(RequestException):
    """A collector answered, and did not take everything; the message says why, in words."""


class OtlpSession:
    """A session for one of OpenTelemetry's exporters, in which an answer that names no success is an error.

    Args:
        environ: the environment's variables; one may name a session with credentials.

    Attributes:
        session: to be given to the exporter, which raises `NotTaken` or returns that it failed.
        refusal: what the latest answer was, in words, where it was none that the exporter takes for an error.
    """

    def __init__(self, signal: Signal, environ: Mapping[str, str]) -> None:
        self._signal = signal
        self.refusal: str | None = None
        self.session = _session(signal, environ)
        self.session.hooks["response"].append(self._check)

    def _check(self, answer: Response, *_args: Any, **_options: Any) -> None:
        self.refusal = None
        if answer.status_code >= _ERRORS:
            return  # the exporter knows it, and may ask again
        self.refusal = self._fault(answer)
        if self.refusal is not None:
            self.session.close()  # its connections; the next request opens others
            raise NotTaken(self.refusal)

    def _fault(self, answer: Response) -> str | None:
        status = answer.status_code
        if status != _OK:
            place = _shown(answer.headers.get("location", ""))
            return f"it answered with status {status}" + (f", a redirect to {place}" if place else "")
        if not answer.content:
            return None
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        try:
            rejected, said = self._in_json(answer.content) if kind == "application/json" else self._in_protobuf(answer)
        except Exception:  # noqa: BLE001  (protobuf has its own errors, in a package of which no more is needed)
            return f"it answered with {_shown(kind) or 'something'} that is no answer of OTLP"
        if rejected == 0:
            return None
        return f"it refused {rejected} records" + (f": {_shown(said)}" if said else "")

    def _in_protobuf(self, answer: Response) -> tuple[int, str]:
        if answer.headers.get("content-type", "").startswith("text/"):
            raise ValueError("a text")
        partial = self._signal.response.FromString(answer.content).partial_success
        return int(getattr(partial, self._signal.rejected[0])), str(partial.error_message)

    def _in_json(self, content: bytes) -> tuple[int, str]:
        partial = json.loads(content).get("partialSuccess") or {}
        return int(partial.get(self._signal.rejected[1]) or 0), str(partial.get("errorMessage") or "")


def _shown(text: str) -> str:
    """What a collector said, without a secret, which it may repeat: cut afterwards."""
    return visible_line(known_scrubber().text(text), _SHOWN)


def _session(signal: Signal, environ: Mapping[str, str]) -> Session:
    """That of the credentials which a variable of OpenTelemetry names, as its exporters find it; else a plain one."""
    prefix, suffix = "OTEL_PYTHON_EXPORTER_OTLP_HTTP", "CREDENTIAL_PROVIDER"
    name = environ.get(f"{prefix}_{suffix}") or environ.get(f"{prefix}_{signal.name}_{suffix}")
    for found in entry_points(group="opentelemetry_otlp_credential_provider", name=name) if name else ():
        made = found.load()()
        if isinstance(made, Session):
            return made
    return Session()
