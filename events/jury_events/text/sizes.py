"""Sizes for people."""


def shown_size(size: int) -> str:
    """A size in bytes for people: `512 B`, `48 KB`, `3.2 MB`."""
    if size < 1000:  # noqa: PLR2004  (decimal units)
        return f"{size} B"
    if size < 999_500:  # noqa: PLR2004  (decimal units)
        return f"{size / 1000:.0f} KB"
    return f"{size / 1e6:.1f} MB"
