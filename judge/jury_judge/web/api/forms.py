"""What is sent and answered, as `/openapi.json` describes it."""

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from jury_events.local_events import Imported
from jury_events.value import Label, NewRunId
from jury_events.verdict import Verdict
from jury_judge.views.debate_record import Status
from jury_replay.rescoring.settings import KEYS
from jury_store.debate_status import DebateStatus

T = TypeVar("T")

MOST_ROWS = 200
"""Rows of a list at most."""

MOST_CASES = 10_000
"""Of a run that is sent in one request."""

Moment = Annotated[str, Field(description="ISO 8601, UTC.", examples=["2026-01-31T09:00:00.000000Z"])]
PanelName = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Table = dict[str, Any]
Metadata = Annotated[dict[str, str | bool | int | float], Field(description="By the names of the case file.")]
Score = Annotated[int, Field(ge=0, le=100)]


class Camel(BaseModel):
    """Fields in camelCase outside, nothing unknown."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid", frozen=True)


class EvaluationAsked(Camel):
    """One case to judge."""

    case: Annotated[
        Table,
        Field(
            description="A case as in a JSON case file: `question`, `response` or `messages`, and what else is known.",
            examples=[{"case_id": "refund-17", "question": "Refund order 17.", "response": "Refunded."}],
        ),
    ]
    panel: Annotated[PanelName | None, Field(description="One of the server's panels; the first by default.")] = None
    run_id: Annotated[
        NewRunId | None, Field(description="Sent again with the same run and case id, the debate goes on.")
    ] = None
    submission_id: Annotated[Label | None, Field(description="What live events call it.")] = None


class RunAsked(Camel):
    """Many cases to judge, a debate each."""

    cases: Annotated[list[Table], Field(min_length=1, max_length=MOST_CASES, description="As `case` of an evaluation.")]
    panel: Annotated[PanelName | None, Field(description="One of the server's panels; the first by default.")] = None
    run_id: Annotated[NewRunId | None, Field(description="Sent again with the same cases, the run goes on.")] = None
    concurrency: Annotated[int | None, Field(ge=1, le=1000, description="Debates at once.")] = None


class RescoringAsked(Camel):
    """Other settings, by key (docs/rescoring.md) a value, or a list of values to try."""

    settings: Annotated[
        dict[Literal[KEYS], Any],  # type: ignore[valid-type]
        Field(min_length=1, max_length=20, examples=[{"threshold": [0.67, 1.0]}]),
    ]
    mode: Annotated[Literal["strict", "recount"], Field(description="recount holds every recorded position fixed.")] = (
        "strict"
    )


class Links(Camel):
    """Where to look, as paths."""

    state: str
    debate: str | None = None
    events: str | None = None
    live: str | None = None
    ws: str | None = None
    run: str | None = None
    debates: str | None = None


class Under(Camel):
    """How an evaluation, or a run, stands.

    running: this server holds it. over: nothing is left to do. stopped: it could not go on here; `problem` says why.
    unfinished: nobody holds it here; sent again, it goes on. Whoever else may hold it is not known.
    """

    id: str
    state: Literal["running", "over", "stopped", "unfinished"]
    problem: Annotated[str | None, Field(description="Why it could not go on, and what to do.")] = None
    links: Links


class FoundText(Camel):
    """A piece of what somebody wrote: the event of the debate, and the text around the first of the words."""

    version: int
    text: str


class DebateLine(Camel):
    """One debate at a glance. Cost in US dollars, null where it is not known.

    Label, cluster, tags, metadata and the judged agent's cost are those of the case. `imported`: it was not held here;
    `importedFrom` is the log that its seal names, and only `vouched` says that the signature was checked. `problem`:
    why it cannot be read.
    """

    debate_id: str
    position: Annotated[int, Field(ge=1, description="Of its opening in the log.")]
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
    models: Annotated[list[str], Field(description="That the panel asks first, the final judge's last.")]
    not_shown: Annotated[int, Field(description="How many things of the case no juror is shown.")]
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
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    asked_again: int
    imported: Imported | None
    imported_from: str | None
    quarantined: str | None
    problem: str | None
    excerpt: Annotated[FoundText | None, Field(description="What a search found; null where it was an id.")]


class RunLine(Camel):
    """One run at a glance. `debates` were opened; `cases` is how many the run has, null where that is not known."""

    run_id: str
    position: Annotated[int, Field(ge=1, description="Of its first debate's opening in the log.")]
    debates: int
    completed: int
    failed: int
    cancelled: int
    safe_pass: int
    needs_review: int
    unsafe_fail: int
    first_at: Moment
    last_at: Moment
    cases: int | None


class Rows(Camel, Generic[T]):
    """A page of a list. `next` is the path of the page after it; null on the last one."""

    rows: list[T]
    next: str | None


class ListTotals(Camel):
    """What all debates of a list come to. Cost in US dollars where it is known; `unknownCost` counts the others."""

    debates: int
    completed: int
    failed: int
    cancelled: int
    safe_pass: int
    needs_review: int
    unsafe_fail: int
    mean_score: Annotated[float | None, Field(description="Of the completed debates.")]
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    unknown_cost: int


class DebateRows(Rows[DebateLine]):
    """A page of debates. `unsearched`: so many of the newest events a search does not look through yet."""

    totals: Annotated[ListTotals | None, Field(description="null where they were not asked for.")]
    unsearched: Annotated[int | None, Field(description="null where nothing was searched for.")]


class EventLine(Camel):
    """One event of the log: its envelope, and its body as it is hashed (names in snake_case)."""

    position: int
    stream: str
    version: int
    event_id: str
    type: str
    schema_number: Annotated[int, Field(alias="schema")]
    recorded_at: Moment
    hash: Annotated[str, Field(description="64 hexadecimal digits.")]
    body: Table


class Usage(Camel):
    """Tokens as the provider counted them."""

    input_tokens: int | None
    output_tokens: int | None
    cached_input_tokens: int | None
    reasoning_tokens: int | None


class ExchangeLine(Camel):
    """One attempt of one model call. `number` counts them in the debate from 1; `raw` is where its answer is."""

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
    usage: Usage
    cost: float | None
    latency_ms: float
    waited_ms: float
    tool_calls: list[str]
    simulated: bool
    recorded_at: Moment
    answer_bytes: Annotated[int | None, Field(description="null: there is none, or it was erased.")]
    raw: Annotated[str | None, Field(description="The path of the answer; null where there is none.")]


class ExchangePicture(Camel):
    """A picture that followed a message's text; `size` in bytes, null where it was erased."""

    media_type: str
    size: int | None


