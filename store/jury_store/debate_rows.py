"""The rows of the lists: one a debate, one a run; filters and totals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, get_type_hints

from pydantic import ConfigDict, Field, ValidationError, create_model

from jury_events.case import MetadataValue, of_label
from jury_events.conditions import FINAL_LABEL, Condition, Values, admitted, contains, field_values
from jury_events.evaluation import EvidenceFacts
from jury_events.ladder import Aside
from jury_events.local_events import Imported
from jury_events.outcome import DebateStatus, FinalOutcome
from jury_events.review_facts import AssignedReview, Review, ReviewFacts
from jury_events.verdict import REVIEW
from jury_store.cached_calls import CachedCalls, Dollars, LabelName, Small, StoredText, Tokens, VerdictName, Whole

ENDED: frozenset[str] = frozenset({"completed", "failed", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateRow:
    """A summary of one debate. Times in microseconds since 1970-01-01 UTC, cost in US dollars (None: unknown).

    `waiting`: it has not begun, `begun_at` says when it did (None: it did not).
    `position` is that of the opening event, `rounds` counts started rounds, `calls` recorded exchanges, `asked_again`
    steps whose call may have been repeated. `cached_input_tokens` of the input tokens were read from prompt caches,
    `cache_write_tokens` written to them; `cached_calls` are sums over the calls of known cost that did either.
    `inherited_steps` are those of a fork whose exchanges are copies of its origin's, which count here in no sum.
    `method` is the panel's final method, `decided_by` the one that decided. `final_score` is None too where no seat
    evaluated.
    `accepted`: whether a calibrated panel lets the jury's verdict stand without a person; None: it has no calibration.
    `partly_read`: by seat, the parts of the record that it did not read (`Vote`); None: there is no such seat.
    `sides`: how the seats' last votes divide, as `2:1` (None: none voted, or there is no judgment yet), and `agreement`
    the share of them on the largest side, 0-1; None where fewer than two voted.
    `case_part` is the digest of the case. The verdict is set by the judgment. `label`, `cluster`, `tags`, `metadata`
    and `agent_cost` are those of the case; `not_shown` counts items of the case that no juror sees. `models` are the
    panel's first choices, seats before the final judge.

    `evidence`: what its evaluations quote (None: none was asked for evidence); `evidence_values` are its values as
    bits (`evidence_bits`), for the database.

    `imported`: events were imported from a cassette (None: all were recorded here); `imported_from` is the log named by
    the seal of the first import. `quarantined` is the reason for the quarantine, `problem` the reason why the debate
    cannot be read.

    `final_label` is the label of the verdict under a scale of the panel's own; None: the three verdicts, or only an
    outcome was decided.

    `stage` of the `stages` of a ladder, None of a debate of no ladder. `aside`: why it does not count for its case.

    `reviews` and `assignments` are those of people that were not withdrawn, `human_verdict` the last human verdict
    (`ReviewFacts`).
    """

    debate_id: StoredText
    position: Whole
    run_id: StoredText | None
    case_id: StoredText
    status: DebateStatus
    waiting: bool
    rounds: Small
    method: StoredText
    simulated: bool
    label: VerdictName | None
    case_part: bytes
    opened_at: Whole
    updated_at: Whole
    begun_at: Whole | None = None
    ended_at: Whole | None = None
    final_verdict: VerdictName | None = None
    final_label: LabelName | None = None
    final_score: Annotated[int, Field(ge=0, le=100)] | None = None
    total_rounds: Small | None = None
    early_termination: bool | None = None
    end_reason: StoredText | None = None
    decided_by: StoredText | None = None
    quorum_met: bool | None = None
    accepted: bool | None = None
    partly_read: Mapping[StoredText, tuple[StoredText, ...]] | None = None
    sides: StoredText | None = None
    agreement: Annotated[float, Field(gt=0, le=1)] | None = None
    stage: Small | None = None
    stages: Small | None = None
    aside: Aside | None = None
    calls: Small = 0
    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    cached_input_tokens: Tokens = 0
    cache_write_tokens: Tokens = 0
    cached_calls: tuple[CachedCalls, ...] = ()
    cost: Dollars | None = 0.0
    asked_again: Small = 0
    evidence: EvidenceFacts | None = None
    evidence_values: Small | None = None
    cluster: StoredText | None = None
    tags: tuple[StoredText, ...] = ()
    metadata: Mapping[StoredText, MetadataValue] = field(default_factory=dict)
    agent_cost: Dollars | None = None
    models: tuple[StoredText, ...] = ()
    inherited_steps: tuple[StoredText, ...] | None = None
    not_shown: Small = 0
    imported: Imported | None = None
    imported_from: StoredText | None = None
    quarantined: StoredText | None = None
    human_verdict: VerdictName | None = None
    reviews: tuple[Review, ...] = ()
    assignments: tuple[AssignedReview, ...] = ()
    problem: StoredText | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the debate is completed, failed or cancelled."""
        return self.status in ENDED

    @property
    def outcome(self) -> FinalOutcome | None:
        """What the debate came to; None: it has no verdict."""
        if self.status != "completed" or self.final_verdict is None:
            return None
        return FinalOutcome(self.final_verdict, self.final_label, self.final_score)

    @property
    def disposition(self) -> str | None:
        """The last human verdict where there is one, else the jury's."""
        return self.human_verdict or self.final_verdict

    @property
    def review_facts(self) -> ReviewFacts:
        """What people said of the debate."""
        return ReviewFacts(self.reviews, self.assignments)


