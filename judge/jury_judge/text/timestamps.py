"""A time of the log, as it is written out."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(microseconds: int, timespec: str = "seconds") -> str:
    """Microseconds since 1970-01-01 UTC in ISO 8601; beyond the year 9999, which ISO 8601 does not write, the number.

    Args:
        microseconds: as the log keeps a time.
        timespec: how fine, as `datetime.isoformat` names it.
    """
    try:
        at = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs after 1970"
    return at.isoformat(timespec=timespec).replace("+00:00", "Z")
