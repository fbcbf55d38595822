"""Who quotes which item of the case: the quotations of each evaluation, and the marks and names at each item."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Literal, NamedTuple

from jury_events.debate_events import DebateOpened
from jury_events.evidence import Evidence, EvidenceResult, Says
from jury_events.review_facts import NO_REVIEWS, ReviewFacts
from jury_events.verdict import PASS, Verdict
from jury_views.case_view import MOST_LABELLED, LabelDecisive, NumberedItem, numbered_items, readable_case
from jury_views.debate_fold import StepEvaluation, asks_for_evidence, decisive_items, quotations, role_of
from jury_web.pages.shown_items import AROUND, CITED, FEWEST, ITEMS, ITEMS_CUT, ShownItems, TextPreviews

_AROUND = 160
"""Characters on each side of a quotation that the shown part of a text does not have."""


class Mark(NamedTuple):
    """Characters `start` to `end` (exclusive) that the quotation `quotation` has; `begins`: it begins here."""

    quotation: str
    start: int
    end: int
    begins: bool = True


class CitedPiece(NamedTuple):
    """Characters that the same quotations have: `quotations`, of which `begins` begin here."""

    text: str
    quotations: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()


class CitedText(NamedTuple):
    """The shown text in pieces, and excerpts around the quotations that it does not have."""

    pieces: tuple[CitedPiece, ...]
    excerpts: tuple[tuple[CitedPiece, ...], ...] = ()

    @property
    def begun(self) -> set[str]:
        """The quotations that begin in it."""
        return {one for text in (self.pieces, *self.excerpts) for piece in text for one in piece.begins}


def cited_text(whole: str, shown: str, marks: Sequence[Mark]) -> CitedText | None:
    """The text with its marks; None where there are none, or `shown` is not how `whole` begins.

    Args:
        marks: in characters of the whole text.
    """
    known = [mark for mark in marks if 0 <= mark.start < mark.end <= len(whole)]
    if not known or not whole.startswith(shown):
        return None
    inside = [mark for mark in known if mark.end <= len(shown)]
    beyond = [mark for mark in known if mark.end > len(shown)]
    excerpts = tuple(tuple(_excerpt(whole, *window, beyond)) for window in _windows(beyond, len(whole)))
    return CitedText(tuple(_pieces(shown, 0, inside)), excerpts)


def _windows(marks: Sequence[Mark], length: int) -> Iterator[tuple[int, int]]:
    """Where excerpts begin and end; those that meet are one."""
    begun: tuple[int, int] | None = None
    for mark in sorted(marks, key=lambda one: one.start):
        first, last = max(mark.start - _AROUND, 0), min(mark.end + _AROUND, length)
        if begun is not None and first <= begun[1]:
            begun = (begun[0], max(begun[1], last))
            continue
        if begun is not None:
            yield begun
        begun = (first, last)
    if begun is not None:
        yield begun


def _excerpt(whole: str, first: int, last: int, marks: Sequence[Mark]) -> Iterator[CitedPiece]:
    if first:
        yield CitedPiece("…")
    yield from _pieces(whole[first:last], first, [mark for mark in marks if first <= mark.start < last])
    if last < len(whole):
        yield CitedPiece("…")


def _pieces(text: str, offset: int, marks: Sequence[Mark]) -> Iterator[CitedPiece]:
    """The pieces of a text that begins at `offset`; a line break of two characters is never split."""
    cuts = {0, len(text)}
    moved = [mark._replace(start=_cut(text, mark.start - offset), end=_cut(text, mark.end - offset)) for mark in marks]
    cuts.update(*((mark.start, mark.end) for mark in moved))
    for start, end in pairwise(sorted(cuts)):
        over = [mark for mark in moved if mark.start <= start and end <= mark.end]
        yield CitedPiece(
            text[start:end],
            tuple(dict.fromkeys(mark.quotation for mark in over)),
            tuple(mark.quotation for mark in over if mark.begins and mark.start == start),
        )


def _cut(text: str, at: int) -> int:
    return at + 1 if text[at - 1 : at + 1] == "\r\n" else at


_OPENING = 160
"""Characters of a decisive item that are shown where it is named."""

JUDGE = None
"""The final judge, among ids of jurors."""


class QuotationView(NamedTuple):
    """One quotation of an evaluation. `id` is its name in links; `href` leads to what it quotes, None: to nothing.

    `text` is None where `state` says why. `seat` is the role of the seat whose words are quoted; `missing`: there is no
    item of that number.
    """

    id: str
    text: str | None
    state: Literal["there", "erased", "missing", "unreadable"]
    entry: Evidence
    seat: str | None
    missing: bool
    href: str | None


class EvaluationEvidence(NamedTuple):
    """What an evaluation quotes, and the item that it calls decisive, with a link to it."""

    quotations: tuple[QuotationView, ...]
    decisive: int | None
    decisive_href: str | None
    unsupported: bool


class ItemQuotation(NamedTuple):
    """A quotation at the item that it names. `role`: of the seat; None: the final judge."""

    id: str
    role: str | None
    says: Says
    result: EvidenceResult


class NamedBy(NamedTuple):
    """An evaluation that calls an item decisive; `href` leads to it. `role`: of the seat; None: the final judge."""

    role: str | None
    verdict: Verdict
    href: str
    label: str | None


class NamedByPerson(NamedTuple):
    """A review that calls an item decisive; `href` leads to it."""

    reviewer: str
    verdict: str
    href: str
    label: str | None


class ItemCitations(NamedTuple):
    """Who quotes an item, each seat once for what it says and what was found, and who calls it decisive.

    `unmarked` are quotations of it whose characters the page does not show: links to them lead to the item. `people`
    are the reviewers who call it decisive.
    """

    quotations: tuple[ItemQuotation, ...]
    decisive: tuple[NamedBy, ...]
    unmarked: tuple[str, ...]
    people: tuple[NamedByPerson, ...]


class DecisiveView(NamedTuple):
    """An item that is called decisive, its first words, and by whom; `href` is None where there is no such item.

    `labelled`: it is of the message that the label names.
    """

    number: int
    href: str | None
    opening: str
    named: tuple[NamedBy, ...]
    labelled: bool
    people: tuple[NamedByPerson, ...]


class LabelledItem(NamedTuple):
    """An item of the message that the label names, and its first words."""

    number: int
    href: str
    opening: str


class DecisiveLabelView(NamedTuple):
    """What the label names, with the first items of its message; `left` is how many more it has."""

    named: LabelDecisive
    items: tuple[LabelledItem, ...]
    left: int


class DecisiveViews(NamedTuple):
    """The items that are called decisive; `unnamed` are seats whose verdict is no pass, and that name none.

    `asked`: whether the jurors were asked for such an item. `label` is what the label names; None: it names nothing.
    `of_jury`: how many of the items jurors name; reviewers name the others.
    """

    items: tuple[DecisiveView, ...]
    unnamed: tuple[str | None, ...]
    voices: int
    asked: bool
    label: DecisiveLabelView | None
    of_jury: int


class Citations:
    """The quotations of one debate.

    Args:
        evaluations: of which quotations are shown, in order.
        versions: event ids to versions in the debate's stream.
        label: what the label names as decisive; None: it names nothing, or must not be shown to the reader.
        reviews: of people, whose decisive items are shown beside those of the jury.
        shown: which items the page shows; None: those of the page of the debate.
    """

    def __init__(
        self,
        opened: DebateOpened,
        previews: TextPreviews,
        evaluations: Iterable[StepEvaluation] = (),
        versions: Mapping[str, int] | None = None,
        *,
        label: LabelDecisive | None = None,
        reviews: ReviewFacts = NO_REVIEWS,
        shown: ShownItems | None = None,
    ) -> None:
        self._panel = opened.panel
        self._previews = previews
        self._versions = versions or {}
        self.case = readable_case(opened, previews.contents)
        self._items = numbered_items(opened, previews.contents, self.case)
        self._evaluations = tuple(evaluations)
        self._label = label
        self._labelled = frozenset(() if label is None else label.items)
        self._people: dict[int, tuple[NamedByPerson, ...]] = {}
        for review in reviews.standing:
            if (item := review.decisive_item) is not None:
                named = NamedByPerson(review.reviewer, review.verdict, f"#review-{review.number}", review.label)
                self._people[item] = (*self._people.get(item, ()), named)
        wanted = shown or ShownItems(f"/debates/{opened.debate_id}")
        cited = frozenset(islice(dict.fromkeys(self._cited_places(cut=wanted.cut)), CITED))
        self.shown = wanted._replace(first=self._first(cut=wanted.cut), cited=cited)
        self.asked = asks_for_evidence(opened)
        self._marks: dict[int, dict[int, list[Mark]]] = {}
        self._by_event: dict[str, EvaluationEvidence] = {}
        self._at_items: dict[int, dict[tuple[str | None, str, str], ItemQuotation]] = {}
        latest: dict[str | None, StepEvaluation] = {}
        for one in self._evaluations:
            if one.evaluation.evidence is not None:
                self._by_event[one.event_id] = self._evidence(one, latest)
            latest[one.step.juror_id] = one
        self._decisive = {one.item: tuple(map(self._named, one.named_by)) for one in decisive_items(self._evaluations)}
        self._latest = latest

    @property
    def last_item(self) -> int:
        """The largest number of an item that can be named; 0: there is none."""
        return 0 if self._items is None else self._items.last

    def of(self, event_id: str) -> EvaluationEvidence | None:
        """What the evaluation of an event quotes; None where it was asked for nothing."""
        return self._by_event.get(event_id)

    def item_at(self, scenario: int | None, kind: str, place: int | None = None) -> NumberedItem | None:
        """The numbered item of a place in the case; None where the debate has none there."""
        if self._items is None:
            return None
        found = self._items.at(scenario, kind, place)
        if found is None and kind == "policy" and self._items.policy is not None:
            return self._items.at(None, "policy")
        return found

    def at(self, item: NumberedItem, *shown: CitedText | None) -> ItemCitations:
        """Who cites an item, of which the page shows these texts."""
        quoted = tuple(self._at_items.get(item.number, {}).values())
        begun = {name for text in shown if text is not None for name in text.begun}
        marks = (mark for of_text in self.marks(item).values() for mark in of_text)
        unmarked = tuple(mark.quotation for mark in marks if mark.begins and mark.quotation not in begun)
        people = self._people.get(item.number, ())
        return ItemCitations(quoted, self._decisive.get(item.number, ()), unmarked, people)

    def marks(self, item: NumberedItem) -> Mapping[int, list[Mark]]:
        return self._marks.get(item.number, {})

    def label_of(self, number: int) -> LabelDecisive | None:
        """What the label names, where an item of this number is of its message."""
        return self._label if number in self._labelled else None

    def _first(self, *, cut: bool) -> int:
        """How many of the first items of each transcript are shown."""
        if self.case is None:
            return ITEMS
        lengths = [len(one.execution.transcript) for one in self.case.scenarios]
        if cut and sum(lengths) > ITEMS_CUT:
            return FEWEST if any(True for _ in self._decisive_places()) else max(ITEMS_CUT // len(lengths), FEWEST)
        return max(ITEMS // len(lengths), FEWEST)

    def _cited_places(self, *, cut: bool) -> Iterator[tuple[int, int]]:
        """Scenario and index of the items of transcripts that are cited: those called decisive first, then those around
        them where the page is cut."""
        decisive = list(self._decisive_places())
        yield from decisive
        for scenario, index in decisive if cut else ():
            yield from ((scenario, one) for one in range(max(index - AROUND, 0), index + AROUND + 1))
        entries = [entry for one in self._evaluations for entry in one.evaluation.evidence or ()]
        quoted = [entry.span.item for entry in entries if entry.span is not None and entry.span.item is not None]
        yield from self._places((*quoted, *(entry.item for entry in entries if entry.seat is None)))

    def _decisive_places(self) -> Iterator[tuple[int, int]]:
        labelled = () if self._label is None else self._label.items[:MOST_LABELLED]
        if self._items is None:
            yield from ((1, number - 1) for number in labelled)
        else:
            yield from self._places(
                (*labelled, *self._people, *(one.item for one in decisive_items(self._evaluations)))
            )

    def _places(self, numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
        for number in numbers:
            item = None if self._items is None else self._items.item(number)
            if item is not None and item.scenario is not None and item.place is not None:
                yield item.scenario, item.place

    def item_link(self, number: int) -> str | None:
        if self._items is None or self._items.item(number) is None:
            return None
        return f"{self.page_of(number)}#item-{number}"

    @property
    def numbers_items(self) -> bool:
        return self._items is not None

    def page_of(self, number: int) -> str:
        """The page that shows the item of a number; "": this page."""
        item = None if self._items is None else self._items.item(number)
        return "" if item is None else self.shown.page_of(item.scenario, item.place)

    @property
    def decisive(self) -> DecisiveViews | None:
        """The items that the jury, people and the label call decisive; None: none was asked for or named."""
        if not self.asked and self._label is None and not self._people:
            return None
        own = [one for one in self._latest.values() if not one.evaluation.synthetic]
        return DecisiveViews(
            tuple(
                DecisiveView(
                    number,
                    self.item_link(number),
                    self._opening(number),
                    self._decisive.get(number, ()),
                    number in self._labelled,
                    self._people.get(number, ()),
                )
                for number in sorted(self._decisive.keys() | self._people.keys())
            ),
            tuple(
                self._role(one.step.juror_id)
                for one in own
                if one.evaluation.decisive_item is None and one.evaluation.verdict is not PASS
            ),
            len(own),
            self.asked,
            None if self._label is None else self._label_view(self._label),
            len(self._decisive),
        )

    def _label_view(self, label: LabelDecisive) -> DecisiveLabelView:
        shown = label.items[:MOST_LABELLED]
        items = (
            LabelledItem(one, f"{self._page_of(1, one)}#{self.anchor(1, one)}", self._opening(one)) for one in shown
        )
        return DecisiveLabelView(label, tuple(items), len(label.items) - len(shown))

    def _page_of(self, scenario: int, number: int) -> str:
        return self.shown.page_of(scenario, number - 1) if self._items is None else self.page_of(number)

    def anchor(self, scenario: int, number: int) -> str:
        return f"i-{scenario}-{number}" if self._items is None else f"item-{number}"

    def _evidence(self, made: StepEvaluation, said: Mapping[str | None, StepEvaluation]) -> EvaluationEvidence:
        evaluation, version = made.evaluation, self._versions.get(made.event_id, 0)
        state = "there" if evaluation.quotes is None else self._previews.state(evaluation.quotes)
        views = []
        for number, one in enumerate(quotations(evaluation, self._previews.contents), 1):
            name, entry = f"{version}-{number}", one.entry
            link = self._link(name, entry, made.step.juror_id, said)
            views.append(
                QuotationView(
                    name,
                    one.text,
                    "unreadable" if one.text is None and state == "there" else state,
                    entry,
                    None if entry.seat is None else role_of(self._panel, entry.seat),
                    entry.seat is None and self._items is not None and self._items.item(entry.item) is None,
                    link,
                )
            )
            if entry.seat is None:
                role = self._role(made.step.juror_id)
                at_item = self._at_items.setdefault(entry.item, {})
                at_item[role, entry.says, entry.result] = ItemQuotation(name, role, entry.says, entry.result)
        decisive = evaluation.decisive_item
        link = None if decisive is None else self.item_link(decisive)
        return EvaluationEvidence(tuple(views), decisive, link, evaluation.unsupported)

    def _link(
        self, name: str, entry: Evidence, juror_id: str | None, said: Mapping[str | None, StepEvaluation]
    ) -> str | None:
        """To the quoted characters, else to the item that it names, else to what the quoted seat said last."""
        if entry.span is not None and entry.span.item is not None and self._items is not None:
            placed = self._items.placed(entry.span, images=self._sees_pictures(juror_id))
            marks = self._marks.setdefault(entry.span.item, {}) if placed else {}
            for number, one in enumerate(placed):
                marks.setdefault(one.place, []).append(Mark(name, one.start, one.end, begins=number == 0))
            if placed:
                return f"{self.page_of(entry.span.item)}#q-{name}"
        if entry.seat is None:
            return self.item_link(entry.item)
        spoken = said.get(entry.seat)
        return None if spoken is None else f"#e-{self._versions.get(spoken.event_id, 0)}"

    def _opening(self, number: int) -> str:
        item = None if self._items is None else self._items.item(number)
        if item is None:
            return ""
        words = " ".join(item.text[: 4 * _OPENING].split())
        return words if len(words) <= _OPENING else words[:_OPENING] + "…"

    def _named(self, made: StepEvaluation) -> NamedBy:
        version = self._versions.get(made.event_id, 0)
        said = made.evaluation
        return NamedBy(self._role(made.step.juror_id), said.verdict, f"#e-{version}", said.label)

    def _role(self, juror_id: str | None) -> str | None:
        return None if juror_id is JUDGE else role_of(self._panel, juror_id)

    def _sees_pictures(self, juror_id: str | None) -> bool:
        if juror_id is JUDGE:
            return self._panel.final.judge is not None and self._panel.final.judge.images
        return any(seat.images for seat in self._panel.seats if seat.juror_id == juror_id)
