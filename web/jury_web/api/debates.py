"""Endpoints that list, read, replay and rescore debates."""

import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import Field, with_config

from jury_events.envelope import StoredEvent
from jury_events.evaluation import Decisive
from jury_events.ladder import Aside
from jury_events.local_events import Imported
from jury_events.outcome import DebateStatus
from jury_events.text import moment
from jury_events.verdict import Verdict
from jury_judge import BadCursor, RescoreProblem
from jury_judge.comparisons.comparison import Excerpt
from jury_judge.recorded_debates.grids import GRID_KEYS, grid_of
from jury_views.debate_results import result_of
from jury_views.evaluation_models import SERVED, DecisivePlace, ReviewOfResult, said
from jury_views.event_words import hash_text
from jury_views.reasons import reason_data
from jury_views.result_models import DebateResult
from jury_web.api.error_responses import RequestRefused, error_responses
from jury_web.api.reviews import AssignmentSummary
from jury_web.api.schemas import (
    CamelModel,
    DebateId,
    JsonObject,
    Limit,
    Listing,
    Metadata,
    Moment,
    Score,
    ServiceDependency,
    StrictRoute,
    camel_case,
    require_debate,
    row_table,
)
from jury_web.list_parameters import AT_MOST, MOST_ROWS, DebateParameters


class SearchExcerpt(CamelModel):
    """The text around the first match of a search, and the version of its event."""

    version: int
    text: str


class EvidenceCounts(CamelModel):
    """The quotations of a debate by the results of their checks, and what its seats say last (docs/rules.md)."""

    verified: int
    normalised: int
    elsewhere: int
    not_found: int
    unsupported: Annotated[int, Field(description="Seats that fail the agent without a quotation that stands.")]
    decisive: Annotated[
        Decisive,
        Field(
            description="Whether the seats that name a decisive item name the same; `none`: fewer than two name one."
        ),
    ]


class DebateSummary(CamelModel):
    """One debate of a list. Costs are in US dollars, null where unknown.

    Label, cluster, tags, metadata and agent cost belong to the case. `imported`: it came from another log, which is
    `importedFrom` where a seal names it; only `verified` means that the signature was checked. `problem`: why it cannot
    be read.
    """

    debate_id: str
    position: Annotated[int, Field(ge=1, description="Of its opening event in the log.")]
    run_id: str | None
    case_id: str
    status: DebateStatus
    rounds: int
    method: str
    simulated: bool
    label: Verdict | None
    cluster: str | None
    tags: list[str]
    metadata: Metadata
    agent_cost: float | None
    models: Annotated[list[str], Field(description="Of the seats, without fallbacks; the final judge's is the last.")]
    not_shown: Annotated[int, Field(description="Number of parts of the case that no juror is shown.")]
    opened_at: Moment
    begun_at: Annotated[Moment | None, Field(description="null: it waits, or was ended before it began.")]
    updated_at: Moment
    ended_at: Moment | None
    final_verdict: Verdict | None
    final_label: Annotated[
        str | None, Field(description="Of the panel's own scale; null: only an outcome was decided.")
    ]
    final_score: Annotated[Score | None, Field(description="null also where no juror evaluated.")]
    reason: Annotated[str | None, said("Why the verdict came; null without a verdict.")]
    reason_by: Annotated[list[str], said("Whose words these are: seats, or final_judge.")]
    decisive: Annotated[
        DecisivePlace | None, said("Where it went wrong; null where no seat says, or the verdict passes.")
    ]
    total_rounds: int | None
    early_termination: bool | None
    end_reason: str | None
    decided_by: str | None
    quorum_met: bool | None
    partly_read: Annotated[
        dict[str, list[str]] | None,
        Field(
            description="By seat, the parts of the record that were refused, or never answered usably; null: none were."
        ),
    ]
    sides: Annotated[str | None, Field(description="How the last votes divide, as `2:1`; null: no seat voted.")]
    agreement: Annotated[
        float | None,
        Field(description="Share of the votes on the largest side, 0-1; null: fewer than two seats voted."),
    ]
    accepted: Annotated[
        bool | None, Field(description="Whether a calibrated panel accepted the verdict; null without calibration.")
    ]
    stage: Annotated[int | None, Field(description="Of a ladder, from 1; null of a debate of no ladder.")]
    stages: Annotated[int | None, Field(description="How many the ladder has.")]
    aside: Annotated[Aside | None, Field(description="Why it does not count for its case; null: it counts.")]
    human_verdict: Annotated[Verdict | None, Field(description="The last human verdict.")]
    disposition: Annotated[Verdict | None, Field(description="The last human verdict, else the jury's.")]
    reviews: list[ReviewOfResult]
    assignments: list[AssignmentSummary]
    calls: int
    input_tokens: int
    output_tokens: int
    cached_input_tokens: Annotated[int, Field(description="Of `inputTokens`, read from prompt caches.")]
    cache_write_tokens: Annotated[int, Field(description="Of `inputTokens`, written to prompt caches.")]
    cost: float | None
    evidence: Annotated[EvidenceCounts | None, Field(description="null where no quotation was asked for.")]
    asked_again: int
    imported: Imported | None
    imported_from: str | None
    quarantined: str | None
    problem: str | None
    excerpt: Annotated[
        SearchExcerpt | None, Field(description="Where a search matched a text; null where it matched an id.")
    ]


