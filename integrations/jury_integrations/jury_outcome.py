"""What a tool is given of a debate: whether the case passed, a score, the reasons, and where to read on."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

from jury_events.case import Case
from jury_events.verdict import PASS
from jury_integrations.errors import DebateUnfinished
from jury_judge import CollaborativeJuryResult, FinalJudgment

SIMULATED = "Simulated jurors: no model was called, and the verdict says nothing of the case."


@dataclass(frozen=True)
class JuryOutcome:
    """A finished debate.

    Attributes:
        case: as it was judged, before the panel's redaction.
        result: all of the debate.
        judgment: its last phase.
    """

    case: Case
    result: CollaborativeJuryResult
    judgment: FinalJudgment

    @classmethod
    def of(cls, case: Case, result: CollaborativeJuryResult) -> "JuryOutcome":
        """The outcome of a debate.

        Raises:
            DebateUnfinished: it has no judgment.
        """
        if result.phase3_judgment is None:
            raise DebateUnfinished(
                f"debate {result.debate_id} is {result.status} and has no judgment: jury show {result.debate_id}"
            )
        return cls(case, result, result.phase3_judgment)

    @property
    def verdict(self) -> str:
        """One of the three verdicts."""
        return self.judgment.final_verdict

    @property
    def passed(self) -> bool:
        """Whether the verdict is a pass: a case that a person should look at has not passed."""
        return self.verdict == PASS

    @property
    def score(self) -> float:
        """From 0 to 1."""
        return self.judgment.final_score / 100

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
        lines = [f"{self.verdict}{word}, {judgment.final_score} of 100."]
        if self.result.simulated:
            lines.append(SIMULATED)
        if judgment.rationale:
            lines.append(judgment.rationale)
        else:
            lines += [f"{one.juror_id}: {one.verdict}. {one.rationale or ''}" for one in self.result.phase1_evaluations]
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
            "score": self.judgment.final_score,
            "votes": {vote.juror_id: vote.position for vote in self.judgment.votes},
            "agreement": self.agreement,
            "rounds": result.total_rounds,
            "panel": result.panel,
            "simulated": result.simulated,
            "disposition": result.disposition if result.reviews else None,
        }
        return {name: value for name, value in facts.items() if value is not None}
