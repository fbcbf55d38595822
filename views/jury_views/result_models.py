"""The result of a debate, one model for every door, of which documents 004 §3 and 002 have a part.

`debate_results` makes it.

Fields of the documents come first, in their order; what we add follows and has defaults. Verdicts are the words of
`Verdict`. A text that was erased is None.
"""

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

from pydantic import TypeAdapter, with_config
from pydantic.alias_generators import to_camel

from jury_events.judgment import ConsensusStatus
from jury_events.panel import Language
from jury_views.debate_fold import Status
from jury_views.evaluation_models import (
    SERVED,
    BranchOrigin,
    ChangedBy,
    DecisivePlace,
    JurorEvaluation,
    LabelledPlace,
    LaterEventsKnown,
    ModelMismatch,
    OmittedContent,
    PositionChanges,
    ReviewOfResult,
    ScenarioResult,
    VerdictWord,
    said,
)


class CellHtml(str):
    """HTML that a notebook shows as it is, and that can be written to a file."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


class ShownAsCell:
    """A value with HTML for a cell of a notebook: in English where it is the last value, in a language by `to_html`."""

    __slots__ = ()

    @abstractmethod
    def to_html(self, lang: Language = "en") -> CellHtml:
        """The HTML of a cell, in a language."""

    def _repr_html_(self) -> str:
        return self.to_html()


@with_config(SERVED)
@dataclass
class ConsensusResult:
    """A consensus check."""

    consensus_status: ConsensusStatus
    agreement_level: Annotated[float, said("0-1.", ge=0, le=1)]
    consensus_reached: bool
    majority_position: Annotated[VerdictWord | None, said("Null when split.")]
    majority_label: str | None = None


@with_config(SERVED)
@dataclass
class JurorStatement:
    """A juror's statement in a round."""

    juror_id: str
    round_number: int
    statement_order: Annotated[int, said("From 0.")]
    statement: str | None
    position: VerdictWord
    reasoning: str | None
    position_changed: Annotated[bool, said("As recorded.")]
    updated_evaluation: JurorEvaluation | None
    change: Annotated[
        ChangedBy | None,
        said("Whose change it is; `synthetic` where only what stands in for a blocked answer differs; null: none."),
    ] = None


@with_config(SERVED)
@dataclass
class DiscussionRound:
    """A round, numbered from 1."""

    round_number: int
    statements: list[JurorStatement]
    consensus_check: Annotated[ConsensusResult | None, said("Null where the debate stopped before it.")]
    speaker_order: list[str]


@with_config(SERVED)
@dataclass
class JurorVote:
    """A seat's vote in the final judgment."""

    juror_id: str
    kind: Annotated[
        str, said("`own`, `stale`, `synthetic`, `abstained` or `not_asked`, the last two without a position.")
    ]
    position: VerdictWord | None
    score: float | None
    confidence: float | None
    weight: float
    round: Annotated[int | None, said("Where its evaluation was made, 0 for phase 1.")]
    stale: bool
    label: str | None = None
    partly_read: Annotated[list[str], said("Parts of the record that were refused, or never answered usably.")] = field(
        default_factory=list
    )


@with_config(SERVED)
@dataclass
class VerdictAcceptance:
    """Whether a calibrated panel's verdict may stand without a person; one that may not became `REVIEW`."""

    signal: Annotated[str, said("`share`, `isotonic`, `weights`, `dawid_skene`, `votes+step` or `probability`.")]
    verdict: Annotated[VerdictWord, said("The panel's before.")]
    probability: Annotated[
        float | None,
        said("Of the signal; null where the verdict asked for a person already, or none of its outcome is accepted."),
    ]
    threshold: float
    accepted: bool
    label: str | None = None


@with_config(SERVED)
@dataclass
class ShortfallResult:
    """A critical criterion with too few points."""

    criterion: str
    points: float
    least: float
    cap: Annotated[str, said("The best outcome that it leaves: `review` or `fail`.")]


@with_config(SERVED)
@dataclass
class FinalJudgment:
    """Phase 3: what was asked for (`method`), what decided (`decided_by`), and every seat's vote."""

    method: str
    verdict: VerdictWord
    score: Annotated[int | None, said("Null where no juror evaluated.")]
    rationale: Annotated[str | None, said("The final judge's.")]
    decided_by: str
    mean: Annotated[float | None, said("The score before it was rounded.")]
    votes: list[JurorVote] = field(default_factory=list)
    quorum: int = 1
    quorum_votes: int = 0
    quorum_met: bool = False
    capped: Annotated[bool, said("Votes that passed became `REVIEW`.")] = False
    capped_by: Annotated[str | None, said("`quorum`: it was lost. `silence`: of silent seats.")] = None
    capped_scenarios: list[str] = field(default_factory=list)
    acceptance: Annotated[VerdictAcceptance | None, said("Null where the panel has no calibration.")] = None
    judge: JurorEvaluation | None = None
    judge_failure: Annotated[str | None, said("Why the final judge gave no evaluation.")] = None
    scenarios: list[ScenarioResult] = field(default_factory=list)
    label: Annotated[str | None, said("The word of the panel's own scale; null where only an outcome was decided.")] = (
        None
    )
    agreed_on: Annotated[str | None, said("Under such a scale: `label`, `outcome` or `nothing`.")] = None
    shortfalls: Annotated[list[ShortfallResult], said("Critical criteria with too few points.")] = field(
        default_factory=list
    )

    @property
    def vote_distribution(self) -> dict[str, int]:
        """The number of votes by verdict, without abstentions."""
        return dict(Counter(vote.position for vote in self.votes if vote.position is not None))