class DebateCounts(CamelModel):
    """Debates by status, and completed ones by verdict. `debates` began, `waiting` are opened and have not begun."""

    debates: int
    waiting: int
    completed: int
    failed: int
    cancelled: int
    safe_pass: int
    needs_review: int
    unsafe_fail: int


class DebateTotals(DebateCounts):
    """Totals of debates. `cost` in US dollars, without the `unknownCost` debates of unknown cost."""

    mean_score: Annotated[float | None, Field(description="Of the completed debates that a juror evaluated.")]
    without_evaluation: Annotated[int, Field(description="Completed debates without a score: no juror evaluated.")]
    calls: int
    input_tokens: int
    output_tokens: int
    cached_input_tokens: Annotated[int, Field(description="Of `inputTokens`, read from prompt caches.")]
    cache_write_tokens: Annotated[int, Field(description="Of `inputTokens`, written to prompt caches.")]
    cost: float
    unknown_cost: int
    opened: Annotated[int, Field(description="Also those that do not count for their cases.")]
    unfinished: Annotated[int, Field(description="Of `opened`, those that are not over.")]
    labels: Annotated[dict[str, int], Field(description="Debates by the label of their verdict, under own scales.")]


class DebateListing(Listing[DebateSummary]):
    """A page of debates. `unsearched`: number of the newest events that are not indexed for search yet."""

    totals: Annotated[DebateTotals | None, Field(description="null unless requested.")]
    unsearched: Annotated[int | None, Field(description="null without a search.")]


class LogEvent(CamelModel):
    """One event of the log: its envelope, and its body as hashed (names in snake_case)."""

    position: int
    stream: str
    version: int
    event_id: str
    type: str
    schema_number: Annotated[int, Field(alias="schema")]
    recorded_at: Moment
    hash: Annotated[str, Field(description="64 hexadecimal digits.")]
    body: JsonObject


@with_config(SERVED)
@dataclass
class ServedResult(DebateResult):
    """The result of a debate, as after the event `version` of it. What has not happened is null."""

    version: int = 0


class ReplayResult(CamelModel):
    """Whether the recorded events follow from the recorded answers."""

    debate_id: str
    status: Literal["equal", "different", "erased", "unreadable"]
    events: int
    finished: bool
    rules: int | None
    prompts: int | None
    differences: list[JsonObject]
    detail: str | None


class RescoreRequest(CamelModel):
    """Other settings: by key (docs/rescoring.md), a value or a list of values."""

    settings: Annotated[
        dict[Literal[GRID_KEYS], Any],  # type: ignore[valid-type]
        Field(min_length=1, max_length=20, examples=[{"threshold": [0.67, 1.0]}]),
    ]
    mode: Annotated[Literal["strict", "recount"], Field(description="recount keeps every recorded position.")] = (
        "strict"
    )


class RescoreResult(CamelModel):
    """One row for each setting; undetermined values are null."""

    mode: Literal["strict", "recount"]
    rows: list[JsonObject]


router = APIRouter(prefix="/api/debates", tags=["debates"], route_class=StrictRoute)


