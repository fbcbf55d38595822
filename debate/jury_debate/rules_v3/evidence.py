"""The check of an answer's quotations against what its seat was shown."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from jury_debate.assignment import EvidenceSpec, SeatSaid
from jury_debate.rules_v3.normal_form import Found
from jury_debate.rules_v3.quotations import SearchedItems, SearchedText
from jury_debate.rules_v3.shown_items import said_text, shown_items, undisplayed
from jury_debate.step_outcome import CheckedQuotations, ParsedAnswer, Quotation
from jury_events.evidence import Evidence, EvidenceResult, EvidenceSpan
from jury_events.parts import PartRef

Content = Callable[[str], bytes]
"""The content of a part by the characters of its reference."""


class ShownEvidence:
    """What a step shows that can be quoted.

    Args:
        spec: of its answers.
        marker: that the quoting seat saw.
        content: of the pieces of its prompt.
        items: of the record; None: they are read from the pieces.
    """

    def __init__(self, spec: EvidenceSpec, marker: str, content: Content, items: SearchedItems | None = None) -> None:
        self._seats: Mapping[str, SeatSaid] = {seat.letter: seat for seat in spec.seats}
        self._marker = marker
        self._spec = spec
        self._content = content
        self.items: SearchedItems = items or self._items()

    def _items(self) -> SearchedItems:
        spec = self._spec
        policy = None if spec.policy is None else self._bytes(spec.policy)
        case = [self._bytes(ref) for ref in spec.case]
        return shown_items(case[0] if len(case) == 1 else b"".join(case), policy, spec.marker)

    def checked(self, answer: ParsedAnswer) -> ParsedAnswer:
        """The answer with its quotations checked."""
        return answer._replace(checked=self.checked_quotations(answer.quotations or ()))

    def checked_quotations(self, quotations: Sequence[Quotation]) -> CheckedQuotations:
        """Quotations with the results of their check."""
        return CheckedQuotations(tuple(one.quote for one in quotations), tuple(map(self.check, quotations)))

    def check(self, quotation: Quotation) -> Evidence:
        """Look for a quotation where it says, then in every other item."""
        seat = None if quotation.seat is None else self._seats[quotation.seat]
        result, span = self._found(quotation, seat)
        return Evidence(
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
        return said_text(tuple(self._bytes(text) for text in seat.peer_texts), self._spec.marker)

    def _bytes(self, ref: PartRef) -> bytes:
        return self._content(ref.part)


def _first(look: Callable[[str], Found | None], forms: Iterable[str]) -> Found | None:
    return next((found for quote in forms if (found := look(quote)) is not None), None)


def _span(item: int | None, found: Found) -> EvidenceSpan:
    return EvidenceSpan(item=item, start=found.start, end=found.end)
