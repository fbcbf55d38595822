"""What the verdict of a juror counts that rests on what was read of a long record.

Laws. Where a call about a part was refused, or never answered usably, a passing verdict does not count: in its place
stands what the panel's rule `safety_filter` says of a blocked call. Under `fallback` the other models of the seat were
asked before, so that it abstains then. A verdict of another outcome stands, but no scenario passes in it. Where all
calls about parts were answered, the panel's rule `least_read` decides."""

from jury_debate.assignment import AnswerSpec, Assignment
from jury_debate.prompts_1.texts import fill
from jury_debate.prompts_registry import load_prompts
from jury_debate.rules_1.answers import scores_of
from jury_debate.step_outcome import Answered, Blocked, Outcome, ParsedAnswer, Unanswered
from jury_events.evaluation import ScenarioVerdict, SeatPosition
from jury_events.outcome import FailureReason
from jury_events.reading import RecordRead
from jury_events.verdict import PASS, REVIEW

_NEUTRAL = 50.0


def counted(answered: Answered, read: RecordRead, assignment: Assignment) -> Outcome:
    """The outcome of an answer that rests on what was read.

    Args:
        answered: with the exchanges of the step.
        read: by the seat.
        assignment: of the step, with a reading.
    """
    answer = answered.answer
    if read.partly_read is None:
        assert assignment.reading is not None
        least = assignment.reading.least_read
        return answered._replace(answer=_with_reading(answer, read, least, assignment.spec))
    if answer.verdict is not PASS:
        scenarios = tuple(map(_without_pass, answer.scenarios))
        return answered._replace(answer=answer._replace(reading=read, scenarios=scenarios))
    if assignment.step.juror_id is None or assignment.answers.safety_filter != "neutral":
        return Unanswered(FailureReason.PARTLY_READ, None, answered.exchanges, read.partly_read)
    rationale = fill(
        load_prompts(assignment.prompts, assignment.language).texts.reading.partly_read_rationale,
        parts=", ".join(read.partly_read),
    )
    return Blocked(answered.model, answered.exchanges, read, answer.verdict, rationale)


def failed(outcome: Blocked | Unanswered, read: RecordRead | None) -> Blocked | Unanswered:
    """The outcome of a step without an answer, with the parts that were not read; None: there are none."""
    if read is None or read.partly_read is None:
        return outcome
    if isinstance(outcome, Blocked):
        return outcome._replace(reading=read)
    return outcome._replace(partly_read=read.partly_read)


def _without_pass(row: ScenarioVerdict) -> ScenarioVerdict:
    return row.changed(verdict=REVIEW, label=None, score=_NEUTRAL) if row.verdict is PASS else row


def _with_reading(answer: ParsedAnswer, read: RecordRead, least: float, spec: AnswerSpec) -> ParsedAnswer:
    """The answer with what was read. Where that is less than `least`, nothing passes: a person must look at it.

    On a scale of the panel's own it counts by its outcome, as an answer does that a safety filter blocked. Points that
    the juror gave stay; where none are asked for, the score is that of the verdict that counts.
    """
    answer = answer._replace(reading=read)
    if read.share >= least or answer.verdict is not PASS:
        return answer
    scores = scores_of(SeatPosition(REVIEW), spec) if spec.rubric.of_rank else None
    counted = {"verdict": REVIEW, "label": None, **({} if scores is None else {"score": scores.overall})}
    return answer._replace(
        verdict=REVIEW,
        label=None,
        scores=answer.scores if scores is None else scores,
        answered=answer.verdict,
        scenarios=tuple(one.model_copy(update=counted) if one.verdict is PASS else one for one in answer.scenarios),
    )
