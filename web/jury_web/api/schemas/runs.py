"""Runs: counts, live figures, comparisons."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from jury_events.evidence_facts import Decisive
from jury_web.api.debates import DebateCounts, DebateTotals
from jury_web.api.schemas.base import CamelModel, JsonObject, Moment


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
