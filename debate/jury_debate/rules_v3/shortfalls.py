"""Critical criteria: with too few points for one, a verdict is its cap at best.

Laws. The points of a criterion are weighed as the score is: they are those of the votes that decided, or the final
judge's. Fewer than the criterion's share of its maximum (half of it, unless the panel says otherwise) fall short;
exactly the share does not. Votes without points (those of decision models) count in none; where no vote that decided
has points, nothing falls short. The cap holds before quorum and acceptance, and never makes a verdict milder. A verdict
that it changes has no label.
"""

from collections.abc import Sequence
from fractions import Fraction

from jury_events.evaluation import SeatPosition
from jury_events.exact import exact
from jury_events.judgment import CriticalShortfall
from jury_events.rubric import Rubric, Scores
from jury_events.verdict import Verdict
from jury_events.verdict_scale import VERDICTS

_MILDNESS = {verdict: rank for rank, verdict in enumerate(VERDICTS.values())}


def shortfalls(
    rubric: Rubric, scores: Sequence[Scores | None], weights: Sequence[Fraction]
) -> tuple[CriticalShortfall, ...]:
    """The critical criteria that fall short, in the order of the rubric.

    Args:
        rubric: of the panel.
        scores: of the votes; None: it gives no points.
        weights: of the votes in the score; they add up to 1.
    """
    given = [(weight, one) for weight, one in zip(weights, scores, strict=True) if one is not None]
    whole = sum((weight for weight, _ in given), Fraction())
    if not whole:
        return ()
    found = []
    for criterion in rubric.dimensions:
        if criterion.critical is None:
            continue
        points = sum((weight / whole * exact(one.points(criterion.name)) for weight, one in given), Fraction())
        least = criterion.least
        if points < least:
            found.append(
                CriticalShortfall(
                    criterion=criterion.name, points=float(points), least=float(least), cap=criterion.critical
                )
            )
    return tuple(found)


def capped(position: SeatPosition, found: Sequence[CriticalShortfall]) -> SeatPosition:
    """The position, or the worst cap of the shortfalls where that is worse."""
    caps: list[Verdict] = [VERDICTS[one.cap] for one in found]
    worst = min([position.verdict, *caps], key=_MILDNESS.__getitem__)
    return position if worst is position.verdict else SeatPosition(worst)