@with_config(SERVED)
@dataclass
class Abstention:
    """A seat without an answer that counts in a round (0: phase 1)."""

    juror_id: str
    round_number: int
    reason: str
    refusal: str | None
    stale: Annotated[bool, said("An earlier evaluation of it stands.")]
    partly_read: list[str] = field(default_factory=list)


@with_config(SERVED)
@dataclass
class DebateResult(ShownAsCell):
    """The result of a debate. What has not happened is null; `total_rounds` counts the completed rounds."""

    phase1_evaluations: list[JurorEvaluation]
    phase1_consensus: ConsensusResult | None
    discussion_rounds: list[DiscussionRound]
    total_rounds: int
    phase3_judgment: FinalJudgment | None
    final_verdict: VerdictWord | None
    final_score: Annotated[int | None, said("0-100; null also where no juror evaluated.", ge=0, le=100)]
    early_termination: Annotated[bool | None, said("Consensus skipped the discussion, or ended it early.")]
    debate_id: str = ""
    case_id: str = ""
    run_id: str | None = None
    submission_id: str | None = None
    status: Status = "completed"
    end_reason: str | None = None
    abstentions: list[Abstention] = field(default_factory=list)
    position_changes: PositionChanges = field(default_factory=lambda: PositionChanges(own=0, synthetic=0))
    panel: str = ""
    method: str = ""
    simulated: Annotated[bool, said("The panel or an evaluation is simulated.")] = False
    model_mismatches: list[ModelMismatch] = field(default_factory=list)
    forked_from: BranchOrigin | None = None
    label: Annotated[VerdictWord | None, said("The human verdict of the case.")] = None
    tags: list[str] = field(default_factory=list)
    metadata: Annotated[dict[str, str | bool | int | float], said("Names and values as in the case file.")] = field(
        default_factory=dict
    )
    cluster: str | None = None
    agent_cost: Annotated[float | None, said("Cost of the judged agent in US dollars.")] = None
    omissions: Annotated[list[OmittedContent], said("Parts of the case that no juror was shown, by kind.")] = field(
        default_factory=list
    )
    before_reasoning: Annotated[
        list[JurorEvaluation],
        said("First votes of seats that were then shown the agent's reasoning, and judged again; else empty."),
    ] = field(default_factory=list)
    label_decisive: Annotated[LabelledPlace | None, said("Null where the label names neither message nor agent.")] = (
        None
    )
    disposition: Annotated[VerdictWord | None, said("The last human verdict, else the jury's.")] = None
    later_events: Annotated[
        LaterEventsKnown | None,
        said("Of an imported debate: whether its origin may have later events, such as reviews."),
    ] = None
    reviews: list[ReviewOfResult] = field(default_factory=list)
    scenario_results: Annotated[list[ScenarioResult], said("One row for each scenario; empty before the judgment.")] = (
        field(default_factory=list)
    )
    scale: Annotated[str | None, said("The panel's own scale; null: the three verdicts.")] = None
    final_label: Annotated[str | None, said("Its word; null where only an outcome was decided.")] = None
    reason: Annotated[str | None, said("Why the verdict came; null without a verdict.")] = None
    reason_by: Annotated[list[str], said("Whose words these are: seats, or final_judge.")] = field(default_factory=list)
    decisive: Annotated[
        DecisivePlace | None, said("Where it went wrong; null where no seat says, or the verdict passes.")
    ] = None

    def data(self, *, served: bool = False) -> dict[str, Any]:
        """As JSON data, the ids and the outcome first; `served`: with the names of HTTP, in camelCase."""
        found: dict[str, Any] = _adapter().dump_python(self, mode="json", by_alias=served)
        return {**{name: found[name] for name in (map(to_camel, _FIRST) if served else _FIRST)}, **found}

    def to_html(self, lang: Language = "en") -> CellHtml:
        """The result as a cell of a notebook shows it (docs/python-api.md)."""
        from jury_views.notebook import rendered  # noqa: PLC0415  (templates are for notebooks alone)

        return CellHtml(rendered("result.html", lang, result=self))

    @property
    def participating_jurors(self) -> list[str]:
        """The jurors' ids: before the judgment, of those who evaluated or abstained so far."""
        if self.phase3_judgment is not None:
            return [vote.juror_id for vote in self.phase3_judgment.votes]
        jurors = [one.juror_id for one in self.phase1_evaluations] + [one.juror_id for one in self.abstentions]
        return list(dict.fromkeys(jurors))


OUTCOME = ("final_verdict", "final_label", "final_score")
"""The fields that say what a debate came to."""

_FIRST = ("debate_id", "case_id", "run_id", "status", *OUTCOME, "reason", "reason_by", "decisive")


@cache
def _adapter() -> TypeAdapter[DebateResult]:
    return TypeAdapter(DebateResult)


CollaborativeJuryResult = DebateResult
CollaborativeEvaluationResult = DebateResult
"""The names of it in documents 004 and 002."""
