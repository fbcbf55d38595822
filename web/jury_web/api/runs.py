"""Endpoints for runs, drift checks, comparisons, and the health of the server."""

import asyncio
from importlib.metadata import version
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field

from jury_events.errors import DebateNotFound, JuryError
from jury_events.evaluation import Decisive
from jury_events.ids import DEBATE_ID, RUN_ID
from jury_events.verdict import FAIL
from jury_judge import AnalysisError
from jury_judge.comparisons.comparing import ComparedDebates, Kind, debates_object, runs_object
from jury_judge.errors import ExtraMissing, RunTooLarge
from jury_judge.runs.live_run import live_object
from jury_judge.settings.statistics import Count
from jury_views.drift_view import drift_object
from jury_web.api.debates import DebateCounts, DebateTotals
from jury_web.api.error_responses import RequestRefused, error_responses
from jury_web.api.schemas import (
    CamelModel,
    JsonObject,
    Limit,
    Listing,
    Moment,
    RunId,
    ServiceDependency,
    camel_case,
    row_table,
)
from jury_web.list_parameters import AT_MOST, MOST_ROWS
from jury_web.pages.run_page import LATEST


class RunSummary(DebateCounts):
    """One run. `firstAt` is the first opening, `begunAt` the first beginning; `cases` is null where it is unknown."""

    run_id: str
    position: Annotated[int, Field(ge=1, description="Of the opening event of its first debate.")]
    first_at: Moment
    begun_at: Moment | None
    last_at: Moment
    cancelled_by: Annotated[str | None, Field(description="Who cancelled the run, which was not reopened since.")]
    cases: int | None


class SeatQuotationSummary(CamelModel):
    """The quotations of a seat by result; `unsupported` of its `failing` evaluations have none that stands."""

    juror_id: Annotated[str | None, Field(description="null: the final judge.")]
    evaluations: Annotated[int, Field(description="That were asked for evidence.")]
    verified: int
    normalised: int
    elsewhere: int
    not_found: int
    failing: int
    unsupported: int


class CitedItemSummary(CamelModel):
    """An item of a case: the quotations that stand in it, over all debates of the case."""

    case_id: str
    debate_id: Annotated[str, Field(description="The newest of these debates.")]
    item: int
    quotations: int
    speaks_for: Annotated[int, Field(description="Quotations for the agent.")]
    speaks_against: Annotated[int, Field(description="Quotations against the agent.")]
    decisive: Annotated[int, Field(description="Seats that call it decisive in the end.")]


class RunQuotationSummary(CamelModel):
    """What the jurors of a run quote, in the `debates` of `lookedAt` that were asked for evidence."""

    looked_at: int
    debates: int
    seats: list[SeatQuotationSummary]
    decisive: Annotated[
        dict[Decisive, int], Field(description="Debates by whether the seats that name a decisive item name the same.")
    ]
    items: Annotated[list[CitedItemSummary], Field(description="Cited most, 10 at most.")]


class RunProcess(CamelModel):
    """The process that executes a run. `detached`: it belongs to no terminal."""

    process: str
    since: str | None
    detached: bool


class ProviderFigures(CamelModel):
    """Recent calls of a provider; `failed` gave no answer. Latencies in seconds."""

    provider: str
    calls: int
    failed: int
    mean_latency: float
    longest_latency: float


class RecentFigures(CamelModel):
    """What was recorded of a run in the last `seconds`. Rates are null over no time."""

    seconds: float
    debates_ended: int
    debates_per_second: float | None
    calls: int
    calls_per_second: float | None
    retries: Annotated[int, Field(description="Calls after a failed attempt.")]
    abstentions: int
    cost: Annotated[float, Field(description="US dollars, without the calls of unknown cost.")]
    unknown_cost: int
    providers: list[ProviderFigures]
    slowest_provider: Annotated[str | None, Field(description="By mean latency.")]


class RunSeat(CamelModel):
    """A seat of a running run; calls by provider, null where its jurors do not answer now."""

    juror_id: Annotated[str | None, Field(description="null: the final judge.")]
    steps: Annotated[int, Field(description="Requested, without a result yet.")]
    queued: Annotated[int, Field(description="Messages that wait to be sent to its jurors.")]
    calling: dict[str, int] | None
    waiting: Annotated[dict[str, int] | None, Field(description="Calls that wait for a permit.")]


class RunMemory(CamelModel):
    """What the process that executes a run did at `at`."""

    at: str
    debates: int
    appends: Annotated[int, Field(description="Appends that wait to be stored.")]
    seats: list[RunSeat]


class RunBatches(CamelModel):
    """The open batches of a run."""

    wave: Annotated[int, Field(description="Of the run, from 1.")]
    batches: int
    calls: Annotated[dict[str, int], Field(description="By the stage of their batch.")]
    since: Annotated[str, Field(description="When the oldest was prepared.")]
    most: Annotated[float, Field(description="US dollars that the calls can cost at most.")]


