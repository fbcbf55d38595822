"""What the verdict of a juror counts that has not read all of the record: the panel's rule `least_read`."""

from jury_debate.step_outcome import ParsedAnswer
from jury_events.reading import RecordRead
from jury_events.verdict import PASS, REVIEW


def with_reading(answer: ParsedAnswer, read: RecordRead, least: float) -> ParsedAnswer:
    """The answer with what was read. Where that is less than `least`, nothing passes: a person must look at it.

    On a scale of the panel's own it counts by its outcome, as an answer does that a safety filter blocked.
    """
    answer = answer._replace(reading=read)
    if read.share >= least or answer.verdict is not PASS:
        return answer
    scenarios = tuple(
        one.model_copy(update={"verdict": REVIEW, "label": None}) if one.verdict is PASS else one
        for one in answer.scenarios
    )
    return answer._replace(verdict=REVIEW, label=None, answered=answer.verdict, scenarios=scenarios)
