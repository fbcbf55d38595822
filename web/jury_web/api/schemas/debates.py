"""Lists of debates, their totals, and their events."""

from typing import Annotated

from pydantic import Field

from jury_events.debate_status import DebateStatus
from jury_events.evidence_facts import Decisive
from jury_events.local_events import Imported
from jury_events.stages import Aside
from jury_events.verdict import Verdict
from jury_views.evaluation_models import DecisivePlace, ReviewOfResult, said
from jury_web.api.reviews import AssignmentSummary
from jury_web.api.schemas.base import CamelModel, JsonObject, Listing, Metadata, Moment, Score


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