_TYPES: dict[str, Any] = get_type_hints(DebateRow, include_extras=True)
_FIELDS: dict[str, Any] = {one.name: (_TYPES[one.name], ...) for one in fields(DebateRow)}
_ROW = create_model("_ROW", __config__=ConfigDict(strict=True, allow_inf_nan=False, extra="forbid"), **_FIELDS)


def row_fault(row: Mapping[str, Any]) -> str | None:
    """Why a row cannot be stored as a `DebateRow`; None: it can."""
    try:
        _ROW.model_validate(row)
        if row["waiting"] != (row["status"] == "waiting"):
            return "waiting: the status says otherwise"
        if row["status"] == "completed" and row["final_verdict"] is None:
            return "final_verdict: a completed debate has one"
        if not isinstance(row["evidence"], EvidenceFacts | None):
            return "evidence: not the facts of evaluations"  # a list that happens to begin like them
    except (ValidationError, UnicodeError) as error:
        if isinstance(error, UnicodeError):
            return str(error)
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A summary of one run: debates by status and verdict; times in µs since 1970-01-01 UTC.

    `first_at` is the first opening, `begun_at` the first beginning (None: no debate began), `last_at` the last
    event. `debates` counts debates that began, `waiting` those that are opened and have not. `cancelled_by`: who
    cancelled the run; None: it is not cancelled, or was reopened since. `cases` is the run's
    number of cases; None: unknown, because they are still being counted, or the debates were run one by one.
    `calls_at_most` and `cost_at_most` (US dollars) say what a run with a budget may have taken, with the calls that
    were sent and are not recorded; None: it never had a budget.
    """

    run_id: str
    position: int
    debates: int
    waiting: int
    completed: int
    failed: int
    cancelled: int
    safe_pass: int
    needs_review: int
    unsafe_fail: int
    first_at: int
    last_at: int
    begun_at: int | None = None
    cancelled_by: str | None = None
    cases: int | None = None
    calls_at_most: int | None = None
    cost_at_most: float | None = None

    @property
    def ended(self) -> int:
        """Completed, failed and cancelled debates."""
        return self.completed + self.failed + self.cancelled

    @property
    def total(self) -> int | None:
        """The number of debates at the end of the run; None: unknown."""
        return None if self.cases is None else max(self.cases, self.debates + self.waiting)

    def unrecorded(self, totals: "Totals") -> "Unrecorded":
        """What was sent and not recorded, at most; `totals` are those of the run, read after this row.

        While a process executes the run, these are also its calls in flight.
        """
        calls = (self.calls_at_most or 0) - totals.calls
        return Unrecorded(calls, max(0.0, (self.cost_at_most or 0.0) - totals.cost)) if calls > 0 else Unrecorded()


class Unrecorded(NamedTuple):
    """Calls that may have been sent and are not recorded: how many, and what they can cost at most, in US dollars.

    Without such calls the cost is 0. It includes what calls can have cost that are recorded without a cost.
    """

    calls: int = 0
    cost: float = 0.0


NOTHING_UNRECORDED = Unrecorded()


class CaseRow(NamedTuple):
    """The case of a debate. `salt` is None when the case's text was erased; the other fields as in `DebateRow`.

    `position` is 0 where it is not known; `of_label` are those of the metadata that are label data.
    """

    case_id: str
    status: DebateStatus
    case_part: bytes
    salt: bytes | None
    imported: Imported | None = None
    quarantined: str | None = None
    position: int = 0
    label: str | None = None
    aside: Aside | None = None
    of_label: Mapping[str, Any] = MappingProxyType({})

    @classmethod
    def of(cls, row: Mapping[str, Any], salt: bytes | None) -> "CaseRow":
        """The case of a debate's row, by column name."""
        names = ("imported", "quarantined", "position", "label", "aside")
        found = cls(row["case_id"], row["status"], row["case_part"], salt, *(row[name] for name in names))
        return found._replace(of_label=of_label(row["metadata"]))

    @property
    def has_ended(self) -> bool:
        """Whether the debate is completed, failed or cancelled."""
        return self.status in ENDED


