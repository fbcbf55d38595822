"""Quotations of an evaluation, and the records that tools kept, checked against what the seat was shown.

The numbered items of a prompt are read from the text of the prompt itself: exactly what the seat was shown. Judged text
can produce no line without the sign, so that headings are the prompt's own.

A conversation keeps no record while it waits for answers: those used last are in memory, up to a bound, and
another one is read again from its parts, in about a tenth of a second for 5 MB.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from threading import Lock

from jury_debate.assignment import Assignment, EvidenceSpec, SeatSaid
from jury_debate.marking import unmark
from jury_debate.reading.shown_record import ShownRecord
from jury_debate.rules_1.quotations import Found, SearchedItems, SearchedText
from jury_debate.step_outcome import CheckedQuotations, ParsedAnswer, Quotation
from jury_events.evidence import Evidence, EvidenceResult, EvidenceSpan
from jury_events.value import trusted

_HEADING = re.compile(r"(?:\[([0-9]{1,7})\] |【([0-9]{1,7})】)")
"""Of an item, in both languages."""


def searched_items(case: bytes, policy: bytes | None, marker: str) -> SearchedItems:
    """The texts of the items of a prompt: of each its judged lines as recorded, joined by line breaks.

    Args:
        policy: the piece with the operator's policy, whose text is not marked.
    """
    items = [] if policy is None else list(_unmarked_items(policy.decode("utf-8", "replace")))
    return SearchedItems((*items, *_marked_items(case.decode("utf-8", "replace"), marker)))


def said_text(blocks: tuple[bytes, ...], marker: str) -> SearchedText:
    """What a seat said, in all the blocks of it that were shown: their marked lines, joined by line breaks."""
    sign = f"{marker} "
    lines = [line for block in blocks for line in block.decode("utf-8", "replace").split("\n") if line.startswith(sign)]
    return SearchedText(unmark("\n".join(lines), marker) if lines else "")


def undisplayed(quote: str, marker: str) -> str:
    """A quotation without what only the display adds: signs of lines and of gaps, hidden characters written out."""
    sign = f"{marker} "
    lines = [line if line.startswith(sign) else f"{sign}{'' if line == marker else line}" for line in quote.split("\n")]
    return unmark("\n".join(lines), marker)


def _marked_items(text: str, marker: str) -> Iterator[tuple[int, str]]:
    number, lines, sign = None, list[str](), f"{marker} "
    for line in text.split("\n"):
        if line.startswith(sign):
            lines.append(line)
            continue
        heading = _HEADING.match(line)
        if heading is None and not line.startswith("#"):
            continue  # a label in an item, or an empty line between items
        if number is not None:
            yield number, unmark("\n".join(lines), marker) if lines else ""
        number, lines = None if heading is None else _number(heading), []
    if number is not None:
        yield number, unmark("\n".join(lines), marker) if lines else ""


def _unmarked_items(text: str) -> Iterator[tuple[int, str]]:
    """The one item of a piece whose text is not marked: everything below its heading."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading is not None:
            yield _number(heading), "\n".join(lines[index + 1 :]).rstrip("\n")
            return


def _number(heading: re.Match[str]) -> int:
    return int(heading.group(1) or heading.group(2))


Content = Callable[[str], bytes]
"""The content of a part by the characters of its reference."""


