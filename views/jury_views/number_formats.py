"""Formats of numbers on pages and in notebooks; an unknown number is –."""

_UNITS = ("B", "KB", "MB", "GB")
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
    for unit in _UNITS[:-1]:
        if value < _STEP:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= _STEP
    return f"{value:.1f} {_UNITS[-1]}"