class DebateFilter(NamedTuple):
    """Selects debates of a list; every condition that is not None must be true.

    Debates that wait are selected alone or not at all, or with the others (`waiting` is None); the status `waiting`
    selects them alone. `search` matches debate ids and case ids, ignoring the case of ASCII letters, and the jurors'
    texts (`search_terms`). `where` are conditions on the fields of the cases. Debates in quarantine are selected
    alone or not at all. `model` is one of `DebateRow.models`, `quorum` whether it was met, `partly_read` whether a
    seat did not read parts of the record (a debate without a judgment has no such seat), `split` whether the seats'
    last votes differ (a debate with fewer than two is neither); an unknown cost satisfies neither `min_cost` nor
    `max_cost`. `unfinished`: only debates that have not ended. `disposition` is that of `DebateRow`; `reviewed`:
    whether there is a human verdict. `may_need_review`: only debates whose verdict is `REVIEW` or not accepted, and
    those that people reviewed or are asked for. `with_reviews`: only debates with reviews, foreign ones too.
    `imported`: whether events came from a cassette. `counted`: only the debates that count for their cases, as all of
    no ladder do, or only the others; None: both. `stage`: every debate of that stage of a ladder.
    """

    run_id: str | None = None
    status: DebateStatus | None = None
    verdict: str | None = None
    simulated: bool | None = None
    search: str | None = None
    where: tuple[Condition, ...] = ()
    quarantined: bool = False
    model: str | None = None
    quorum: bool | None = None
    partly_read: bool | None = None
    split: bool | None = None
    min_cost: float | None = None
    max_cost: float | None = None
    unfinished: bool = False
    disposition: str | None = None
    reviewed: bool | None = None
    may_need_review: bool = False
    with_reviews: bool = False
    imported: bool | None = None
    counted: bool | None = True
    stage: int | None = None
    waiting: bool | None = False

    def matches(self, row: Mapping[str, Any], text_matches: Callable[[int], bool]) -> bool:
        """Whether a row is selected.

        Args:
            text_matches: whether a juror's text matches `search` in the debate that opened at this position.
        """
        cost = row["cost"]
        return (
            self.quarantined == (row["quarantined"] is not None)
            and self.only_waiting in {None, row["waiting"]}
            and self.run_id in {None, row["run_id"]}
            and self.status in {None, row["status"]}
            and self.verdict in {None, row["final_verdict"]}
            and self.simulated in {None, row["simulated"]}
            and self.model in {None, *(row["models"] or ())}
            and self.quorum in {None, row["quorum_met"]}
            and self.partly_read in {None, row["partly_read"] is not None}
            and (self.split is None or (row["agreement"] is not None and self.split == (row["agreement"] < 1)))
            and (self.min_cost is None or (cost is not None and cost >= self.min_cost))
            and (self.max_cost is None or (cost is not None and cost <= self.max_cost))
            and not (self.unfinished and row["ended_at"] is not None)
            and self.disposition in {None, row["human_verdict"] or row["final_verdict"]}
            and self.reviewed in {None, row["human_verdict"] is not None}
            and (not self.may_need_review or _may_need_review(row))
            and not (self.with_reviews and not row["reviews"])
            and self.imported in {None, row["imported"] is not None}
            and self.only_counted in {None, row["aside"] is None}
            and self.stage in {None, row["stage"]}
            and (self.search is None or self._id_matches(row) or text_matches(row["position"]))
            and (not self.where or admitted(self.where, condition_fields(row)))
        )

    @property
    def only_counted(self) -> bool | None:
        """`counted`; None where a stage is chosen."""
        return self.counted if self.stage is None else None

    @property
    def only_waiting(self) -> bool | None:
        """`waiting`, as the status says where it is chosen."""
        return self.waiting if self.status is None else self.status == "waiting"

    def _id_matches(self, row: Mapping[str, Any]) -> bool:
        return any(contains(row[name], self.search or "") for name in ("debate_id", "case_id"))