class RunFigures(DebateTotals):
    """The live figures of a run."""

    run_id: str
    at: str
    state: Annotated[
        Literal["running", "complete", "incomplete", "unknown"],
        Field(description="`unknown`: how many debates the run is to have is not known."),
    ]
    holder: RunProcess | None
    cancelled_by: Annotated[str | None, Field(description="Who cancelled the run, which was not reopened since.")]
    cases: int | None
    ended: int
    not_begun: Annotated[int | None, Field(description="null where the number of cases is unknown.")]
    unrecorded_calls: Annotated[int, Field(description="Sent and not recorded, at most; not in `calls`.")]
    unrecorded_cost: Annotated[float, Field(description="US dollars of these at most; not in `cost`.")]
    phases: Annotated[dict[str, int], Field(description="Debates that are not over, by status.")]
    recent: RecentFigures
    eta_seconds: float | None
    eta_reason: Annotated[str | None, Field(description="Why there is no `etaSeconds`.")]
    process: Annotated[RunMemory | None, Field(description="Figures from the memory of that process.")]
    process_reason: Annotated[str | None, Field(description="Why there is no `process`.")]
    batches: Annotated[RunBatches | None, Field(description="null: no call is in a batch.")] = None


class Comparison(CamelModel):
    """Two debates or two runs; the other fields are those of `jury compare --json`."""

    model_config = ConfigDict(extra="allow")

    kind: Literal["debates", "runs"]
    a: JsonObject
    b: JsonObject


class StoreWriter(CamelModel):
    """The process that writes to a SQLite store."""

    pid: int
    run: str
    since: str


class Health(CamelModel):
    """The health of the server."""

    status: Literal["ok", "store unreachable"]
    version: str
    schema_number: Annotated[str, Field(alias="schema", description="Of the store.")]
    last_position: Annotated[int | None, Field(description="Of the newest event; null where the store cannot be read.")]
    writer: Annotated[StoreWriter | None, Field(description="null where there is none, or the store is not a file.")]
    panels: Annotated[list[str], Field(description="Panels of this server; none where it is read-only.")]
    readers: int
    running: int


router = APIRouter(prefix="/api")

EitherName = Annotated[str, Query(pattern=f"^{DEBATE_ID}$", description="The id of a debate or of a run.")]


@router.get("/runs", operation_id="listRuns", tags=["runs"], responses=error_responses(422, 503))
def runs(
    service: ServiceDependency,
    before: Annotated[int | None, Query(ge=1, le=AT_MOST)] = None,
    limit: Limit = MOST_ROWS,
) -> Listing[RunSummary]:
    """Runs, newest first, in pages."""
    older = service.reader.runs(before)
    rows = [RunSummary.model_validate(row_table(row)) for row in older[:limit]]
    more = f"/api/runs?before={rows[-1].position}&limit={limit}" if len(older) > limit else None
    return Listing[RunSummary](rows=rows, next=more)


@router.get("/runs/{run_id}", operation_id="readRun", tags=["runs"], responses=error_responses(404, 422, 503))
def run(service: ServiceDependency, run_id: RunId) -> RunSummary:
    """The counts of one run."""
    found = service.reader.run(run_id)
    if found is None:
        raise RequestRefused(404, f"there is no run {run_id!r} in this store", "GET /api/runs lists the runs")
    return RunSummary.model_validate(row_table(found))


@router.get("/runs/{run_id}/live", operation_id="readLiveRun", tags=["runs"], responses=error_responses(404, 422, 503))
def live_run(service: ServiceDependency, run_id: RunId) -> RunFigures:
    """The live figures of one run, at most a second old: phases, rate, cost, time left, calls in flight, queues."""
    return RunFigures.model_validate(live_object(service.live_runs.read(run_id)))


@router.get(
    "/runs/{run_id}/evidence",
    operation_id="readRunEvidence",
    tags=["runs"],
    responses=error_responses(404, 422, 503),
)
def run_evidence(service: ServiceDependency, run_id: RunId) -> RunQuotationSummary | None:
    """What the jurors of a run quote (docs/rules.md), of its newest 1,000 debates, as on its page.

    null where none of them was asked for evidence.
    """
    if service.reader.run(run_id) is None:
        raise RequestRefused(404, f"there is no run {run_id!r} in this store", "GET /api/runs lists the runs")
    looked_at, found = service.reader.run_quotations(run_id, LATEST)
    if found is None:
        return None
    judge = [] if found.judge is None else [(None, found.judge)]
    seats = [SeatQuotationSummary(juror_id=name, **one._asdict()) for name, one in (*found.seats.items(), *judge)]
    return RunQuotationSummary(
        looked_at=looked_at,
        debates=found.debates,
        seats=seats,
        decisive=dict(found.decisive),
        items=[CitedItemSummary(**one._asdict()) for one in found.items],
    )


