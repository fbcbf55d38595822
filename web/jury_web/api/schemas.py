"""What all schemas share."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Path, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.requests import HTTPConnection

from jury_events.ids import DEBATE_ID, RUN_ID
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import moment
from jury_judge import DebateRow, RunRow
from jury_judge.serving.service import Service
from jury_views.evaluation_models import assignment_object, review_objects
from jury_views.run_quotations import evidence_object
from jury_web.api.error_responses import RequestRefused
from jury_web.list_parameters import MOST_ROWS
from jury_web.middleware import RootedPath

T = TypeVar("T")

Moment = Annotated[str, Field(description="ISO 8601, UTC.", examples=["2026-01-31T09:00:00.000000Z"])]

JsonObject = dict[str, Any]

Metadata = Annotated[dict[str, str | bool | int | float], Field(description="Names and values as in the case file.")]

Score = Annotated[int, Field(ge=0, le=100)]


class CamelModel(BaseModel):
    """Fields in camelCase; unknown fields are refused."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid", frozen=True)


class Listing(CamelModel, Generic[T]):
    """A page of a list. `next` is the path of the next page, null on the last one."""

    rows: list[T]
    next: RootedPath | None


_NAMED_BY_DATA = frozenset({"scores", "probabilities", "ended_as", "metadata"})
"""Objects whose keys are data: rubric dimensions, verdict words, metadata of case files."""


def camel_case(value: Any) -> Any:
    """`value`, of dicts and lists, with its keys in camelCase."""
    if isinstance(value, dict):
        return {to_camel(key): inner if key in _NAMED_BY_DATA else camel_case(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [camel_case(inner) for inner in value]
    return value


class StrictRequest(Request):
    """A request with strictly parsed JSON."""

    async def json(self) -> Any:
        try:
            # In a thread, so that a body of megabytes does not delay live readers.
            return await asyncio.to_thread(_decoded, await self.body())
        except UnicodeDecodeError as error:
            raise RequestRefused(422, f"byte {error.start + 1} of the body is not UTF-8", "send UTF-8") from error
        except JsonRefused as error:
            raise RequestRefused(422, str(error), "send one JSON object") from error


def _decoded(body: bytes) -> Any:
    return decode_text(body.decode())


class StrictRoute(APIRoute):
    """A route with strict bodies."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See FastAPI, "Custom Request and APIRoute class"."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return strict


def _service(connection: HTTPConnection) -> Service:
    service = connection.app.state.service
    assert isinstance(service, Service)
    return service


Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]
ServiceDependency = Annotated[Service, Depends(_service)]
DebateId = Annotated[str, Path(pattern=f"^{DEBATE_ID}$", description="A debate's id.")]
RunId = Annotated[str, Path(pattern=f"^{RUN_ID}$", description="A run's id.")]


def debate_not_found(debate_id: str) -> RequestRefused:
    return RequestRefused(404, f"there is no debate {debate_id!r} in this store", "GET /api/debates lists the debates")


def require_debate(service: Service, debate_id: str) -> None:
    if not service.reader.has_debate(debate_id):
        raise debate_not_found(debate_id)


def row_table(row: DebateRow | RunRow) -> dict[str, Any]:
    """A row as a table for its schema: times in ISO 8601, no digests."""
    table = asdict(row)
    for bookkeeping in ("inherited_steps", "cached_calls", "evidence_values", "calls_at_most", "cost_at_most"):
        table.pop(bookkeeping, None)
    for name, value in list(table.items()):
        if isinstance(value, bytes):
            del table[name]
        elif name.endswith("_at") and value is not None:
            table[name] = moment(value, "microseconds")
    if isinstance(row, DebateRow):
        del table["waiting"]  # the status says it
        table["evidence"] = evidence_object(row.evidence)
        table["disposition"] = row.disposition
        table["reviews"] = review_objects(row.review_facts)
        table["assignments"] = [assignment_object(one) for one in row.assignments]
    return table
