"""Error responses: a status, and always the fields `error` and `remedy`."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from jury_events.errors import Failure, JuryError, Worded
from jury_events.text import visible_line
from jury_events.unknown_fields import first_error, hint
from jury_judge.errors import TooManyReviews
from jury_web.middleware import wants_page
from jury_web.pages.page_request import NO_PAGE, problem_page

_STATUSES: Mapping[Failure, int] = {
    Failure.REFUSED: 422,
    Failure.MISSING: 404,
    Failure.TAKEN: 409,
    Failure.NOT_INSTALLED: 501,
    Failure.UNAVAILABLE: 503,
    Failure.STOPPED: 503,
    Failure.ALTERED: 500,
}

_IN_QUERIES = {"true": "claim", "rate_of": "of", "include_simulated": "include_simulated"}
"""Settings that a path's query has, by its own names; a body has them in camelCase."""

_SCHEMA = "the schema is in /openapi.json"
_RETRY_AFTER = "10"
_AGAIN_LATER = frozenset({429, 503})
_METHOD = 405
_NO_ROUTE = 404
_TOO_MANY = 429
_MESSAGE = 2000

_log = logging.getLogger(__name__)


class ApiError(BaseModel):
    """Why a request failed, and the remedy (null where there is none)."""

    model_config = ConfigDict(frozen=True)

    error: str
    remedy: str | None


class RequestRefused(HTTPException):
    """Raised by an endpoint that refuses a request."""

    def __init__(self, status: int, error: str, remedy: str | None) -> None:
        super().__init__(status, error)
        self.remedy = remedy


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For `responses=` of a route: these statuses have an `ApiError`."""
    return {status: {"model": ApiError, "description": _MEANINGS[status]} for status in statuses}


_MEANINGS = {
    403: "The token does not allow it.",
    404: "Not found in this store.",
    409: "It exists already, with other content.",
    413: "The request is too large.",
    415: "The request's body is not JSON.",
    422: "The request is malformed or impossible.",
    429: "Too many of this reviewer's reviews wait. Try again after `Retry-After` seconds.",
    500: "Stored data cannot be read.",
    501: "The packages of an extra are not installed where the server runs.",
    503: "The server is overloaded or the store is not available. Try again after `Retry-After` seconds.",
}


def http_status(error: JuryError) -> int:
    return _TOO_MANY if isinstance(error, TooManyReviews) else _STATUSES[error.failure]


def _named(setting: str) -> str:
    return _IN_QUERIES.get(setting) or to_camel(setting)


def error_response(error: BaseException) -> ApiError:
    """The two fields of an error; messages of `JuryError` have the remedy after a semicolon."""
    if not isinstance(error, JuryError):
        return ApiError(error=f"internal error: {type(error).__name__}", remedy="see the server's log")
    text, unsaid = str(error), None
    if isinstance(error, Worded):
        text, unsaid = error.worded(_named), _SCHEMA
    message, _, remedy = visible_line(text, _MESSAGE).partition("; ")
    return ApiError(error=message, remedy=remedy or unsaid)


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error of `app` with an `ApiError`."""

    async def ours(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, JuryError)
        return _answer(http_status(error), error_response(error))

    async def malformed(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return _answer(422, ApiError(error=validation_message(error.errors(), _body_schema(request)), remedy=_SCHEMA))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, StarletteHTTPException)
        if error.status_code == _NO_ROUTE and not isinstance(error, RequestRefused) and wants_page(request.scope):
            return problem_page(request, error.status_code, NO_PAGE)
        remedy = error.remedy if isinstance(error, RequestRefused) else "/openapi.json lists the paths"
        problem = ApiError(error=visible_line(str(error.detail), _MESSAGE), remedy=remedy)
        headers = {"Allow": _allowed(app, request)} if error.status_code == _METHOD else error.headers
        return _answer(error.status_code, problem, headers)

    async def defect(_request: Request, error: Exception) -> JSONResponse:
        _log.error("a request failed", exc_info=error)
        return _answer(500, error_response(error))

    app.add_exception_handler(JuryError, ours)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(StarletteHTTPException, http)
    app.add_exception_handler(Exception, defect)


def _allowed(app: FastAPI, request: Request) -> str:
    """The methods of a path, each of which may be another route (RFC 9110, 10.2.1)."""
    matching = [route for route in app.routes if route.matches(request.scope)[0] is not Match.NONE]
    return ", ".join(sorted({method for route in matching for method in getattr(route, "methods", None) or ()}))


def _answer(status: int, problem: ApiError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    retry = {"Retry-After": _RETRY_AFTER} if status in _AGAIN_LATER else {}
    return JSONResponse(problem.model_dump(), status, headers={**(headers or {}), **retry})


def _body_schema(request: Request) -> Any:
    body = getattr(request.scope.get("route"), "body_field", None)
    return None if body is None else body.field_info.annotation


def validation_message(errors: Any, schema: Any = None) -> str:
    """The first validation error, without the value; for an unknown field, with the nearest field of `schema`."""
    first = first_error(errors)
    place = ".".join(str(part) for part in first["loc"])
    near = hint({**first, "loc": first["loc"][1:]}, schema)
    return visible_line(f"{place}: {first['msg'].removeprefix('Value error, ')}{near}", _MESSAGE)
