"""Endpoints that submit cases. They answer at once, with links to the debate or run."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field, SkipValidation, StringConstraints

from jury_events.case import Case
from jury_events.value import Label, NewRunId
from jury_events.verdict_scale import VerdictScale
from jury_judge.serving.submissions import Kind, SubmissionState
from jury_judge.serving.submitted_cases import refuse_uris, submitted_cases
from jury_judge.settings.run import MOST_SUBMITTED_AT_ONCE, SubmissionSettings
from jury_web.api.error_responses import RequestRefused, error_response, error_responses
from jury_web.api.schemas import (
    CamelModel,
    DebateId,
    JsonObject,
    RunId,
    ServiceDependency,
    StrictRoute,
    debate_not_found,
)
from jury_web.middleware import RootedPath

MOST_CASES = 10_000
"""Of a run that is submitted in one request."""

PanelName = Annotated[str, StringConstraints(min_length=1, max_length=500)]
RowFormat = Annotated[
    str | JsonObject | None,
    Field(description="The format of the rows: its name, or the content of a format file. By default recognised."),
]
RunName = Annotated[NewRunId | None, SkipValidation]
"""Described here, checked by `SubmissionSettings`: a setting has the same rules at every front door."""


class EvaluationRequest(CamelModel):
    """One case to judge."""

    case: Annotated[
        JsonObject,
        Field(
            description="A case as in a JSON case file: `question`, `response` or `messages`, and optional fields.",
            examples=[{"case_id": "refund-17", "question": "Refund order 17.", "response": "Refunded."}],
        ),
    ]
    format: RowFormat = None
    panel: Annotated[PanelName | None, Field(description="One of the server's panels; the first by default.")] = None
    run_id: Annotated[RunName, Field(description="The same run and case id again resume the debate.")] = None
    submission_id: Annotated[Label | None, Field(description="The `submission_id` of its live events.")] = None

    @property
    def settings(self) -> SubmissionSettings:
        return SubmissionSettings.of(run_id=self.run_id)


class RunRequest(CamelModel):
    """Many cases to judge, one debate each."""

    cases: Annotated[
        list[JsonObject], Field(min_length=1, max_length=MOST_CASES, description="Each like `case` of an evaluation.")
    ]
    format: RowFormat = None
    panel: Annotated[PanelName | None, Field(description="One of the server's panels; the first by default.")] = None
    run_id: Annotated[RunName, Field(description="The same id with the same cases resumes the run.")] = None
    concurrency: Annotated[
        Annotated[int, Field(ge=1, le=MOST_SUBMITTED_AT_ONCE)] | None,
        SkipValidation,
        Field(description="Debates that run at once; of the first request for a run, also after a restart."),
    ] = None

    @property
    def settings(self) -> SubmissionSettings:
        at_once = {} if self.concurrency is None else {"concurrency": self.concurrency}
        return SubmissionSettings.of(run_id=self.run_id, **at_once)


class Links(CamelModel):
    """Paths of related resources."""

    state: RootedPath
    debate: RootedPath | None = None
    events: RootedPath | None = None
    live: RootedPath | None = None
    ws: RootedPath | None = None
    run: RootedPath | None = None
    debates: RootedPath | None = None


class SubmissionStatus(CamelModel):
    """The status of an evaluation or a run.

    running: this server executes it, or `process` does. waiting: it goes on by itself; `problem` says what keeps it.
    finished: nothing is left to do. stopped: `problem` stopped it; the same request goes on. unfinished: no server goes
    on with it by itself.
    """

    id: str
    state: Literal["running", "waiting", "finished", "stopped", "unfinished"]
    problem: Annotated[
        str | None, Field(description="The error that stopped it, or what it waits for, with the remedy.")
    ] = None
    process: Annotated[str | None, Field(description="The process that runs it, where that is not this server.")] = None
    listed: Annotated[int | None, Field(description="Of a run: how many debates its list has.")] = None
    complete: Annotated[bool | None, Field(description="Of a run: whether its list is; false: more may be added.")] = (
        None
    )
    links: Links


router = APIRouter(prefix="/api", tags=["submissions"], route_class=StrictRoute)

_REFUSALS = error_responses(409, 413, 415, 422, 500, 503)


@router.post("/evaluations", operation_id="evaluate", status_code=202, responses=_REFUSALS)
async def evaluate(service: ServiceDependency, request: EvaluationRequest, response: Response) -> SubmissionStatus:
    """Judge one case. The debate runs on after the response; `Location` is its status."""
    settings = request.settings
    scale = service.submissions.scale(request.panel)
    (case,) = await asyncio.to_thread(_cases, [request.case], ["case"], scale, request.format)
    debate = await service.submissions.evaluate(
        case, panel=request.panel, run_id=settings.run_id, submission_id=request.submission_id
    )
    return await _accepted(service, response, "evaluation", debate, _debate_links(debate))


@router.get("/evaluations/{debate_id}", operation_id="readEvaluation", responses=error_responses(404, 422, 503))
def evaluation(service: ServiceDependency, debate_id: DebateId) -> SubmissionStatus:
    """The status of an evaluation; by a ladder of stages the links are those of the last stage that was opened."""
    found = service.submission_states.read("evaluation", debate_id)
    if found is None:
        raise debate_not_found(debate_id)
    latest = service.submission_states.latest_debate(debate_id)
    return _status(debate_id, found, _debate_links(debate_id, latest))


@router.post("/runs", operation_id="startRun", status_code=202, responses=_REFUSALS)
async def start_run(service: ServiceDependency, request: RunRequest, response: Response) -> SubmissionStatus:
    """Judge many cases, one debate each. The run continues after the response; `Location` is its status."""
    settings = request.settings
    places = [f"cases.{number}" for number in range(len(request.cases))]
    scale = service.submissions.scale(request.panel)
    cases = await asyncio.to_thread(_cases, request.cases, places, scale, request.format)
    name = await service.submissions.run(
        cases, panel=request.panel, run_id=settings.run_id, concurrency=settings.asked_at_once
    )
    return await _accepted(service, response, "run", name, _run_links(name))


@router.get("/runs/{run_id}/state", operation_id="readRunState", responses=error_responses(404, 422, 503))
def run_state(service: ServiceDependency, run_id: RunId) -> SubmissionStatus:
    """The status of a run: finished when all of its cases are, or when it was cancelled."""
    found = service.submission_states.read("run", run_id)
    if found is None:
        raise RequestRefused(404, f"there is no run {run_id!r} in this store", "GET /api/runs lists the runs")
    return _status(run_id, found, _run_links(run_id))


def _cases(
    tables: list[dict[str, Any]], places: list[str], scale: VerdictScale | None, form: str | dict[str, Any] | None
) -> list[Case]:
    cases = submitted_cases(tables, places, scale, form)
    refuse_uris(cases)
    return cases


async def _accepted(
    service: ServiceDependency, response: Response, kind: Kind, name: str, links: Links
) -> SubmissionStatus:
    response.headers["Location"] = links.state
    found = await asyncio.to_thread(service.submission_states.read, kind, name)
    assert found is not None, "its debates are open"
    return _status(name, found, links)


def _status(name: str, found: SubmissionState, links: Links) -> SubmissionStatus:
    message = None
    if found.problem is not None:
        problem = error_response(found.problem)
        message = problem.error if problem.remedy is None else f"{problem.error}; {problem.remedy}"
    return SubmissionStatus(
        id=name,
        state=found.state,
        problem=message,
        process=found.process,
        listed=found.listed,
        complete=found.complete,
        links=links,
    )


def _debate_links(debate_id: str, latest: str | None = None) -> Links:
    base = f"/api/debates/{latest or debate_id}"
    return Links(
        state=f"/api/evaluations/{debate_id}",
        debate=base,
        events=f"{base}/events",
        live=f"{base}/live",
        ws=f"{base}/ws",
    )


def _run_links(run_id: str) -> Links:
    return Links(state=f"/api/runs/{run_id}/state", run=f"/api/runs/{run_id}", debates=f"/api/debates?run={run_id}")
