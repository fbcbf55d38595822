"""What the verdict of a juror counts that has not read all of the record: the panel's rule `least_read`."""

from jury_debate.assignment import AnswerSpec
from jury_debate.rules_v1.answer_parser import scores_of
from jury_debate.step_outcome import ParsedAnswer
from jury_events.evaluation import SeatPosition
from jury_events.reading import RecordRead
from jury_events.verdict import PASS, REVIEW


def with_reading(answer: ParsedAnswer, read: RecordRead, least: float, spec: AnswerSpec) -> ParsedAnswer:
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
