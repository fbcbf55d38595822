"""One line for a list of results: a debate's outcome as plain data, made of the fields that it reads alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jury_events.debate_events import DebateCompleted, DebateOpened, JudgmentRendered
from jury_events.debate_history import DebateHistory
from jury_events.evidence_facts import EvidenceFacts, evidence_after
from jury_events.parts import Digest, Part
from jury_views.debate_fold import (
    AnsweredBy,
    Ending,
    Status,
    change_counts,
    is_simulated,
    model_mismatches,
    position_changes,
    status_of,
)
from jury_views.reasons import ReasonSteps, VerdictReason, reason_data, texts_of
from jury_views.run_quotations import evidence_object
from jury_views.stored_lines import LineJudgment, LineOpening, evaluations_at, stored_line


def outcome_fields(
    opened: DebateOpened | LineOpening,
    evaluations: Sequence[AnsweredBy],
    completed: DebateCompleted | None,
    reason: VerdictReason | None,
    status: Status,
) -> dict[str, Any]:
    """The fields that a result line shares with the whole result (`DebateResult`), by the same names.

    Args:
        opened: the opening, or the fields of it that a line has.
        completed: its end; None: it has no verdict.
    """
    return {
        "case_id": opened.case_id,
        "debate_id": opened.debate_id,
        "run_id": opened.run_id,
        "status": status,
        "final_verdict": completed.final_verdict.value if completed else None,
        "final_label": completed.final_label if completed else None,
        "final_score": completed.final_score if completed else None,
        **reason_data(reason),
        "early_termination": completed.early_termination if completed else None,
        "end_reason": completed.end_reason if completed else None,
        "method": opened.panel.final.method,
        "panel": opened.panel.name,
        "scale": opened.panel.scale.name if opened.panel.scale else None,
        "position_changes": change_counts(position_changes(evaluations))._asdict(),
        "simulated": is_simulated(opened, evaluations),
        "model_mismatches": model_mismatches(evaluations),
        "label": opened.label.value if opened.label else None,
        "tags": list(opened.tags),
        "metadata": dict(opened.metadata),
        "cluster": opened.cluster,
        "agent_cost": opened.agent_cost,
        "omissions": [omission.model_dump() for omission in opened.omissions],
    }


def result_line(
    opened: DebateOpened | LineOpening,
    evaluations: Sequence[AnsweredBy],
    rendered: JudgmentRendered | LineJudgment | None,
    ending: Ending | None,
    begun: bool,
    *,
    reason: VerdictReason | None = None,
) -> dict[str, Any]:
    """One debate in a list of results (JSONL): ids, verdict, why and how it came about, without other texts.

    The same keys always; what has not happened is null. Those of `outcome_fields` are described in `DebateResult`.
    `vote_kinds` says of each vote whether it is the seat's `own`, `synthetic` (stands in for a blocked answer), `stale`
    (an earlier one stands) or `abstained`. `capped_by` says why votes that passed need review: `quorum` (it was lost),
    `silence` (they do not pass with silent seats counted). `evidence` counts the quotations by the results of their
    checks and the seats that fail the agent without support, null where none was asked for (`evidence_object`). `read`
    has the share of the record that each seat read that did not read it whole in one call, by its latest evaluation;
    `probabilities` those of the verdict words, by seat, of decision models. `partly_read` has, by seat, the parts of
    the record that were refused, or never answered usably. Under a scale of the panel's own, `vote_labels` are those of
    the votes; `agreed_on` says what decided, and `shortfalls` which critical criteria had too few points.
    """
    completed = ending if isinstance(ending, DebateCompleted) else None
    judgment = rendered.judgment if rendered else None
    return {
        **outcome_fields(opened, evaluations, completed, reason, status_of(ending, begun=begun)),
        "total_rounds": completed.total_rounds if completed else None,
        "decided_by": judgment.decided_by.value if judgment else None,
        "quorum_met": judgment.quorum_met if judgment else None,
        "capped_by": judgment.capped_by if judgment else None,
        "votes": {vote.juror_id: vote.position.value if vote.position else None for vote in judgment.votes}
        if judgment
        else None,
        "vote_labels": {vote.juror_id: vote.label for vote in judgment.votes}
        if judgment and opened.panel.scale
        else None,
        "vote_kinds": {vote.juror_id: vote.kind for vote in judgment.votes} if judgment else None,
        "agreed_on": judgment.agreed_on if judgment else None,
        "shortfalls": [one.criterion for one in judgment.shortfalls or ()] if judgment else None,
        "evidence": evidence_object(_evidence(evaluations)),
        "read": {one.step.juror_id: one.read for one in evaluations if one.step.juror_id and one.read is not None},
        "partly_read": {vote.juror_id: list(vote.partly_read) for vote in judgment.votes if vote.partly_read}
        if judgment
        else None,
        "probabilities": {
            one.step.juror_id: one.probabilities
            for one in evaluations
            if one.step.juror_id and one.probabilities is not None
        },
    }


def _evidence(evaluations: Iterable[AnsweredBy]) -> EvidenceFacts | None:
    facts = None
    for one in evaluations:
        facts = evidence_after(facts, one.step.juror_id, one.facts)
    return facts


class StoredResult:
    """The line of a recorded debate, of which only the fields and texts of a line are read.

    Args:
        history: of the debate; of its texts nothing is read.
    """

    def __init__(self, history: DebateHistory) -> None:
        self._history = history
        self._line = stored_line(history)
        rendered = self._line.rendered
        self._why = None if rendered is None else ReasonSteps(rendered.judgment, self._line.evaluations)
        self._evaluations = {} if self._why is None else evaluations_at(history, self._why.steps)

    @property
    def debate_id(self) -> str:
        """Of the debate."""
        return self._history.debate_id

    @property
    def digests(self) -> list[Digest]:
        """The texts of the line."""
        return [ref.digest for ref in texts_of(self._evaluations.values())]

    def reason(self, parts: Mapping[Digest, Part]) -> VerdictReason | None:
        """Why the verdict came; None: there is none. `parts` as of `line`."""
        history = replace(self._history, parts=parts)
        return None if self._why is None else self._why.reason(self._evaluations, history.texts, history.erased)

    def line(self, parts: Mapping[Digest, Part]) -> dict[str, Any]:
        """The line.

        Args:
            parts: of the debate, at least those of `digests` that are stored.
        """
        return result_line(*self._line, reason=self.reason(parts))


def line_of(history: DebateHistory) -> dict[str, Any]:
    """The line of a recorded debate with its texts: see `StoredResult`."""
    return StoredResult(history).line(history.parts)
