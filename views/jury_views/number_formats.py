"""Numbers as text on pages and in notebooks: amounts, shares, durations, probabilities; an unknown one is –."""

import re
from collections.abc import Mapping

from jury_events.evaluation import Probabilities
from jury_events.panel import Language
from jury_events.text import duration as english_duration
from jury_events.text import rate as english_rate

_BYTES = ("B", "KB", "MB", "GB")
_STEP = 1024


def points(value: float | None) -> str:
    """Up to two decimals, without trailing zeros."""
    return "–" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def of_hundred(score: int | None) -> str:
    """A final score, as `85/100`; – of a debate that no juror evaluated."""
    return "–" if score is None else f"{score}/100"


def decimals(value: float) -> str:
    """Three decimals, as of coefficients."""
    return f"{value:.3f}"


def p_value(value: float | None) -> str:
    """Three decimals; below a thousandth it says only that."""
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004  (of the decimals)


def share(value: float) -> str:
    """A share of 1, in percent."""
    return f"{value:.0%}" if value in {0, 1} else f"{value:.1%}"


def amount(value: int | None) -> str:
    """All digits, with thin spaces between thousands."""
    return "–" if value is None else f"{value:,}".replace(",", "\u2009")


def dollars(value: float | None) -> str:
    """US dollars, with four decimals."""
    return "–" if value is None else f"${value:.4f}"


def size(count: int) -> str:
    """Bytes, in B, KB, MB or GB."""
    value = float(count)
    for unit in _BYTES[:-1]:
        if value < _STEP:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= _STEP
    return f"{value:.1f} {_BYTES[-1]}"


_UNITS = {"s": "秒", "min": "分", "h": "時間"}
_UNIT = re.compile(r" (s|min|h)\b ?")


def duration(seconds: float, language: Language) -> str:
    """`12 min 3 s`, `12分3秒`."""
    text = english_duration(seconds)
    return text if language == "en" else _UNIT.sub(lambda found: _UNITS[found[1]], text)


def rate(number: float, seconds: float, language: Language) -> str:
    """`5.6/min`, `毎分5.6`; "" if it is unknown."""
    text = english_rate(number, seconds)
    amount, _, unit = text.partition("/")
    return text if language == "en" or not text else f"毎{_UNITS[unit]}{amount}"


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
