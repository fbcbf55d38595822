"""Endpoints for drift checks."""

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse

from jury_events.ids import RUN_ID
from jury_views.drift_view import drift_object
from jury_web.api.dependencies import ServiceDependency
from jury_web.api.error_responses import error_responses
from jury_web.api.schemas.base import camel_case

router = APIRouter(prefix="/api")

DriftId = Annotated[str, Path(pattern=f"^{RUN_ID}$", description="A baseline's id.")]


@router.get("/drift", operation_id="listDrift", tags=["drift"], responses=error_responses(500, 503))
def baselines(service: ServiceDependency) -> JSONResponse:
    """The baselines of drift checks, and what their last checks found, as `jury drift list --json`."""
    return JSONResponse({"rows": [camel_case(drift_object(one, checks=False)) for one in service.reader.drifts()]})


@router.get(
    "/drift/{drift_id}", operation_id="readDrift", tags=["drift"], responses=error_responses(404, 422, 500, 503)
)
def baseline(service: ServiceDependency, drift_id: DriftId) -> JSONResponse:
    """A baseline and its checks, as `jury drift show --json`; every decision is computed again from the votes."""
    return JSONResponse(camel_case(drift_object(service.reader.drift(drift_id))))
