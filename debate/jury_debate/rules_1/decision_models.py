"""Seats of decision models: their calls, which get one answer each and none in words, and its parser.

The answer is the provider's response as received. Two forms are read, those of the APIs: `answers` is a list with one
entry a question, in the order of the questions, or an object by the questions' names; `probabilities` is a list of
`{value, probability}`, or an object by options. Other fields are passed over. The API's own word for the best option
and its confidence are not used: they follow.

Laws. Every option has exactly one probability from 0 to 1, and nothing else has one. They add up to 1, but for `SLACK`,
which APIs round away; what counts is each divided by their sum. The verdict is the most probable option; of several,
the one that the scale names for doubt, else the worst of them. The score is 100 times the expected rank of the option,
from 0 (the worst) to 1 (the best).

Provider's failures are tried again as for any seat. An answer that is refused is not asked for again, as the same
question gets the same answer: the next model of the seat is asked, and without one the seat abstains. So it does where
a model declines to answer, unless the panel asks fallbacks then: nothing stands in for the answer.

Such a seat is asked in phase 1 alone, and its evaluation stands in every round: in the checks, for its peers, and as
its own vote. Its peers see its verdict and its probabilities, as a vote without reasons. It gives no points: critical
criteria count those of the other votes."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, assert_never

from jury_debate.conversation import Call, Reply
from jury_debate.decision_seats import WHOLE_CASE, scenario_question
from jury_debate.rules_1.answers import AnswerRefusal, Refused, number, one_object, refuse, string, typed
from jury_debate.rules_1.conversation import StepConversation
from jury_debate.step_outcome import Decided, ParsedDecision
from jury_events.evaluation import LabelProbability, ScenarioVerdict, SeatPosition
from jury_events.exact import exact
from jury_events.outcome import FailureReason, RefusalReason
from jury_events.strict_json import InvalidJson
from jury_events.verdict_scale import VerdictScale

SLACK = Fraction(2, 100)
"""By which probabilities may differ from 1 in sum: 255 options, rounded to four decimals, differ by 0.013."""


_CHOICE = "choice"


def parse_decision(
    raw: bytes, scale: VerdictScale, scenarios: Sequence[str], *, own_scale: bool
) -> ParsedDecision | AnswerRefusal:
    """Parse a response; raises nothing, whatever the bytes.

    Args:
        raw: as received.
        scenarios: the numbers of the scenarios that were asked for.
        own_scale: whether the panel has a scale of its own; else labels are the three verdicts.
    """
    names = [WHOLE_CASE, *map(scenario_question, scenarios)]
    try:
        answers = _answers(one_object(raw), names)
        case, *rows = (
            _decided(answer, f"answers.{name}", scale, own_scale=own_scale)
            for name, answer in zip(names, answers, strict=True)
        )
    except (Refused, InvalidJson) as error:
        return AnswerRefusal(error.reason, str(error))
    judged = tuple(
        ScenarioVerdict(
            scenario_id=scenario,
            verdict=row.verdict,
            score=row.score,
            label=row.label,
            probabilities=row.probabilities,
        )
        for scenario, row in zip(scenarios, rows, strict=True)
    )
    return case._replace(scenarios=judged)


def _answers(document: dict[str, Any], names: Sequence[str]) -> list[Any]:
    found = document.get("answers")
    if isinstance(found, dict):
        if missing := [name for name in names if name not in found]:
            refuse(RefusalReason.MISSING_FIELD, f"answers.{missing[0]}: is missing")
        if len(found) > len(names):
            refuse(RefusalReason.UNKNOWN_FIELD, f"answers: {len(found)} for {len(names)} questions")
        return [found[name] for name in names]
    typed(found, "answers", list, "an array or an object")
    assert isinstance(found, list)
    if len(found) != len(names):
        refuse(RefusalReason.MISSING_FIELD, f"answers: {len(found)} for {len(names)} questions")
    for name, answer in zip(names, found, strict=True):
        if isinstance(answer, dict) and answer.get("name") not in {None, name}:
            refuse(RefusalReason.UNKNOWN_FIELD, f"answers.{name}: is named otherwise")
    return found


def _decided(answer: Any, where: str, scale: VerdictScale, *, own_scale: bool) -> ParsedDecision:
    typed(answer, where, dict, "an object")
    if answer.get("type") != _CHOICE:
        refuse(RefusalReason.WRONG_TYPE, f"{where}.type: must be {_CHOICE}")
    given = _given(answer.get("probabilities"), f"{where}.probabilities", scale)
    whole = sum(map(exact, given.values()), Fraction())
    if abs(whole - 1) > SLACK:
        refuse(RefusalReason.OUT_OF_RANGE, f"{where}.probabilities: add up to {float(whole):g}, not to 1")
    chosen = _chosen(given, scale)
    expected = sum((exact(given[label]) * scale.rank(label) for label in scale.ids), Fraction())
    position = SeatPosition(scale.verdict(chosen), chosen if own_scale else None)
    return ParsedDecision(
        verdict=position.verdict,
        label=position.label,
        probabilities=tuple(LabelProbability(label=label, probability=given[label]) for label in scale.ids),
        score=float(100 * expected / whole / scale.best_rank),
        confidence=float(exact(given[chosen]) / whole),
        scenarios=(),
    )


def _given(probabilities: Any, where: str, scale: VerdictScale) -> dict[str, float]:
    """The probability of each label."""
    if isinstance(probabilities, list):
        pairs = []
        for index, one in enumerate(probabilities):
            typed(one, f"{where}[{index}]", dict, "an object")
            pairs.append((string(one.get("value"), f"{where}[{index}].value"), one.get("probability")))
    else:
        typed(probabilities, where, dict, "an array or an object")
        pairs = list(probabilities.items())
    given: dict[str, float] = {}
    for label, probability in pairs:
        if label not in scale.ids:
            refuse(RefusalReason.UNKNOWN_VERDICT, f"{where}: must be one of {', '.join(scale.ids)}")
        if label in given:
            refuse(RefusalReason.DUPLICATE_KEY, f"{where}: {label} is there twice")
        given[label] = number(probability, f"{where}.{label}", 1)
    if missing := [label for label in scale.ids if label not in given]:
        refuse(RefusalReason.MISSING_FIELD, f"{where}.{missing[0]}: is missing")
    return given


def _chosen(given: dict[str, float], scale: VerdictScale) -> str:
    most = max(given.values())
    first = [label for label in scale.ids if given[label] == most]
    return scale.in_doubt if scale.in_doubt in first and scale.in_doubt is not None else first[0]


class DecisionConversation(StepConversation):
    """The calls of one step of a decision model."""

    @property
    def may_repair(self) -> bool:
        """Never."""
        return False

    def _answered(self, call: Call, reply: Reply) -> None:
        asked = self.assignment.spec.decision
        assert asked is not None
        parsed = parse_decision(
            reply.answer or b"", asked.scale, self.assignment.spec.scenarios, own_scale=asked.own_scale
        )
        match parsed:
            case ParsedDecision():
                self.outcome = Decided(
                    parsed, call.model, reply.model_version, tuple(self.exchanges), simulated=reply.simulated
                )
            case AnswerRefusal():
                self._repair(reply, parsed, FailureReason.UNPARSEABLE)
            case _:
                assert_never(parsed)

    def _blocked(self) -> None:
        if self.assignment.answers.safety_filter == "fallback":
            super()._blocked()
        else:
            self._give_up(FailureReason.BLOCKED)
