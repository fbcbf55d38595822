"""How much of a long record a juror had read, in words and as plain data."""

from collections.abc import Mapping, Sequence

from jury_events.evaluation import Evaluation
from jury_events.reading import ItemSpan, RecordRead
from jury_events.verdict import Verdict
from jury_views.debate_labels import DebateLabels
from jury_views.evaluation_models import ReadPart, UnreadItems

_MOST_SPANS = 5
"""Of unread items that a line names."""


def reading_object(evaluation: Evaluation) -> ReadPart | None:
    """What an evaluation rests on; None: all of the record, in one call."""
    read = evaluation.reading
    if read is None:
        return None
    return ReadPart(
        mode=read.mode,
        parts=read.parts,
        items_read=read.items_read,
        items_total=read.items_total,
        characters_read=read.characters_read,
        characters_total=read.characters_total,
        share=read.share,
        partly_read=list(read.partly_read or ()),
        unread=[UnreadItems(first=span.first, last=span.last) for span in read.unread],
        findings_left_out=read.findings_left_out,
        answered=None if evaluation.answered is None else evaluation.answered.value,
    )


def reading_lines(read: RecordRead | None, answered: Verdict | None, words: DebateLabels) -> tuple[str, ...]:
    """The same for people; () where all of the record was read in one call."""
    if read is None:
        return ()
    how = getattr(words, f"read_{read.mode}").format(
        read=read.items_read, total=read.items_total, parts=read.parts, percent=_percent(read.share)
    )
    lines = [how]
    if read.unread:
        spans = ", ".join(map(_span, read.unread[:_MOST_SPANS]))
        more = "…" if len(read.unread) > _MOST_SPANS else ""
        lines.append(words.not_read.format(items=f"{spans}{more}"))
    if read.findings_left_out:
        lines.append(words.findings_left_out.format(count=read.findings_left_out))
    if read.partly_read:
        lines.append(words.parts_not_read.format(parts=", ".join(read.partly_read)))
    if answered is not None:
        said = words.answered_without_parts if read.partly_read else words.answered_on_less
        lines.append(said.format(verdict=answered.value))
    return tuple(lines)


def parts_by_seat(partly_read: Mapping[str, Sequence[str]] | None) -> str | None:
    """The parts that seats did not read: `gpt: 2, 3.1; claude: 4`; None: there are none."""
    return "; ".join(f"{juror_id}: {', '.join(parts)}" for juror_id, parts in (partly_read or {}).items()) or None


def _percent(share: float) -> str:
    """Rounded down: 100 is all, and 0 nothing."""
    return "<1" if 0 < share < 0.01 else f"{int(100 * share)}"  # noqa: PLR2004  (a hundredth)


def _span(span: ItemSpan) -> str:
    return str(span.first) if span.first == span.last else f"{span.first}–{span.last}"
