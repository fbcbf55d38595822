"""Simulated decision models: a probability for each option, by the score that a simulated juror would give the record.

An option has the more of the probability the nearer the score is to the middle of the scores for which it stands.
"""

import json
import math
from collections.abc import Sequence

from jury_debate.decision_questions import DecisionQuestion
from jury_providers.provider import ModelRequest
from jury_providers.simulated.document import LINE_MARK, MARK
from jury_providers.simulated.prompt import GENERAL, AnswerForm, Prompt
from jury_providers.simulated.prompt_patterns import PromptPatterns, all_prompt_patterns
from jury_providers.simulated.shown_scale import scale_of_words

_WIDTH = 12.0
_DIGITS = 4

Distribution = list[tuple[str, str]]
"""Options with their probabilities, as they are written: a fault may write one twice, or what is no number."""


def decision_prompt(request: ModelRequest) -> Prompt:
    """The record and the options of a request with typed questions; never raises."""
    record = "".join(block for message in request.messages for block in message.shared)
    patterns, marker, notice = _marked(record)
    mark = MARK if marker is None or marker.startswith("⟦") else LINE_MARK
    shown = record
    if marker is not None:
        # No answer depends on the marker, which is drawn for each debate.
        named = record.replace(notice, notice.replace(marker, mark), 1)
        shown = f"\n{named}".replace(f"\n{marker} ", f"\n{mark} ")[1:]
        shown = shown.replace(marker, mark) if mark == MARK else shown
    return Prompt(
        patterns=patterns,
        language="en" if patterns is None else patterns.language,
        letter="",
        role=GENERAL,
        ballot="",
        task="initial",
        round=0,
        case=shown,
        own=None,
        peers=(),
        results=(),
        form=AnswerForm((), statement=False, scenarios=tuple(one.name for one in request.questions[1:]), scored=False),
        mark=mark,
    )


def _marked(record: str) -> tuple[PromptPatterns | None, str | None, str]:
    """The prompts that rendered a record, its marker, and the notice that names it."""
    for patterns in all_prompt_patterns():
        for line in patterns.markers if patterns.seats_block is not None else ():
            if found := line.find(f"\n{record}"):
                return patterns, found[1], found.group()
    return None, None, ""


def decision_text(request: ModelRequest, scores: Sequence[float], fault: str | None) -> str:
    """The distributions of the answers by the questions' names, as JSON.

    Args:
        request: with the questions.
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
    edges = scale_of_words(words).edges
    middles = [(low + high) / 2 for low, high in zip((0.0, *edges), (*edges, 100.0), strict=True)]
    weights = [math.exp(-abs(score - middle) / _WIDTH) for middle in middles]
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
