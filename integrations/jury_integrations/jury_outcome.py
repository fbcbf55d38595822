"""What a tool is given of a debate: whether the case passed, a score, the reasons, and where to read on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from jury_events.case import Case
from jury_events.verdict import PASS
from jury_integrations.errors import DebateUnfinished
from jury_judge import DebateResult, FinalJudgment, JurorEvaluation, QuotedEvidence
from jury_views.number_formats import probabilities_line

_STANDS = ("verified", "normalised")
SIMULATED = "Simulated jurors: no model was called, and the verdict says nothing of the case."
CAPPED = {
    "quorum": "Capped: the votes passed, but too few jurors gave a usable answer.",
    "silence": "Capped: the votes passed, but not with the silent seats counted.",
}

NO_EVALUATION = "without a score: no juror gave an evaluation"


@dataclass(frozen=True)
class JuryOutcome:
    """A finished debate.

    Attributes:
        case: as it was judged, before the panel's redaction.
        result: all of the debate.
        judgment: its last phase.
        messages: the number of the message in the source, from 0, by the number of each item that jurors saw.
    """

    case: Case
    result: DebateResult
    judgment: FinalJudgment
    messages: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case, result: DebateResult, messages: Mapping[int, int]) -> "JuryOutcome":
        if result.phase3_judgment is None:
            raise DebateUnfinished(
                f"debate {result.debate_id} is {result.status} and has no judgment: jury show {result.debate_id}"
            )
        return cls(case, result, result.phase3_judgment, messages)

    @property
    def verdict(self) -> str:
        """One of the three verdicts."""
        return self.judgment.verdict

    @property
    def passed(self) -> bool:
        """Whether the verdict is a pass: a case that a person should look at has not passed."""
        return self.verdict == PASS

    @property
    def score(self) -> float | None:
        """From 0 to 1; None where no juror evaluated."""
        return None if self.judgment.score is None else self.judgment.score / 100

    @property
    def agreement(self) -> float | None:
        """The share of pairs of jurors with the same first verdict, 0 to 1; None with fewer than two verdicts."""
        first = [one.verdict for one in self.result.phase1_evaluations if not one.synthetic]
        pairs = [left == right for left, right in combinations(first, 2)]
        return sum(pairs) / len(pairs) if pairs else None

    @property
    def explanation(self) -> str:
        """The verdict, the reasons of the final judge or else of each juror, and how to read the whole debate."""
        judgment = self.judgment
        word = "" if judgment.label is None else f" ({judgment.label})"
        score = NO_EVALUATION if judgment.score is None else f"{judgment.score} of 100"
        lines = [f"{self.verdict}{word}, {score}."]
        if judgment.capped_by is not None:
            lines.append(CAPPED[judgment.capped_by])
        if self.result.simulated:
            lines.append(SIMULATED)
        if judgment.rationale:
            lines.append(judgment.rationale)
        else:
            lines += [f"{one.juror_id}: {one.verdict}. {_said(one)}".rstrip() for one in self.result.phase1_evaluations]
        return "\n".join([*lines, f"jury show {self.result.debate_id}"])

    @property
    def metadata(self) -> dict[str, Any]:
        """Plain facts, for a tool to keep beside the score: JSON types alone."""
        result = self.result
        facts = {
            "debate_id": result.debate_id,
            "run_id": result.run_id,
            "verdict": self.verdict,
            "label": self.judgment.label,
            "score": self.judgment.score,
            "reason": result.reason,
            "decisive": result.decisive,
            "capped_by": self.judgment.capped_by,
            "votes": {vote.juror_id: vote.position for vote in self.judgment.votes},
            "agreement": self.agreement,
            "rounds": result.total_rounds,
            "panel": result.panel,
            "simulated": result.simulated,
            "disposition": result.disposition if result.reviews else None,
        }
        return {name: value for name, value in facts.items() if value is not None}

    @property
    def cited_messages(self) -> dict[int, list[str]]:
        """What jurors last quoted of the messages of the source, by message, as one line each.

        Quotations that stand in no item are left out.
        """
        found: dict[int, list[str]] = {}
        for evaluation in self._last_evaluations():
            for one in evaluation.evidence or ():
                message = self.messages.get(one.item)
                if message is not None and one.seat is None and one.result in _STANDS:
                    found.setdefault(message, []).append(_line(evaluation.juror_id, one))
        return dict(sorted(found.items()))

    def _last_evaluations(self) -> list[JurorEvaluation]:
        last = {one.juror_id: one for one in self.result.phase1_evaluations}
        statements = (one for one_round in self.result.discussion_rounds for one in one_round.statements)
        last |= {one.juror_id: one.updated_evaluation for one in statements if one.updated_evaluation is not None}
        return list(last.values())


def _said(one: JurorEvaluation) -> str:
    """The reasons; of a decision model its probabilities."""
    return one.rationale or ("" if one.probabilities is None else probabilities_line(one.probabilities))


def _line(juror: str, quoted: QuotedEvidence) -> str:
    return f'{juror}, {quoted.says}: "{quoted.quote or ""}"'
