"""The result of a debate as plain data: document 004's `CollaborativeJuryResult`, and one line for a list of results.

Both are made of stored facts alone, so that every later reading gives the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jury_events.calibration import Acceptance
from jury_events.codec import DebateEvent
from jury_events.consensus import ConsensusCheck
from jury_events.debate_events import (
    DebateCompleted,
    DebateOpened,
    JudgmentRendered,
    JurorEvaluated,
    StatementMade,
)
from jury_events.debate_history import DebateHistory
from jury_events.evaluation import Evaluation, ScenarioVerdict
from jury_events.evidence_facts import EvidenceFacts, evidence_after
from jury_events.ids import Step
from jury_events.judgment import Vote
from jury_events.panel import Seat
from jury_events.parts import Digest, Part
from jury_events.review_facts import NO_REVIEWS, ReviewFacts
from jury_views.answered_by import AnsweredBy, answers, is_simulated, model_mismatches
from jury_views.events_by_phase import (
    Ending,
    EventsByPhase,
    RoundEvents,
    Texts,
    events_by_phase,
    status_of,
    text_in,
)
from jury_views.evidence_counts import evidence_object
from jury_views.label_decisive import label_decisive_object
from jury_views.later_events import later_events_object
from jury_views.position_changes import Change, change_counts, position_changes
from jury_views.probabilities import probabilities_object
from jury_views.quotations import quotations
from jury_views.reasons import ReasonSteps, VerdictReason, reason_data, reason_of, texts_of
from jury_views.record_reading import reading_object
from jury_views.review_objects import NO_REASONS, Reasons, reasons_in, review_objects
from jury_views.stored_lines import LineJudgment, LineOpening, evaluations_at, stored_line


def result_of(history: DebateHistory) -> dict[str, Any]:
    """`collaborative_result` of a recorded debate, with the reviews of people, and `later_events` of an imported one.

    Raises:
        OpeningMissing, EventError: the events do not begin with the opening event, or one does not decode.
    """
    result = collaborative_result(history.events, history.texts, history.reviews, reasons_in(history))
    return {**result, "later_events": later_events_object(history.local.later_events)}


def collaborative_result(
    events: Iterable[DebateEvent], texts: Texts, reviews: ReviewFacts = NO_REVIEWS, reasons: Reasons = NO_REASONS
) -> dict[str, Any]:
    """Everything that a debate came to, snake_case, ready for JSON.

    `reason` says why the verdict came, in the words of `reason_by` (seats, or `final_judge`), and `decisive` which item
    it went wrong at, with its `words` and how many of the `seats` name it: see `reasons`; null without a verdict.
    Scores are points of the panel's rubric, by dimension and under `scores`; `overall_score` is 0-100. An erased text
    is null. A debate that has not completed has `status` "waiting", "unfinished", "failed" or "cancelled", and null as
    `final_verdict`, `final_score`, `early_termination` and `end_reason`; `total_rounds` counts the completed rounds.
    `simulated`: the panel or an evaluation is simulated; `model_mismatches` where another model
    answered than was asked; `forked_from` the origin of a branch and the last event that it keeps of it, else null.
    `label`, `tags`, `metadata`, `cluster` and `agent_cost` are those of the case; `omissions` its parts that no juror
    was shown: `what`, `count`, and `size` in bytes, null where it is not known. `label_decisive` is where it first went
    wrong by the label: `message` of the source, from 0, the `agent` at fault, and the numbers of the message's `items`;
    null where the label names neither.
    A statement's `position_changed` is as recorded; its `change` says whose it is: `own`, `synthetic` (only what stands
    in for an answer that a provider's filter blocked differs), or null. `position_changes` counts both.
    `reviews` are those of people, with their `reasons` by number, and `disposition` is the last human verdict where
    there is one, else `final_verdict`. `later_events`: null unless the debate was imported; then `excluded_as_of`, null
    where reviews, and so the disposition, may lack later events of its origin, and `signed_by`.
    `scenario_results` has a row each scenario once there is a judgment: the only one's is that of the case.
    `evidence` of an evaluation has its quotations with the results of their checks, null where none was asked for;
    `span` is in characters of the text of its `item`. `decisive_item` is the first item where it went wrong;
    `unsupported`: it fails the agent without a quotation that stands where the juror says. `reading`: how much of a
    long record it rests on (`reading_object`), null where that is all of it, in one call. `probabilities`, also of its
    scenarios, are those of the verdict words by a decision model, which gives no rationale; else null.
    Under a scale of the panel's own, `scale` is its name, `label` of an evaluation, a vote, a scenario and the judgment
    the word of the scale, `majority_label` that of a check, `final_label` that of the result; null where only an
    outcome was decided, and under the three verdicts. `agreed_on` and `shortfalls` as in `Judgment`.

    Raises:
        OpeningMissing: the events do not begin with the opening event.
    """
    events = list(events)
    evaluations = answers(events)
    changes = position_changes(evaluations)
    record = events_by_phase(events)
    opened, forked, ending = record.opened, record.forked, record.ending
    reason = reason_of(record, evaluations, texts)
    completed = ending if isinstance(ending, DebateCompleted) else None
    return {
        "debate_id": opened.debate_id,
        "case_id": opened.case_id,
        "run_id": opened.run_id,
        "forked_from": {"debate_id": forked.origin, "version": forked.version} if forked else None,
        "submission_id": opened.submission_id,
        "panel": opened.panel.name,
        "method": opened.panel.final.method,
        "scale": opened.panel.scale.name if opened.panel.scale else None,
        "simulated": is_simulated(opened, evaluations),
        "model_mismatches": model_mismatches(evaluations),
        **_of_case(opened),
        "label_decisive": label_decisive_object(opened, texts),
        "status": record.status,
        "phase1_evaluations": [
            _juror_evaluation(opened.panel.seat(said.juror_id), said.evaluation, 0, texts)
            for said in record.phase_1
            if isinstance(said, JurorEvaluated)
        ],
        "phase1_consensus": _consensus(record.phase_1_check),
        "discussion_rounds": [_round(opened, each, changes, texts) for each in record.rounds],
        "position_changes": change_counts(changes)._asdict(),
        "abstentions": _abstentions(record),
        "total_rounds": _completed_rounds(record) if completed is None else completed.total_rounds,
        "phase3_judgment": _judgment(record.judgment, texts),
        "final_verdict": completed.final_verdict.value if completed else None,
        "final_label": completed.final_label if completed else None,
        "final_score": completed.final_score if completed else None,
        **reason_data(reason),
        "early_termination": completed.early_termination if completed else None,
        "end_reason": completed.end_reason if completed else None,
        "disposition": _disposition(completed, reviews),
        "later_events": None,
        "reviews": review_objects(reviews, reasons),
        "scenario_results": _scenario_results(opened, record.judgment),
    }


def _disposition(completed: DebateCompleted | None, reviews: ReviewFacts) -> str | None:
    verdict = reviews.verdict or (completed.final_verdict if completed else None)
    return None if verdict is None else verdict.value


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

    The same keys always; what has not happened is null. `reason`, `reason_by` and `decisive` are as in
    `collaborative_result`. `vote_kinds` says of each vote whether it is the seat's `own`,
    `synthetic` (stands in for a blocked answer), `stale` (an earlier one stands) or `abstained`. `capped_by` says why
    votes that passed need review: `quorum` (it was lost), `silence` (they do not pass with silent seats counted), null
    where they do not. `label` is the human
    verdict, where the case has one; it, `simulated`, `model_mismatches`, `position_changes` and what else is known of
    the case are as in `collaborative_result`. `evidence` counts the quotations by the results of their checks and the
    seats that fail the agent without support, null where none was asked for (`evidence_object`). `read` has the share
    of the record that each seat read that did not read it whole in one call, by its latest evaluation; `probabilities`
    has those of the verdict words, by seat, of decision models. `partly_read` has, by seat, the parts of the record
    that were refused, or never answered usably; seats without such a part are not in it.
    Under a scale of the panel's own, `scale` is its name, `final_label` the word of the verdict, `vote_labels` those of
    the votes; `agreed_on` says what decided, and `shortfalls` which critical criteria had too few points.
    """
    completed = ending if isinstance(ending, DebateCompleted) else None
    judgment = rendered.judgment if rendered else None
    return {
        "case_id": opened.case_id,
        "debate_id": opened.debate_id,
        "run_id": opened.run_id,
        "status": status_of(ending, begun=begun),
        "final_verdict": completed.final_verdict.value if completed else None,
        "final_label": completed.final_label if completed else None,
        "final_score": completed.final_score if completed else None,
        **reason_data(reason),
        "total_rounds": completed.total_rounds if completed else None,
        "early_termination": completed.early_termination if completed else None,
        "end_reason": completed.end_reason if completed else None,
        "method": opened.panel.final.method,
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
        "position_changes": change_counts(position_changes(evaluations))._asdict(),
        "panel": opened.panel.name,
        "scale": opened.panel.scale.name if opened.panel.scale else None,
        "simulated": is_simulated(opened, evaluations),
        "model_mismatches": model_mismatches(evaluations),
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
        **_of_case(opened),
    }


