"""Requests and responses of the API; `/openapi.json` is made from them."""

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from jury_events.debate_status import DebateStatus
from jury_events.local_events import Imported
from jury_events.value import Label, NewRunId
from jury_events.verdict import Verdict
from jury_judge.replays.grids import GRID_KEYS
from jury_judge.reviews.reviews import MAX_REASON
from jury_views.events_by_phase import Status

T = TypeVar("T")

MOST_ROWS = 200
"""Limit of rows in one page."""

MOST_CASES = 10_000
"""Of a run that is submitted in one request."""

Moment = Annotated[str, Field(description="ISO 8601, UTC.", examples=["2026-01-31T09:00:00.000000Z"])]
PanelName = Annotated[str, StringConstraints(min_length=1, max_length=500)]
JsonObject = dict[str, Any]
Metadata = Annotated[dict[str, str | bool | int | float], Field(description="Names and values as in the case file.")]
Score = Annotated[int, Field(ge=0, le=100)]


class CamelModel(BaseModel):
    """Fields in camelCase; unknown fields are refused."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid", frozen=True)


class EvaluationRequest(CamelModel):
    """One case to judge."""

    case: Annotated[
        JsonObject,
        Field(
            description="A case as in a JSON case file: `question`, `response` or `messages`, and optional fields.",
            examples=[{"case_id": "refund-17", "question": "Refund order 17.", "response": "Refunded."}],
        ),
    ]
    panel: Annotated[PanelName | None, Field(description="One of the server's panels; the first by default.")] = None
    run_id: Annotated[NewRunId | None, Field(description="The same run and case id again resume the debate.")] = None
    submission_id: Annotated[Label | None, Field(description="The `submission_id` of its live events.")] = None


class RunRequest(CamelModel):
    """Many cases to judge, one debate each."""

    cases: Annotated[
        list[JsonObject], Field(min_length=1, max_length=MOST_CASES, description="Each like `case` of an evaluation.")
    ]
    panel: Annotated[PanelName | None, Field(description="One of the server's panels; the first by default.")] = None
    run_id: Annotated[NewRunId | None, Field(description="The same id with the same cases resumes the run.")] = None
    concurrency: Annotated[int | None, Field(ge=1, le=1000, description="Debates that run at once.")] = None


class RescoreRequest(CamelModel):
    """Other settings: by key (docs/rescoring.md), a value or a list of values."""

    settings: Annotated[
        dict[Literal[GRID_KEYS], Any],  # type: ignore[valid-type]
        Field(min_length=1, max_length=20, examples=[{"threshold": [0.67, 1.0]}]),
    ]
    mode: Annotated[Literal["strict", "recount"], Field(description="recount keeps every recorded position.")] = (
        "strict"
    )


class Links(CamelModel):
    """Paths of related resources."""

    state: str
    debate: str | None = None
    events: str | None = None
    live: str | None = None
    ws: str | None = None
    run: str | None = None
    debates: str | None = None


class SubmissionStatus(CamelModel):
    """The status of an evaluation or a run.

    running: this server runs it. finished: nothing is left to do. stopped: an error (`problem`) stopped it here.
    unfinished: this server does not run it (another process may); the same request resumes it.
    """

    id: str
    state: Literal["running", "finished", "stopped", "unfinished"]
    problem: Annotated[str | None, Field(description="The error that stopped it, with the remedy.")] = None
    links: Links


class SearchExcerpt(CamelModel):
    """The text around the first match of a search, and the version of its event."""

    version: int
    text: str


class ReviewSummary(CamelModel):
    """A person's verdict on a debate that was not withdrawn.

    `sampled`: the debate was drawn at random for this person. `foreign`: it came in a cassette without a trusted seal,
    and counts for nothing. `stands`: it is the reviewer's last one.
    """

    number: Annotated[int, Field(ge=1, description="In the debate's stream of reviews.")]
    reviewer: str
    verdict: Verdict
    blind: Annotated[bool, Field(description="Given before the jury's words were shown.")]
    sampled: bool
    minutes: float | None
    supersedes: Annotated[int | None, Field(description="The number of the review that it replaces.")]
    reviewed_at: Moment
    foreign: bool
    stands: bool
    reason: Annotated[str | None, Field(description="Null in lists, and where there is none or it was erased.")]


class RecordedReview(ReviewSummary):
    """A review in the list of all reviews, with its debate."""

    debate_id: str
    case_id: str
    run_id: str | None
    final_verdict: Annotated[Verdict | None, Field(description="The jury's.")]
    disposition: Annotated[Verdict | None, Field(description="The last human verdict, else the jury's.")]


class ReviewRequest(CamelModel):
    """A verdict of the reviewer whose token the request has."""

    verdict: Verdict
    reason: Annotated[str, Field(max_length=MAX_REASON)] = ""
    blind: Annotated[bool, Field(description="The reviewer did not see the jury's words before.")] = False
    minutes: Annotated[float | None, Field(ge=0, le=100_000, allow_inf_nan=False, description="How long it took.")] = (
        None
    )


class AssignmentSummary(CamelModel):
    """A person is asked to review a debate."""

    number: int
    reviewer: str
    sampled: Annotated[bool, Field(description="The debate was drawn at random.")]
    foreign: bool


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
    updated_at: Moment
    ended_at: Moment | None
    final_verdict: Verdict | None
    final_score: Score | None
    total_rounds: int | None
    early_termination: bool | None
    end_reason: str | None
    decided_by: str | None
    quorum_met: bool | None
    accepted: Annotated[
        bool | None, Field(description="Whether a calibrated panel accepted the verdict; null without calibration.")
    ]
    human_verdict: Annotated[Verdict | None, Field(description="The last human verdict.")]
    disposition: Annotated[Verdict | None, Field(description="The last human verdict, else the jury's.")]
    reviews: list[ReviewSummary]
    assignments: list[AssignmentSummary]
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    asked_again: int
    imported: Imported | None
    imported_from: str | None
    quarantined: str | None
    problem: str | None
    excerpt: Annotated[
        SearchExcerpt | None, Field(description="Where a search matched a text; null where it matched an id.")
    ]


class DebateCounts(CamelModel):
    """Debates by status, and completed ones by verdict."""

    debates: int
    completed: int
    failed: int
    cancelled: int
    safe_pass: int
    needs_review: int
    unsafe_fail: int


class RunSummary(DebateCounts):
    """One run. `debates` were opened; `cases` is the number of cases, null where unknown."""

    run_id: str
    position: Annotated[int, Field(ge=1, description="Of the opening event of its first debate.")]
    first_at: Moment
    last_at: Moment
    cases: int | None


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


class DebateTotals(DebateCounts):
    """Totals of debates. `cost` in US dollars, without the `unknownCost` debates of unknown cost."""

    mean_score: Annotated[float | None, Field(description="Of the completed debates.")]
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    unknown_cost: int


class RunFigures(DebateTotals):
    """The live figures of a run."""

    run_id: str
    at: str
    state: Annotated[
        Literal["running", "complete", "incomplete", "unknown"],
        Field(description="`unknown`: how many debates the run is to have is not known."),
    ]
    holder: RunProcess | None
    cases: int | None
    ended: int
    not_begun: Annotated[int | None, Field(description="null where the number of cases is unknown.")]
    phases: Annotated[dict[str, int], Field(description="Debates that are not over, by status.")]
    recent: RecentFigures
    eta_seconds: float | None
    eta_reason: Annotated[str | None, Field(description="Why there is no `etaSeconds`.")]
    process: Annotated[RunMemory | None, Field(description="Figures from the memory of that process.")]
    process_reason: Annotated[str | None, Field(description="Why there is no `process`.")]


class Listing(CamelModel, Generic[T]):
    """A page of a list. `next` is the path of the next page, null on the last one."""

    rows: list[T]
    next: str | None


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


class TokenUsage(CamelModel):
    """Token counts of the provider."""

    input_tokens: int | None
    output_tokens: int | None
    cached_input_tokens: int | None
    reasoning_tokens: int | None


class ExchangeSummary(CamelModel):
    """One attempt of a model call. They are numbered from 1 in the debate; `raw` is the path of the answer."""

    number: int
    exchange_id: str
    step: str
    juror_id: str | None
    model: str
    model_version: str | None
    turn: int
    attempt: int
    outcome: str
    finish_reason: str | None
    usage: TokenUsage
    cost: float | None
    latency_ms: float
    waited_ms: float
    tool_calls: list[str]
    simulated: bool
    recorded_at: Moment
    answer_bytes: Annotated[int | None, Field(description="null where there is none, or it was erased.")]
    raw: Annotated[str | None, Field(description="Path of the answer; null where there is none.")]


class ExchangeImage(CamelModel):
    """An image after the text of a message; `size` in bytes, null where it was erased."""

    media_type: str
    size: int | None


class ExchangeMessage(CamelModel):
    """One message as sent, or a tool result; `text` is null where it was erased."""

    role: str
    text: str | None
    images: list[ExchangeImage]
    call_id: str | None


class ExchangeDetail(ExchangeSummary):
    """An exchange with everything that was sent."""

    request: list[ExchangeMessage]


class Consensus(CamelModel):
    """A consensus check."""

    consensus_status: Literal["unanimous", "majority", "split"]
    agreement_level: Annotated[float, Field(ge=0, le=1)]
    consensus_reached: bool
    majority_position: Verdict | None


class RoundResult(CamelModel):
    """A discussion round; statements as document 004's `JurorStatement`."""

    round_number: int
    statements: list[JsonObject]
    consensus_check: Consensus | None
    speaker_order: list[str]


