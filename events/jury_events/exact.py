"""Exact arithmetic with floats as their decimal notation, so that sums and thresholds do not drift."""

from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache

_DIGITS = Context(prec=60, traps=[Inexact])
_SMALL, _PARTS = 2**16, 2**10


@lru_cache(maxsize=4096)
def exact(number: float) -> Fraction:
    """A float as the decimal number of its notation (0.1 is one tenth)."""
    return Fraction(Decimal(repr(number)))


@lru_cache(maxsize=4096)
def exact_sum(numbers: tuple[float, ...]) -> float:
    """The float nearest to the exact decimal sum (0.1 + 0.2 is 0.3).

    Kept, because the scores of an answer are added up several times.
    """
    if all(-_SMALL < number < _SMALL and number * _PARTS % 1 == 0 for number in numbers):
        # Each is an exact decimal of at most 15 digits, and so is the sum: the usual case.
        return float(sum(numbers))
    decimals = [Decimal(repr(number)) for number in numbers]
    total = Decimal()
    try:
        for number in decimals:
            total = _DIGITS.add(total, number)
    except Inexact:
        # Magnitudes more than 60 digits apart: rare.
        return float(sum((Fraction(number) for number in decimals), Fraction()))
    return float(total)


def half_up(number: Fraction) -> int:
    """Rounded to a whole number, halves up (62.5 is 63)."""
    whole, rest = divmod(number.numerator, number.denominator)
    return whole + (2 * rest >= number.denominator)