def _may_need_review(row: Mapping[str, Any]) -> bool:
    return bool(row["final_verdict"] == REVIEW or row["accepted"] is False or row["reviews"] or row["assignments"])


def condition_fields(row: Mapping[str, Any]) -> Values:
    """The fields that conditions compare, of the case, the label and the evidence, from a row by column name."""
    evidence: EvidenceFacts | None = row["evidence"]
    label = row[FINAL_LABEL]
    decided = {} if label is None else {FINAL_LABEL: (label,)}
    return {**_case_fields(row), **decided, **({} if evidence is None else evidence.values)}


def _case_fields(row: Mapping[str, Any]) -> Values:
    return field_values(**{name: row[name] for name in ("case_id", "label", "cluster", "tags", "metadata")})


def indexed_values(row: Mapping[str, Any]) -> Values:
    """The fields that the table `debate_fields` indexes."""
    return {**_case_fields(row), **({MODEL: tuple(dict.fromkeys(row["models"]))} if row["models"] else {})}


MODEL = "model"
"""The name of a debate's models in `debate_fields`; no field of a case has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts and sums over a list. `cost`: US dollars over the debates of known cost; `unknown_cost` counts the others.

    `waiting` counts the debates that wait, which are in nothing else unless the list has them.
    Debates that do not count for their cases are in no count; sums are over all, and so are `opened`, which counts all,
    and `unfinished`, which counts those that are not over. `mean_score` is that of the completed debates that a seat
    evaluated, None where there are none; `without_evaluation` counts the other completed ones. `labels` counts those of
    verdicts under scales of panels' own, by label, sorted.
    """

    debates: int = 0
    waiting: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    safe_pass: int = 0
    needs_review: int = 0
    unsafe_fail: int = 0
    mean_score: float | None = None
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float = 0.0
    unknown_cost: int = 0
    opened: int = 0
    unfinished: int = 0
    without_evaluation: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)


EVERY_DEBATE = DebateFilter()
"""Of each case of a ladder the one that counts, without those that wait."""

ALL_STAGES = DebateFilter(counted=None)
"""The debates that do not count for their cases too."""
