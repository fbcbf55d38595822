"""Points for people."""

_DIGITS = range(2, 18)


def points_text(value: float, *edges: float) -> str:
    """Points with two decimals, or as many more as keep them on their side of each edge, without trailing zeros.

    `points_text(79.996, 80.0)` is 79.996, not 80.
    """
    written = ""
    for digits in _DIGITS:
        written = f"{value:.{digits}f}".rstrip("0").rstrip(".")
        if all((float(written) >= edge) == (value >= edge) for edge in edges):
            break
    return written