class PositionChangeCounts(CamelModel):
    """`own`: by jurors. `synthetic`: by neutral evaluations that replace blocked answers."""

    own: int
    synthetic: int


class BranchOrigin(CamelModel):
    """The debate and event that a fork branches from."""

    debate_id: str
    version: int


class OmittedContent(CamelModel):
    """Parts of a case, of one kind, that no juror is shown; `size` in bytes, null where unknown."""

    what: str
    count: int
    size: int | None


class DebateResult(CamelModel):
    """The result of a debate: `CollaborativeJuryResult` of document 004. Fields that do not exist yet are null.

    `version` is the version of the last event that was read. Evaluations have their scores in `scores` too.
    """

    version: int
    debate_id: str
    case_id: str
    run_id: str | None
    forked_from: BranchOrigin | None
    submission_id: str | None
    panel: str
    method: str
    simulated: bool
    model_mismatches: list[JsonObject]
    label: Verdict | None
    tags: list[str]
    metadata: Metadata
    cluster: str | None
    agent_cost: Annotated[float | None, Field(description="Cost of the judged agent in US dollars.")]
    omissions: Annotated[list[OmittedContent], Field(description="Parts of the case that no juror was shown, by kind.")]
    status: Status
    phase1_evaluations: list[JsonObject]
    phase1_consensus: Consensus | None
    discussion_rounds: list[RoundResult]
    position_changes: Annotated[PositionChangeCounts, Field(description="Statements that changed a position.")]
    abstentions: list[JsonObject]
    total_rounds: int
    phase3_judgment: JsonObject | None
    final_verdict: Verdict | None
    final_score: Score | None
    early_termination: bool | None
    end_reason: str | None
    disposition: Annotated[Verdict | None, Field(description="The last human verdict, else the jury's.")]
    reviews: list[ReviewSummary]
    scenario_results: Annotated[
        list[JsonObject], Field(description="One row for each scenario; empty before the judgment.")
    ]


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


class RescoreResult(CamelModel):
    """One row for each setting; undetermined values are null."""

    mode: Literal["strict", "recount"]
    rows: list[JsonObject]


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
