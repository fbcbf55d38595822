"""Times of the log as text."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(microseconds: int, timespec: str = "seconds") -> str:
    """Microseconds since 1970-01-01 UTC in ISO 8601; after the year 9999, which ISO 8601 excludes, the number.

    Args:
        microseconds: as in the log.
        timespec: the precision, as for `datetime.isoformat`.
    """
    try:
        at = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs after 1970"
    return at.isoformat(timespec=timespec).replace("+00:00", "Z")