class ShownEvidence:
    """What a step shows that can be quoted."""

    def __init__(self, spec: EvidenceSpec, marker: str, content: Content, items: SearchedItems) -> None:
        self._marker = marker
        self._spec = spec
        self._content = content
        self.items = items

    def checked(self, answer: ParsedAnswer) -> ParsedAnswer:
        """The answer with its quotations checked."""
        return answer._replace(checked=self.checked_quotations(answer.quotations or ()))

    def checked_quotations(self, quotations: Sequence[Quotation]) -> CheckedQuotations:
        """Quotations with the results of their check."""
        return CheckedQuotations(tuple([one.quote for one in quotations]), tuple(map(self.check, quotations)))

    def check(self, quotation: Quotation) -> Evidence:
        """Look for a quotation where it says, then in every other item."""
        seat = next((one for one in self._spec.seats if one.letter == quotation.seat), None)
        result, span = self._found(quotation, seat)
        return trusted(Evidence)(
            item=quotation.item,
            says=quotation.says,
            criterion=quotation.criterion,
            seat=None if seat is None else seat.juror_id,
            result=result,
            span=span,
        )

    def _found(self, quotation: Quotation, seat: SeatSaid | None) -> tuple[EvidenceResult, EvidenceSpan | None]:
        """What the display adds is taken off only where the quotation as given is nowhere: a text may look like it."""
        forms = dict.fromkeys((quotation.quote, undisplayed(quotation.quote, self._marker)))
        number = quotation.item if seat is None else None
        text = self.items.item(quotation.item) if seat is None else self._said(seat)
        if text is not None:
            if (found := _first(text.exact, forms)) is not None:
                return "verified", _span(number, found)
            if (found := _first(text.normalised, forms)) is not None:
                return "normalised", _span(number, found)
        for quote in forms:
            other = self.items.exact_elsewhere(quote, -1 if number is None else number)
            if other is not None:
                return "elsewhere", _span(*other)
        return "not_found", None

    def _said(self, seat: SeatSaid) -> SearchedText:
        return said_text(tuple(self._content(text.part) for text in seat.peer_texts), self._spec.marker)


def _first(look: Callable[[str], Found | None], forms: Iterable[str]) -> Found | None:
    for quote in forms:
        if (found := look(quote)) is not None:
            return found
    return None


def _span(item: int | None, found: Found) -> EvidenceSpan:
    return trusted(EvidenceSpan)(item=item, start=found.start, end=found.end)


# A conversation keeps none of it while it waits for answers: the records used last are in memory, up to a bound, and
# another one is read again from its parts, in about a tenth of a second for 5 MB.
class KeptRecord:
    """A record and its items, each read when it is first needed.

    Args:
        content: the case as shown.
        policy: the piece with the operator's policy; None: there is none.
    """

    def __init__(self, content: bytes, policy: bytes | None, marker: str) -> None:
        self.size = len(content)
        self._content = content
        self._policy = policy
        self._marker = marker

    @cached_property
    def record(self) -> ShownRecord:
        """The places of its items and headings."""
        return ShownRecord(self._content, self._marker)

    @cached_property
    def items(self) -> SearchedItems:
        """Its items, in which quotations are looked for."""
        return searched_items(self._content, self._policy, self._marker)


_Key = tuple[tuple[str, ...], str | None, str]
"""The parts of the case, that of the policy, and the marker: a part is named by its content."""


class KeptRecords:
    """The records used last, up to a total size, and always the last one.

    Args:
        most: bytes of records; with its searched items, a record takes two to three times its size.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._lock = Lock()
        self._kept: OrderedDict[_Key, KeptRecord] = OrderedDict()

    def record(self, key: _Key, parsed: Callable[[], KeptRecord]) -> KeptRecord:
        """The record of a key; `parsed` makes one that is not kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = parsed()
        with self._lock:
            kept = self._kept.setdefault(key, made)
            if kept is made:
                self._size += made.size
            while self._size > self._most and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._size -= dropped.size
            return kept


_KEPT = KeptRecords(32_000_000)


def kept_record(assignment: Assignment, content: Callable[[str], bytes]) -> KeptRecord:
    """The record of a step that reads it.

    Args:
        content: of a part, by the characters of its reference.
    """
    reading, spec = assignment.reading, assignment.spec.evidence
    assert reading is not None
    policy = None if spec is None or spec.policy is None else spec.policy.part
    marker = assignment.marker if spec is None else spec.marker
    case = tuple([ref.part for ref in reading.case])

    def parsed() -> KeptRecord:
        return KeptRecord(b"".join(map(content, case)), None if policy is None else content(policy), marker)

    return _KEPT.record((case, policy, marker), parsed)
