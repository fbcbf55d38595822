"""Errors over HTTP: a status, and always the same two fields."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import Request
from starlette.routing import Match

from jury_actors.errors import ActorError, HeldElsewhere
from jury_events.errors import EventError, JuryError
from jury_events.unknown_fields import first_complaint, hint
from jury_judge.errors import (
    BranchTaken,
    DebateNotFound,
    JuryClosed,
    NotComparable,
    NotHeldHere,
    RunRefused,
    TooManyReaders,
    TooManySubmissions,
)
from jury_judge.views.visible_text import visible_line
from jury_replay.errors import DebateMissing
from jury_store.errors import StoreDamaged, StoreError

_STATUSES: tuple[tuple[type[JuryError], int], ...] = (
    (DebateNotFound, 404),
    (DebateMissing, 404),
    (NotComparable, 422),
    (NotHeldHere, 422),
    (RunRefused, 409),
    (BranchTaken, 409),
    (HeldElsewhere, 409),
    (TooManyReaders, 503),
    (TooManySubmissions, 503),
    (JuryClosed, 503),
    (StoreDamaged, 500),
    (StoreError, 503),
    (ActorError, 503),
    (EventError, 500),
    (JuryError, 422),
)
"""The first that fits. 422: what was asked for cannot be. 503: not now. 500: what is stored cannot be read."""

_FORM = "the form is described in /openapi.json"
_RETRY_AFTER = "10"
_METHOD = 405
_MESSAGE = 2000

_log = logging.getLogger(__name__)


class ErrorResponse(BaseModel):
    """Why a request was refused, and what to do about it (null where nothing can be said)."""

    model_config = ConfigDict(frozen=True)

    error: str
    remedy: str | None


class RequestRefused(HTTPException):
    """A request that an endpoint refuses."""

    def __init__(self, status: int, error: str, remedy: str | None) -> None:
        super().__init__(status, error)
        self.remedy = remedy


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For `responses=`: these statuses have a `ErrorResponse`."""
    return {status: {"model": ErrorResponse, "description": _MEANINGS[status]} for status in statuses}


_MEANINGS = {
    404: "There is no such thing in this store.",
    409: "It is there already, and is another.",
    413: "The request is too large.",
    415: "The request's body is not JSON.",
    422: "The request cannot be understood, or asks for what cannot be.",
    500: "What is stored cannot be read.",
    503: "Not now: too much is under way, or the store cannot be used. Come back after `Retry-After` seconds.",
}


def http_status(error: JuryError) -> int:
    """The HTTP status of an error of ours."""
    return next(status for kind, status in _STATUSES if isinstance(error, kind))


def error_response(error: BaseException) -> ErrorResponse:
    """The error in two fields: our messages say what happened, then, behind a semicolon, what to do."""
    if not isinstance(error, JuryError):
        return ErrorResponse(error=f"a defect: {type(error).__name__}", remedy="look into the server's log")
    said, _, remedy = visible_line(str(error), _MESSAGE).partition("; ")
    return ErrorResponse(error=said, remedy=remedy or None)


def add_error_handlers(app: FastAPI) -> None:
    """Have every error of `app` answered so."""

    async def ours(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, JuryError)
        return _answer(http_status(error), error_response(error))

    async def malformed(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return _answer(422, ErrorResponse(error=validation_message(error.errors(), _form_of(request)), remedy=_FORM))

    async def http(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, StarletteHTTPException)
        remedy = error.remedy if isinstance(error, RequestRefused) else "the addresses are in /openapi.json"
        problem = ErrorResponse(error=visible_line(str(error.detail), _MESSAGE), remedy=remedy)
        headers = {"Allow": _allowed(app, request)} if error.status_code == _METHOD else error.headers
        return _answer(error.status_code, problem, headers)

    async def defect(_request: Request, error: Exception) -> JSONResponse:
        _log.error("a request could not be answered", exc_info=error)
        return _answer(500, error_response(error))

    app.add_exception_handler(JuryError, ours)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(StarletteHTTPException, http)
    app.add_exception_handler(Exception, defect)


def _allowed(app: FastAPI, request: Request) -> str:
    """The methods of an address: each of them may be a route of its own (RFC 9110, 10.2.1)."""
    there = [route for route in app.routes if route.matches(request.scope)[0] is not Match.NONE]
    return ", ".join(sorted({method for route in there for method in getattr(route, "methods", None) or ()}))


def _answer(status: int, problem: ErrorResponse, headers: Mapping[str, str] | None = None) -> JSONResponse:
    retry = {"Retry-After": _RETRY_AFTER} if status == 503 else {}  # noqa: PLR2004  (service unavailable)
    return JSONResponse(problem.model_dump(), status, headers={**(headers or {}), **retry})


def _form_of(request: Request) -> Any:
    """The model that the body of this request must be one of; None where it has no body."""
    body = getattr(request.scope.get("route"), "body_field", None)
    return None if body is None else body.field_info.annotation


def validation_message(errors: Any, form: Any = None) -> str:
    """The first validation_message; what was sent is not said back, but for the field of `form` that it nearly is."""
    first = first_complaint(errors)
    place = ".".join(str(part) for part in first["loc"])
    near = hint({**first, "loc": first["loc"][1:]}, form)
    return visible_line(f"{place}: {first['msg'].removeprefix('Value error, ')}{near}", _MESSAGE)