class ExchangeMessage(Camel):
    """One message as it was sent, or a tool's answer; null: the text was erased."""

    role: str
    text: str | None
    images: list[ExchangePicture]
    call_id: str | None


class ExchangeWhole(ExchangeLine):
    """An exchange with everything that was sent."""

    request: list[ExchangeMessage]


class Consensus(Camel):
    """A consensus check."""

    consensus_status: Literal["unanimous", "majority", "split"]
    agreement_level: Annotated[float, Field(ge=0, le=1)]
    consensus_reached: bool
    majority_position: Verdict | None


class Round(Camel):
    """A discussion round; statements as document 004's `JurorStatement`."""

    round_number: int
    statements: list[Table]
    consensus_check: Consensus | None
    speaker_order: list[str]


class PositionChanges(Camel):
    """`own`: a juror changed its mind. `synthetic`: only what stands in for a blocked answer differs."""

    own: int
    synthetic: int


class Origin(Camel):
    """Where a branch comes from."""

    debate_id: str
    version: int


class NotShown(Camel):
    """How often something of one kind is not shown to any juror; `size` in bytes, null where it is not known."""

    what: str
    count: int
    size: int | None


class DebateResult(Camel):
    """Everything that a debate came to: document 004's `CollaborativeJuryResult`. What has not happened is null.

    `version` is that of the last event that was read; the scores of an evaluation are under `scores` by dimension too.
    """

    version: int
    debate_id: str
    case_id: str
    run_id: str | None
    forked_from: Origin | None
    submission_id: str | None
    panel: str
    method: str
    simulated: bool
    model_mismatches: list[Table]
    label: Verdict | None
    tags: list[str]
    metadata: Metadata
    cluster: str | None
    agent_cost: Annotated[float | None, Field(description="What the judged agent cost, US dollars.")]
    losses: Annotated[list[NotShown], Field(description="What of the case no juror was shown, by kind.")]
    status: Status
    phase1_evaluations: list[Table]
    phase1_consensus: Consensus | None
    discussion_rounds: list[Round]
    position_changes: Annotated[
        PositionChanges, Field(description="Statements that changed a position, by whose change it is.")
    ]
    abstentions: list[Table]
    total_rounds: int
    phase3_judgment: Table | None
    final_verdict: Verdict | None
    final_score: Score | None
    early_termination: bool | None
    end_reason: str | None
    scenario_results: Annotated[list[Table], Field(description="One row a scenario; empty before the judgment.")]


class ReplayResult(Camel):
    """Whether what is recorded follows from what the models said."""

    debate_id: str
    status: Literal["equal", "different", "erased", "unreadable"]
    events: int
    finished: bool
    rules: int | None
    prompts: int | None
    differences: list[Table]
    detail: str | None


class RescoringResult(Camel):
    """One row a setting; what cannot be said of it is null."""

    mode: Literal["strict", "recount"]
    rows: list[Table]


class Compared(Camel):
    """Two debates, or two runs, side by side; the other fields are those of `jury compare --json`."""

    model_config = ConfigDict(extra="allow")

    kind: Literal["debates", "runs"]
    a: Table
    b: Table


class Writer(Camel):
    """The process that writes to a SQLite store."""

    pid: int
    run: str
    since: str


class Health(Camel):
    """Whether the server can do its work."""

    status: Literal["ok", "store unreachable"]
    version: str
    schema_number: Annotated[str, Field(alias="schema", description="Of the store.")]
    last_position: Annotated[int | None, Field(description="Of the newest event; null: the store cannot be read.")]
    writer: Annotated[Writer | None, Field(description="null: none, or the store is no file.")]
    panels: Annotated[list[str], Field(description="Those under which debates are held here; none: it only shows.")]
    readers: int
    under_way: int
