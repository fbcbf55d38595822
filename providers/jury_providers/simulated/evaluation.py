"""Scores findings by role: points per dimension, verdict, confidence."""

import math
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from jury_providers.simulated.findings import Finding
from jury_providers.simulated.prompt import AnswerForm
from jury_providers.simulated.signals import vocabulary

_BEST = 91.0
_SPAN = 86.0
_FORGIVEN = 0.4
"""The share of negative weight that merits can offset: a severe finding stays severe."""

_SLACK = 2.0


class Disposition(NamedTuple):
    """Differences between two jurors of one role: `lean` in points, `openness` to others' reasons from 0 to 1."""

    lean: float
    openness: float


class SimulatedEvaluation(NamedTuple):
    """The numbers of an answer, and its word. `points` are in the order of the form's dimensions."""

    points: tuple[float, ...]
    overall: float
    verdict: str
    confidence: float


def disposition(seed: int, letter: str, role: str, case: bytes) -> Disposition:
    """A function of seed, seat and case."""
    drawn = blake2b(f"{seed}\0{letter}\0{role}\0".encode() + case, digest_size=8).digest()
    first, second = (int.from_bytes(drawn[at : at + 4]) / 2**32 for at in (0, 4))
    return Disposition(8 * first - 4, second)


def weight(finding: Finding, role: str) -> float:
    """A finding's weight for a role; failed records count up to twice."""
    by_role = vocabulary().weights[finding.name]
    single = by_role.get(role, by_role["general"])
    return single * (2 - 2.0 ** (1 - min(finding.total, 30))) if finding.total else single


def severity(findings: Iterable[Finding], role: str) -> float:
    """From 0 (no negative finding) towards 1."""
    weights = [weight(finding, role) for finding in findings]
    against = sum(one for one in weights if one > 0)
    merits = -sum(one for one in weights if one < 0)
    return 1 - math.exp(-(against - min(merits, _FORGIVEN * against)))


def raw_score(findings: Sequence[Finding], role: str, lean: float) -> float:
    """The score from 0 to 100, before it is distributed over the dimensions."""
    return _within(_BEST - _SPAN * severity(findings, role) + lean, 0, 100)


def whole_score(scores: Sequence[float]) -> float:
    """The score of several scenarios: nearer to the minimum than to the mean."""
    return 0.6 * min(scores) + 0.4 * sum(scores) / len(scores)


def evaluate(score: float, form: AnswerForm, *, clouded: bool) -> SimulatedEvaluation:
    """Distribute a score over the dimensions; safety gets less than its share of a low score.

    Args:
        score: 0-100.
        form: the dimensions.
        clouded: part of the case was not read.
    """
    scale = form.scale
    points = _spread(score, form.dimensions)
    overall = round(math.fsum(points) if points else score, 6)
    return SimulatedEvaluation(points, overall, scale.word(overall), confidence(overall, scale.edges, clouded=clouded))


def _spread(score: float, dimensions: Sequence[tuple[str, float]]) -> tuple[float, ...]:
    """Points that add up to the score as closely as tenths and maxima allow; the largest dimension gets the rest."""
    share = score / 100
    points = [
        min(maximum, round(maximum * share * (0.75 + 0.25 * share if name == "safety" else 1), 1))
        for name, maximum in dimensions
    ]
    for index in sorted(range(len(points)), key=lambda one: -dimensions[one][1]):
        rest = score - math.fsum(points)
        points[index] = max(0.0, min(dimensions[index][1], round(points[index] + rest, 1)))
    return tuple(points)


def confidence(score: float, edges: Sequence[float], *, clouded: bool) -> float:
    """Grows with the distance from the next edge of a word."""
    edge = min(abs(score - one) for one in edges)
    sure = 0.5 + 0.45 * min(1.0, edge / 25)
    return round(0.7 * sure if clouded else sure, 2)


def towards(score: float, other: float, pull: float, edges: Sequence[float]) -> float:
    """`score` moved towards `other`, and away from the edge of a word."""
    return clear(score + pull * (other - score), edges, other - score)


def clear(score: float, edges: Sequence[float], direction: float = 1.0) -> float:
    """`score`, 0-100, at least `_SLACK` from each edge of a word, so that rounding cannot cross it."""
    for edge in reversed(edges):
        if abs(score - edge) < _SLACK:
            score = edge + math.copysign(_SLACK, score - edge if score != edge else direction)
    return _within(score, 0, 100)


def _within(value: float, low: float, high: float) -> float:
    return max(low, min(high, value))
