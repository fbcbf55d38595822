"""Cases sent to be judged: one, or many; answered at once with where to watch."""

import asyncio
from typing import Any, Literal

from fastapi import APIRouter, Response

from jury_events.case import Case
from jury_judge.cases.case_inputs import case_of
from jury_judge.cases.columns import with_snake_case_names
from jury_judge.errors import CaseFileError
from jury_judge.views.visible_text import visible_line
from jury_judge.web.api.forms import EvaluationAsked, Links, RunAsked, Under
from jury_judge.web.api.problems import Refused, described, problem_of
from jury_judge.web.api.serving import DebateName, RunName, Serving, no_debate
from jury_judge.web.api.strict_body import StrictRoute
from jury_judge.web.service import Service
from jury_judge.web.submissions import refuse_uris
from jury_store.debate_rows import ENDED

router = APIRouter(prefix="/api", tags=["submissions"], route_class=StrictRoute)

_REFUSALS = described(409, 413, 415, 422, 500, 503)


@router.post("/evaluations", operation_id="evaluate", status_code=202, responses=_REFUSALS)
async def evaluate(service: Serving, asked: EvaluationAsked, response: Response) -> Under:
    """Judge one case. The debate goes on after the answer; `Location` tells how it stands."""
    (case,) = await asyncio.to_thread(_cases, [asked.case], ["case"])
    submission = await service.submissions.evaluate(
        case, panel=asked.panel, run_id=asked.run_id, submission_id=asked.submission_id
    )
    return _accepted(response, submission.id, "running" if submission.running else "over", _debate_links(submission.id))


@router.get("/evaluations/{debate_id}", operation_id="readEvaluation", responses=described(404, 422, 503))
def evaluation(service: Serving, debate_id: DebateName) -> Under:
    """How an evaluation stands."""
    row = service.store.debate(debate_id)
    over = row is not None and row.status in ENDED
    return _under(service, "evaluation", debate_id, known=row is not None, over=over, links=_debate_links(debate_id))


@router.post("/runs", operation_id="startRun", status_code=202, responses=_REFUSALS)
async def start_run(service: Serving, asked: RunAsked, response: Response) -> Under:
    """Judge many cases, a debate each. The run goes on after the answer; `Location` tells how it stands."""
    places = [f"cases.{number}" for number in range(len(asked.cases))]
    cases = await asyncio.to_thread(_cases, asked.cases, places)
    submission = await service.submissions.run(
        cases, panel=asked.panel, run_id=asked.run_id, concurrency=asked.concurrency
    )
    return _accepted(response, submission.id, "running" if submission.running else "over", _run_links(submission.id))


@router.get("/runs/{run_id}/state", operation_id="readRunState", responses=described(404, 422, 503))
def run_state(service: Serving, run_id: RunName) -> Under:
    """How a run stands, as far as it is known here: it is over when all cases that were sent are."""
    there = bool(service.store.debates(run_id=run_id, limit=1))
    left = bool(service.store.debates(run_id=run_id, unfinished=True, limit=1))
    return _under(service, "run", run_id, known=there, over=there and not left, links=_run_links(run_id))


def _cases(tables: list[dict[str, Any]], places: list[str]) -> list[Case]:
    cases = []
    seen: set[str] = set()
    for number, (table, place) in enumerate(zip(tables, places, strict=True), start=1):
        try:
            case = case_of(with_snake_case_names(table), "case" if len(tables) == 1 else f"case-{number}")
        except CaseFileError as error:
            raise CaseFileError(f"{place}: {error}") from error
        if case.case_id in seen:
            raise CaseFileError(
                f"{place}: the case id {visible_line(case.case_id, 120)!r} was sent before; give each case its own"
            )
        seen.add(case.case_id)
        cases.append(case)
    refuse_uris(cases)
    return cases


def _accepted(response: Response, name: str, state: Literal["running", "over"], links: Links) -> Under:
    response.headers["Location"] = links.state
    return Under(id=name, state=state, links=links)


def _under(
    service: Service, kind: Literal["evaluation", "run"], name: str, *, known: bool, over: bool, links: Links
) -> Under:
    submission = service.submissions.find(kind, name)
    if submission is not None and submission.running:
        return Under(id=name, state="running", links=links)
    if submission is not None and submission.problem is not None and not (over and kind == "evaluation"):
        problem = problem_of(submission.problem)
        said = problem.error if problem.remedy is None else f"{problem.error}; {problem.remedy}"
        return Under(id=name, state="stopped", problem=said, links=links)
    if not known:
        if kind == "evaluation":
            raise no_debate(name)
        raise Refused(404, f"there is no run {name!r} in this store", "GET /api/runs lists those that there are")
    return Under(id=name, state="over" if over else "unfinished", links=links)


def _debate_links(debate_id: str) -> Links:
    base = f"/api/debates/{debate_id}"
    return Links(
        state=f"/api/evaluations/{debate_id}",
        debate=base,
        events=f"{base}/events",
        live=f"{base}/live",
        ws=f"{base}/ws",
    )


def _run_links(run_id: str) -> Links:
    return Links(state=f"/api/runs/{run_id}/state", run=f"/api/runs/{run_id}", debates=f"/api/debates?run={run_id}")
