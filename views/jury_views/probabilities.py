"""The probabilities that a decision model gave, as data and in a line."""

from collections.abc import Mapping

from jury_events.evaluation import Probabilities

_LEAST = 0.0001


def probabilities_object(given: Probabilities | None) -> dict[str, float] | None:
    """The probability of each verdict word; None: not of a decision model."""
    return None if given is None else {one.label: one.probability for one in given}


def probabilities_line(given: Probabilities | Mapping[str, float]) -> str:
    """Each verdict word with its probability, from the worst to the best; up to four decimals."""
    pairs = given.items() if isinstance(given, Mapping) else ((one.label, one.probability) for one in given)
    return " · ".join(f"{word} {_decimals(probability)}" for word, probability in pairs)


def _decimals(value: float) -> str:
    if 0 < value < _LEAST:
        return f"<{_LEAST}"
    return f"{value:.4f}".rstrip("0").rstrip(".")