def _evidence(evaluations: Iterable[AnsweredBy]) -> EvidenceFacts | None:
    facts = None
    for one in evaluations:
        facts = evidence_after(facts, one.step.juror_id, one.facts)
    return facts


def _of_case(opened: DebateOpened | LineOpening) -> dict[str, Any]:
    """The parts of the case that no juror was shown."""
    return {
        "label": opened.label.value if opened.label else None,
        "tags": list(opened.tags),
        "metadata": dict(opened.metadata),
        "cluster": opened.cluster,
        "agent_cost": opened.agent_cost,
        "omissions": [omission.model_dump() for omission in opened.omissions],
    }


class StoredResult:
    """The line of a recorded debate, of which only the fields and texts of a line are read.

    Args:
        history: of the debate; of its texts nothing is read.

    Raises:
        EventError: a field does not decode.
        OpeningMissing: the opening event is not there.
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


def _evaluation(evaluation: Evaluation, texts: Texts) -> dict[str, Any]:
    """The dimensions come first, so that one that is named like another field of ours does not hide it."""
    points = {score.dimension: score.points for score in evaluation.points}
    return {
        **points,
        "verdict": evaluation.verdict.value,
        "label": evaluation.label,
        "overall_score": evaluation.overall,
        "scores": points,
        "confidence": evaluation.confidence,
        "rationale": text_in(texts, evaluation.rationale),
        "synthetic": evaluation.synthetic,
        "model": evaluation.model,
        "model_version": evaluation.model_version,
        "simulated": evaluation.simulated,
        "scenarios": [
            {**row, "probabilities": probabilities_object(scenario.probabilities)}
            for row, scenario in zip(_scenarios(evaluation.scenarios), evaluation.scenarios, strict=True)
        ],
        "reading": reading_object(evaluation),
        **evidence_of(evaluation, texts),
        "probabilities": probabilities_object(evaluation.probabilities),
    }


def evidence_of(evaluation: Evaluation, texts: Texts) -> dict[str, Any]:
    """The quotations of an evaluation as in `collaborative_result`, its decisive item, whether it is unsupported."""
    entries = [
        {
            "item": one.entry.item,
            "quote": one.text,
            "says": one.entry.says,
            "criterion": one.entry.criterion,
            "seat": one.entry.seat,
            "result": one.entry.result,
            "span": None if one.entry.span is None else one.entry.span.model_dump(),
        }
        for one in quotations(evaluation, texts)
    ]
    return {
        "evidence": None if evaluation.evidence is None else entries,
        "decisive_item": evaluation.decisive_item,
        "unsupported": evaluation.unsupported,
    }


def _juror_evaluation(seat: Seat, evaluation: Evaluation, round_number: int, texts: Texts) -> dict[str, Any]:
    return {
        **_evaluation(evaluation, texts),
        "juror_id": seat.juror_id,
        "role_name": seat.role_name,
        "role_focus": seat.role_focus,
        "phase": "discussion" if round_number else "initial",
        "round_number": round_number,
    }


def _scenarios(scenarios: tuple[ScenarioVerdict, ...]) -> list[dict[str, Any]]:
    return [
        {"scenario_id": s.scenario_id, "verdict": s.verdict.value, "label": s.label, "score": s.score}
        for s in scenarios
    ]


def _scenario_results(opened: DebateOpened, rendered: JudgmentRendered | None) -> list[dict[str, Any]]:
    """One row a scenario; where the judgment has none (one scenario alone, no vote), the row is that of the case."""
    if rendered is None:
        return []
    judgment = rendered.judgment
    judged = {row["scenario_id"]: row for row in _scenarios(judgment.scenarios)}
    whole = {
        "verdict": judgment.verdict.value,
        "label": judgment.label,
        "score": judgment.score if judgment.score is None else float(judgment.score),
    }
    return [{"scenario_id": name, **whole, **judged.get(name, {})} for name in opened.scenarios]


def _consensus(check: ConsensusCheck | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return {
        "consensus_status": check.status.value,
        "agreement_level": check.agreement_level,
        "consensus_reached": check.reached,
        "majority_position": check.majority_position.value if check.majority_position else None,
        "majority_label": check.majority_label,
    }


def _round(opened: DebateOpened, record: RoundEvents, changes: Mapping[Step, Change], texts: Texts) -> dict[str, Any]:
    return {
        "round_number": record.started.round,
        "statements": [
            _statement(opened, said, changes.get(Step(said.round, said.juror_id)), texts) for said in record.statements
        ],
        "consensus_check": _consensus(record.check),
        "speaker_order": list(record.started.speaker_order),
    }


def _statement(opened: DebateOpened, said: StatementMade, change: Change | None, texts: Texts) -> dict[str, Any]:
    statement = said.statement
    return {
        "juror_id": said.juror_id,
        "round_number": said.round,
        "statement_order": statement.order,
        "statement": text_in(texts, statement.statement),
        "position": statement.position.value,
        "reasoning": text_in(texts, statement.evaluation.rationale),
        "position_changed": statement.position_changed,
        "change": change,
        "updated_evaluation": _juror_evaluation(
            opened.panel.seat(said.juror_id), statement.evaluation, said.round, texts
        ),
    }


def _abstentions(record: EventsByPhase) -> list[dict[str, Any]]:
    return [
        {
            "juror_id": absent.juror_id,
            "round_number": Step.parse(absent.step).round,
            "reason": absent.reason.value,
            "refusal": absent.refusal.value if absent.refusal else None,
            "stale": absent.stale,
            "partly_read": list(absent.partly_read or ()),
        }
        for absent in record.abstentions
    ]


def _completed_rounds(record: EventsByPhase) -> int:
    return sum(each.check is not None for each in record.rounds)


def _judgment(rendered: JudgmentRendered | None, texts: Texts) -> dict[str, Any] | None:
    if rendered is None:
        return None
    judgment = rendered.judgment
    return {
        "method": judgment.method,
        "decided_by": judgment.decided_by.value,
        "verdict": judgment.verdict.value,
        "label": judgment.label,
        "agreed_on": judgment.agreed_on,
        "shortfalls": [one.model_dump(mode="json") for one in judgment.shortfalls or ()],
        "score": judgment.score,
        "mean": judgment.mean,
        "rationale": text_in(texts, judgment.judge.rationale) if judgment.judge else None,
        "quorum": judgment.quorum,
        "quorum_votes": judgment.quorum_votes,
        "quorum_met": judgment.quorum_met,
        "capped": judgment.capped,
        "capped_by": judgment.capped_by,
        "capped_scenarios": list(judgment.capped_scenarios or ()),
        "acceptance": None if judgment.acceptance is None else _with_label(judgment.acceptance),
        "votes": [{**_with_label(vote), "partly_read": list(vote.partly_read or ())} for vote in judgment.votes],
        "judge": _evaluation(judgment.judge, texts) if judgment.judge else None,
        "judge_failure": judgment.judge_failure.value if judgment.judge_failure else None,
        "scenarios": _scenarios(judgment.scenarios),
    }


def _with_label(value: Vote | Acceptance) -> dict[str, Any]:
    return value.model_dump(mode="json")
