"""Durations and rates as text."""

_MINUTE = 60
_HOUR = 60 * _MINUTE


def duration(seconds: float) -> str:
    """`4.2 s`, `12 min 3 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{seconds:.1f} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR:,} h {whole % _HOUR // _MINUTE} min"


def rate(number: float, seconds: float) -> str:
    """A rate a second, or a minute if it is below one a second; "" if it is unknown."""
    if number <= 0 or seconds <= 0:
        return ""
    per_second = number / seconds
    return f"{per_second:,.1f}/s" if per_second >= 1 else f"{per_second * _MINUTE:,.1f}/min"
