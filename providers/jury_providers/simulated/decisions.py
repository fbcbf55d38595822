"""Simulated decision models: a probability for each option, by the score that a simulated juror would give the record.

An option has the more of the probability the nearer the score is to the middle of the scores for which it stands.
"""

import json
import math
from collections.abc import Sequence

from jury_debate.decision_seats import DecisionQuestion
from jury_providers.provider import ModelRequest
from jury_providers.simulated.scale import WordScale

_WIDTH = 12.0
_DIGITS = 4

Distribution = list[tuple[str, str]]
"""Options with their probabilities, as they are written: a fault may write one twice, or what is no number."""


def decision_text(request: ModelRequest, scores: Sequence[float], fault: str | None) -> str:
    """The distributions of the answers by the questions' names, as JSON.

    Args:
        scores: 0-100, one a question.
        fault: one of `DECISION_FAULTS`; None, or another: none is seen in the answers.
    """
    answers = {
        question.name: _spoiled(_distribution(question, score), fault)
        for question, score in zip(request.questions, scores, strict=True)
    }
    if fault in {"no_answer", "unparseable"}:
        answers = {}
    return json.dumps(answers)


def distributions(text: str) -> dict[str, Distribution]:
    """The distributions in a text of `decision_text`."""
    return {name: [(label, literal) for label, literal in one] for name, one in json.loads(text).items()}


def decision_body(answers: dict[str, Distribution]) -> str:
    """The answers in the form of Jev's API, as JSON."""
    written = ", ".join(
        f'{json.dumps(name)}: {{"type": "choice", "choice": {json.dumps(best(one))}, '
        f'"probabilities": {{{", ".join(f"{json.dumps(label)}: {literal}" for label, literal in one)}}}, '
        f'"confidence": {confidence(one)}}}'
        for name, one in answers.items()
    )
    return f"{{{written}}}"


def best(one: Distribution) -> str:
    """The most probable option."""
    return max(one, key=lambda pair: _number(pair[1]))[0]


def confidence(one: Distribution) -> str:
    """Its probability."""
    return str(max(0.0, *(_number(literal) for _, literal in one)))


def _number(literal: str) -> float:
    return 0.0 if literal == "NaN" else float(literal)


def _distribution(question: DecisionQuestion, score: float) -> Distribution:
    words = tuple(option.value for option in question.options)
    scale = WordScale(words)
    weights = [math.exp(-abs(score - scale.middle(word)) / _WIDTH) for word in words]
    shares = [round(weight / math.fsum(weights), _DIGITS) for weight in weights]
    first = max(range(len(shares)), key=shares.__getitem__)
    shares[first] = round(1 - math.fsum(share for place, share in enumerate(shares) if place != first), _DIGITS)
    return [(word, str(share)) for word, share in zip(words, shares, strict=True)]


def _spoiled(one: Distribution, fault: str | None) -> Distribution:
    (label, literal), *others = one
    changed: dict[str, Distribution] = {
        "wrong_sum": [(word, str(round(float(share) / 2, _DIGITS))) for word, share in one],
        "unknown_label": [("another_option", literal), *others],
        "missing_label": others,
        "doubled_label": [(label, literal), *one],
        "not_a_number": [(label, "NaN"), *others],
        "negative": [(label, "-0.1"), *others],
    }
    return changed.get(fault or "", one)