@router.get("", operation_id="listDebates", responses=error_responses(422, 503))
def listed(service: ServiceDependency, asked: Annotated[DebateParameters, Query()]) -> DebateListing:
    """Debates, newest first or in another order, in pages."""
    chosen, order, reader = asked.chosen, asked.sorting, service.reader
    try:
        after = None if asked.after is None else order.decode_cursor(asked.after)
    except BadCursor as error:
        raise RequestRefused(422, f"after: {error}", "start again without it") from None
    rows = reader.debates(chosen, order, limit=asked.limit, after=after)
    following = None
    if len(rows) == asked.limit:
        following = asked.address("/api/debates", order.encode_cursor(order.cursor(asdict(rows[-1]))))
    found = reader.excerpts([row.debate_id for row in rows], asked.search) if asked.search else {}
    reasons = reader.reasons([row.debate_id for row in rows])
    tables = [
        {**row_table(row), **reason_data(reasons.get(row.debate_id)), "excerpt": _excerpt(found, row.debate_id)}
        for row in rows
    ]
    return DebateListing(
        rows=[DebateSummary.model_validate(table) for table in tables],
        next=following,
        totals=DebateTotals.model_validate(asdict(reader.totals(chosen))) if asked.totals else None,
        unsearched=reader.search_lag() if asked.search else None,
    )


def _excerpt(found: dict[str, Excerpt], debate_id: str) -> dict[str, Any] | None:
    excerpt = found.get(debate_id)
    return None if excerpt is None else excerpt._asdict()


@router.get(
    "/{debate_id}",
    operation_id="readDebate",
    response_model=ServedResult,
    responses=error_responses(404, 422, 500, 503),
)
def read(
    service: ServiceDependency,
    debate_id: DebateId,
    at: Annotated[int | None, Query(ge=1, le=AT_MOST, description="The state after this event of the debate.")] = None,
) -> JSONResponse:
    """The result of a debate, as far as it has got."""
    require_debate(service, debate_id)
    reading = service.reader.history(debate_id)
    return JSONResponse({"version": len(reading.events[:at]), **result_of(reading, at).data(served=True)})


@router.get("/{debate_id}/events", operation_id="listEvents", responses=error_responses(404, 422, 500, 503))
def events(
    service: ServiceDependency,
    debate_id: DebateId,
    stream: Annotated[
        Literal["debate", "calls"], Query(description="Events of the debate, or its model calls.")
    ] = "debate",
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only events after this version.")] = 0,
    limit: Limit = MOST_ROWS,
) -> Listing[LogEvent]:
    """The events of a debate as stored in the log, in order."""
    require_debate(service, debate_id)
    history = service.reader.history(debate_id)
    stored = (history.stored_exchanges if stream == "calls" else history.stored_events)[after:]
    rows = [_event_line(one) for one in stored[:limit]]
    more = f"/api/debates/{debate_id}/events?{urlencode({'stream': stream, 'after': after + limit, 'limit': limit})}"
    return Listing[LogEvent](rows=rows, next=more if len(stored) > limit else None)


@router.post("/{debate_id}/replay", operation_id="replayDebate", responses=error_responses(404, 422, 500, 503))
def replayed(service: ServiceDependency, debate_id: DebateId) -> ReplayResult:
    """Replay a debate from its recorded answers, and compare. No model is called."""
    require_debate(service, debate_id)
    found = service.reader.replay(debate_id)
    differences = [{**one._asdict(), "changes": [each._asdict() for each in one.changes]} for one in found.differences]
    return ReplayResult.model_validate({**found._asdict(), "differences": camel_case(differences)})


@router.post(
    "/{debate_id}/rescore", operation_id="rescoreDebate", responses=error_responses(404, 413, 415, 422, 500, 503)
)
def rescored(service: ServiceDependency, debate_id: DebateId, request: RescoreRequest) -> RescoreResult:
    """The result of a debate under other settings. No model is called, and nothing is written."""
    grid = grid_of(request.settings)
    require_debate(service, debate_id)
    rows: list[dict[str, Any]] = []
    for found in service.reader.rescore(debate_id, grid, request.mode):
        if isinstance(found, RescoreProblem):
            raise RequestRefused(
                500, f"debate {debate_id} cannot be rescored: {found.what}", f"jury verify {debate_id}"
            )
        rows.append(camel_case(found._asdict()))
    return RescoreResult(mode=request.mode, rows=rows)


def _event_line(stored: StoredEvent) -> LogEvent:
    table = stored._asdict()
    body = json.loads(table.pop("body"))
    number = table.pop("schema")
    at = moment(table.pop("recorded_at"), "microseconds")
    return LogEvent.model_validate(
        {**table, "schema_number": number, "recorded_at": at, "hash": hash_text(stored.hash), "body": body}
    )
