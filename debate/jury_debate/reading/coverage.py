"""How much of a record was read: by items and by characters."""

from collections.abc import Iterable, Iterator, Sequence

from jury_debate.reading.shown_record import PlacedItem, ShownRecord
from jury_events.reading import MOST_SPANS, ItemSpan, ReadingMode, RecordRead

Ranges = list[tuple[int, int]]


def record_read(
    record: ShownRecord,
    mode: ReadingMode,
    read: Iterable[tuple[int, int]],
    *,
    parts: int,
    unread: Iterable[tuple[int, int]] = (),
    findings_left_out: int = 0,
    partly_read: Sequence[str] = (),
) -> RecordRead:
    """What was read of a record.

    Args:
        record: the case as shown.
        read: ranges of bytes that were shown, in any order.
        unread: ranges that do not count as read, though they were shown.
        findings_left_out: of the juror, that its closing call had no room for.
        partly_read: the parts that were refused, or never answered usably.
    """
    ranges = _without(_merged(read), _merged(unread))
    items_read = characters = 0
    missing: list[PlacedItem] = []
    for item, length, (covered, seen) in zip(record.items, record.lengths, _covered(record, ranges), strict=True):
        characters += length if covered else seen
        items_read += covered
        if not covered:
            missing.append(item)
    return RecordRead(
        mode=mode,
        parts=parts,
        items_read=items_read,
        items_total=len(record.items),
        characters_read=characters,
        characters_total=sum(record.lengths),
        unread=tuple(item_spans(item.number for item in missing))[:MOST_SPANS],
        findings_left_out=findings_left_out,
        partly_read=tuple(partly_read)[:MOST_SPANS] or None,
    )


def read_in_all(earlier: RecordRead, later: RecordRead) -> RecordRead:
    """What was read of a record that goes on where the earlier one ended.

    Args:
        later: counts all of the earlier one as read.
    """
    partly_read = (*(earlier.partly_read or ()), *(later.partly_read or ()))
    return later.changed(
        parts=earlier.parts + later.parts,
        items_read=later.items_read - (earlier.items_total - earlier.items_read),
        characters_read=later.characters_read - (earlier.characters_total - earlier.characters_read),
        unread=(*earlier.unread, *later.unread)[:MOST_SPANS],
        findings_left_out=earlier.findings_left_out + later.findings_left_out,
        partly_read=partly_read[:MOST_SPANS] or None,
    )


def items_not_read(
    record: ShownRecord, wanted: Iterable[tuple[int, int]], read: Iterable[tuple[int, int]]
) -> tuple[str, ...]:
    """The items of which ranges of bytes are wanted that were not read, as `3-7` and `9`."""
    ranges = _without(_merged(wanted), _merged(read))
    seen = zip(record.items, _covered(record, ranges), strict=True)
    numbers = (item.number for item, (covered, characters) in seen if covered or characters)
    return tuple(
        f"{span.first}-{span.last}" if span.first < span.last else str(span.first) for span in item_spans(numbers)
    )


def item_spans(numbers: Iterable[int]) -> Iterator[ItemSpan]:
    """Numbers in order as spans of neighbours."""
    first = last = None
    for number in numbers:
        if first is not None and last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield ItemSpan(first=first, last=last)
        first = last = number
    if first is not None and last is not None:
        yield ItemSpan(first=first, last=last)


def _covered(record: ShownRecord, ranges: Ranges) -> Iterator[tuple[bool, int]]:
    """Of each item, whether all of it is in the ranges, and else how many characters of it are."""
    at = 0
    for item in record.items:
        while at < len(ranges) and ranges[at][1] <= item.start:
            at += 1
        if at < len(ranges) and ranges[at][0] <= item.start and item.end <= ranges[at][1]:
            yield True, 0
            continue
        seen, place = 0, at
        while place < len(ranges) and ranges[place][0] < item.end:
            start, end = max(item.start, ranges[place][0]), min(item.end, ranges[place][1])
            seen += len(record.content[start:end].decode("utf-8", "ignore"))
            place += 1
        yield False, seen


def _merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    merged: Ranges = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif start < end:
            merged.append((start, end))
    return merged


def _without(ranges: Ranges, taken: Ranges) -> Ranges:
    """The ranges without what is in `taken`; both merged."""
    left: Ranges = []
    for start, end in ranges:
        at = start
        for gone_from, gone_to in taken:
            if gone_to <= at or gone_from >= end:
                continue
            if gone_from > at:
                left.append((at, gone_from))
            at = gone_to
        if at < end:
            left.append((at, end))
    return left