@router.get(
    "/runs/{run_id}/stats",
    operation_id="readRunStatistics",
    tags=["runs"],
    responses={
        **error_responses(404, 422, 501, 503),
        200: {
            "description": "As `jury stats --by panel --json`.",
            "content": {"application/json": {"schema": {"$ref": "/schemas/stats.json"}}},
        },
    },
)
async def run_statistics(
    service: ServiceDependency,
    run_id: RunId,
    *,
    include_simulated: Annotated[bool, Query(description="Simulated debates count too.")] = False,
) -> JSONResponse:
    """What the votes of a run are worth: agreement, accuracy, confidence, discussion (docs/statistics.md).

    Computed again when the run has changed; of runs of up to 20,000 debates.
    """
    report = await service.reports.statistics(run_id, simulated=include_simulated)
    return JSONResponse(await asyncio.to_thread(report.to_dict))


@router.get(
    "/runs/{run_id}/true-rate",
    operation_id="readTrueRate",
    tags=["runs"],
    responses={
        **error_responses(404, 422, 501, 503),
        200: {
            "description": "As `jury gate RUN --true CLAIM --json`.",
            "content": {"application/json": {"schema": {"$ref": "/schemas/true-gate.json"}}},
        },
    },
)
async def true_rate(
    service: ServiceDependency,
    run_id: RunId,
    claim: Annotated[str, Query(max_length=200, description=f"As {FAIL}<=2%.")],
    of: Annotated[Literal["run", "agent"], Query(description="The cases of this run, or cases like these.")] = "run",
) -> JSONResponse:
    """Whether the rate at which people give a label keeps a limit, by the labels of cases that were drawn at random
    (docs/gate-on-a-true-rate.md); of runs of up to 20,000 debates.
    """
    found = await service.reports.true_gate(run_id, claim, of)
    return JSONResponse(found.to_dict())


@router.get(
    "/compare",
    operation_id="compare",
    tags=["runs"],
    response_model=Comparison,
    responses=error_responses(404, 422, 500, 503),
)
async def compare(
    service: ServiceDependency, a: EitherName, b: EitherName, kind: Kind | None = None, count: Count | None = None
) -> JSONResponse:
    """Compare two debates or two runs; `kind` chooses where an id is both.

    Of two runs under one scale of the panels' own, labels are counted, and outcomes by the gate; `count` chooses for
    both. `scale` says what is counted of which scale.

    Of two runs, at most 200 flips and 200 cases of only one are listed; `flipped` and `alone` count all. `paired` is
    described by `/schemas/paired.json`, `gate` (by the default metric and margin) by `/schemas/gate.json`; both are
    null where they cannot be computed.
    """
    found = await asyncio.to_thread(service.reader.compare, a, b, kind, count=count)
    if isinstance(found, ComparedDebates):
        return JSONResponse(camel_case(debates_object(found.compared)))
    both = found.compared
    table = runs_object(both, found.panel, found.flips, found.chosen)
    for side in ("only_in_a", "only_in_b"):
        table[side] = table[side][:MOST_ROWS]
    counts = {"flipped": len(both.flips), "alone": {"a": len(both.only_in_a), "b": len(both.only_in_b)}}
    return JSONResponse({**camel_case({**table, **counts}), **await _gate(service, a, b, count)})


async def _gate(service: ServiceDependency, a: str, b: str, count: Count | None) -> dict[str, Any]:
    """`gate` and `paired`; None where there is no such table, or its packages are missing."""
    try:
        return (await service.reports.gate(a, b, count)).to_dict()
    except (AnalysisError, DebateNotFound, ExtraMissing, RunTooLarge):
        return {"gate": None, "paired": None}


@router.get("/drift", operation_id="listDrift", tags=["drift"], responses=error_responses(500, 503))
def baselines(service: ServiceDependency) -> JSONResponse:
    """The baselines of drift checks, and what their last checks found, as `jury drift list --json`."""
    return JSONResponse({"rows": [camel_case(drift_object(one, checks=False)) for one in service.reader.drifts()]})


@router.get(
    "/drift/{drift_id}", operation_id="readDrift", tags=["drift"], responses=error_responses(404, 422, 500, 503)
)
def baseline(
    service: ServiceDependency, drift_id: Annotated[str, Path(pattern=f"^{RUN_ID}$", description="A baseline's id.")]
) -> JSONResponse:
    """A baseline and its checks, as `jury drift show --json`; every decision is computed again from the votes."""
    return JSONResponse(camel_case(drift_object(service.reader.drift(drift_id))))


@router.get("/health", operation_id="health", tags=["server"], responses={503: {"model": Health}})
def health(service: ServiceDependency, response: Response) -> Health:
    """Whether the store can be read, which process writes to it, and how many submissions run."""
    try:
        position = service.reader.last_position()
    except JuryError:
        position = None
        response.status_code = 503
    writer = service.writer()
    return Health(
        status="store unreachable" if position is None else "ok",
        version=version("jury-judge"),
        schema_number=service.reader.schema,
        last_position=position,
        writer=None if writer is None else StoreWriter(**writer._asdict()),
        panels=list(service.submissions.panels),
        readers=service.feed.readers,
        running=service.submissions.running,
    )
