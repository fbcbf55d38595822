"""A page of a long transcript: some of its items, or those that have a text in them."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from jury_events.case import Scenario
from jury_events.debate_events import DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.review_facts import NO_REVIEWS
from jury_events.transcript import Item, Transcript
from jury_views.case_view import label_decisive, pictures_sent
from jury_views.debate_fold import evaluations_of
from jury_web.pages.case_passages import ItemBlock, item_blocks, item_name, text_of
from jury_web.pages.citations import Citations
from jury_web.pages.page_request import PageNotFound, PageRequest, content_response, number
from jury_web.pages.shown_items import PAGE, PREVIEW, REVIEWED, ItemRange, ShownItems, TextPreviews

FOUND = 50
"""Items on one page of a search."""

LONGEST = 200
"""Characters of what is searched for."""

_AROUND = 120
"""Characters on each side of the place that is shown."""


class FoundPlace(NamedTuple):
    """The item `offset`, from 0, and the first place of the text in it: `before`, `match` and `after` on one line."""

    offset: int
    item: Item
    before: str
    match: str
    after: str


class FoundPlaces(NamedTuple):
    """Places in the order of the items; `further` is the item from which the search goes on, None at the end."""

    places: tuple[FoundPlace, ...]
    further: int | None


def found_places(transcript: Transcript, words: str, start: int = 0) -> FoundPlaces:
    """The items from `start` on that have these characters in a text or a name, in letters of either case."""
    wanted = re.compile(re.escape(words), re.IGNORECASE)
    found = tuple(islice(_places(transcript, wanted, start), FOUND + 1))
    further = found[FOUND].offset if len(found) > FOUND else None
    return FoundPlaces(found[:FOUND], further)


def _places(transcript: Transcript, wanted: re.Pattern[str], start: int) -> Iterator[FoundPlace]:
    for index, item in islice(enumerate(transcript.items), start, None):
        for text in (text_of(item), getattr(item, "name", None), getattr(item, "speaker", None)):
            match = None if text is None else wanted.search(text)
            if text is not None and match is not None:
                begin, end = match.span()
                yield FoundPlace(
                    index,
                    item,
                    ("…" if begin > _AROUND else "") + text[max(begin - _AROUND, 0) : begin],
                    match.group(),
                    text[end : end + _AROUND] + ("…" if end + _AROUND < len(text) else ""),
                )
                break


_MOST = 2 * PAGE
"""Items of one page, where its address asks for more."""


class TranscriptRequest(NamedTuple):
    """Which items are wanted. `start` and `stop` count from 1, inclusive; `words` are searched for from `start` on.

    `at` is the event after which the debate is shown; `review`: for a reviewer, who sees no word of the jury.
    """

    scenario: int
    start: int = 1
    stop: int | None = None
    words: str = ""
    at: int | None = None
    review: bool = False


class FoundItem(NamedTuple):
    """An item that was found: its number and address."""

    number: int
    href: str
    place: FoundPlace


class TranscriptPage(NamedTuple):
    """`blocks` are the items of the page, or `found` those that have the `words` in them; the other is empty.

    `at` is the address of the pages of the transcript, `moment` their further parameters; `debate` the page that shows
    the debate or its review. `before` and `after` lead to the items before and after, `further` to more that are found;
    None at the ends. `items` is the number of all items, `first` and `last` are numbers of items of the page.
    """

    opened: DebateOpened
    scenario: Scenario
    scenarios: int
    items: int
    blocks: tuple[ItemBlock, ...]
    first: int
    last: int
    at: str
    moment: dict[str, int]
    debate: str
    before: str | None
    after: str | None
    words: str
    found: tuple[FoundItem, ...] = ()
    further: str | None = None


class TranscriptReader:
    """The transcripts of one debate.

    Args:
        limit: bytes shown of each text.
    """

    def __init__(self, reading: DebateHistory, request: TranscriptRequest, limit: int = PREVIEW) -> None:
        opened, last = reading.opened, len(reading.stored_events)
        at = request.at if request.at is not None and request.at < last else None
        self._opened = opened
        self._request = request
        self._previews = TextPreviews(reading.texts, reading.erased, limit)
        base = f"/{'reviews' if request.review else 'debates'}/{opened.debate_id}"
        start = max(request.start - 1, 0)
        stop = start + PAGE if request.stop is None else min(max(request.stop, start), start + _MOST)
        self._range = ItemRange(request.scenario, start, stop)
        versions = {one.event_id: one.version for one in reading.stored_events}
        self._citations = Citations(
            opened,
            self._previews,
            () if request.review else evaluations_of(reading.events[:at]),
            versions,
            reviews=reading.reviews if at is None and not request.review else NO_REVIEWS,
            label=None if request.review else label_decisive(reading.labelled, reading.texts),
            shown=ShownItems(base, at, only=self._range),
        )
        case = self._citations.case
        if case is None or not 1 <= request.scenario <= len(case.scenarios):
            raise PageNotFound(f"debate {opened.debate_id} has no such transcript, or its case was erased")
        self._scenarios = len(case.scenarios)
        self._scenario = case.scenarios[request.scenario - 1]
        self._transcript = self._scenario.execution.transcript

    def page(self) -> TranscriptPage:
        """The wanted items, or those that are found."""
        shown, count = self._citations.shown, len(self._transcript)
        start, stop = self._range.start, min(self._range.stop, count)
        if start >= count:
            raise self._no_item(start + 1)
        words = self._request.words
        page = TranscriptPage(
            opened=self._opened,
            scenario=self._scenario,
            scenarios=self._scenarios,
            items=count,
            blocks=() if words else self._blocks(),
            first=self._name(start)[0],
            last=self._name(stop - 1)[0],
            at=shown.transcript(self._request.scenario),
            moment=shown.moment,
            debate=shown.page_of_case,
            before=self._page(max(start - PAGE, 0), start) if start else None,
            after=self._page(stop, stop + PAGE) if stop < count else None,
            words=words,
        )
        return page if not words else self._with_found(page, found_places(self._transcript, words, start))

    def text(self, number: int) -> str:
        """The whole text of an item; `number` counts from 1 in the transcript."""
        item = self._transcript.items[number - 1] if 1 <= number <= len(self._transcript) else None
        text = None if item is None else text_of(item)
        if text is None:
            raise self._no_item(number)
        return text

    def address(self, number: int) -> str:
        """The page with the item of that number, as pages show it."""
        if self._citations.numbers_items:
            href = self._citations.item_link(number)
            if href is None:
                raise self._no_item(number)
            return href
        if not 1 <= number <= len(self._transcript):
            raise self._no_item(number)
        return self._href(number - 1)

    def _blocks(self) -> tuple[ItemBlock, ...]:
        opened, previews = self._opened, self._previews
        pictures = pictures_sent(opened, previews.contents)
        return item_blocks(
            self._transcript, opened.case, previews, pictures, citations=self._citations, wanted=self._range
        )

    def _with_found(self, page: TranscriptPage, found: FoundPlaces) -> TranscriptPage:
        items = tuple(FoundItem(self._name(one.offset)[0], self._href(one.offset), one) for one in found.places)
        query = {"q": page.words, "from": (found.further or 0) + 1} | page.moment
        further = None if found.further is None else f"{page.at}?{urlencode(query)}"
        return page._replace(found=items, further=further, before=None, after=None)

    def _page(self, start: int, stop: int) -> str:
        return self._citations.shown.address(ItemRange(self._request.scenario, start, stop))

    def _href(self, index: int) -> str:
        """Another page that shows the item."""
        start = index - index % PAGE
        return f"{self._page(start, start + PAGE)}#{self._name(index)[1]}"

    def _name(self, index: int) -> tuple[int, str]:
        return item_name(self._citations, self._request.scenario, index)

    def _no_item(self, number: int) -> PageNotFound:
        return PageNotFound(f"the transcript of debate {self._opened.debate_id} has no item {number} with a text")


def transcript_response(reading: DebateHistory, request: PageRequest, *, review: bool = False) -> Response:
    """Items `from` to `to`, those that have `q` in them, or a redirection to the page with the item `item`."""
    query = request.query
    wanted = TranscriptRequest(
        scenario=_scenario(request),
        start=number("from", query) or 1,
        stop=number("to", query),
        words=query.get("q", "").strip()[:LONGEST],
        at=None if review else number("at", query),
        review=review,
    )
    reader = TranscriptReader(reading, wanted, REVIEWED if review else PREVIEW)
    item = number("item", query)
    if item is not None:
        return RedirectResponse(reader.address(item), 303)
    page = reader.page()
    return request.html(
        "transcript_page.html",
        "reviews" if review else "debates",
        page=page,
        exchanges=None,
        debate_at=page.debate,
        longest=LONGEST,
    )


def item_response(reading: DebateHistory, request: PageRequest) -> Response:
    reader = TranscriptReader(reading, TranscriptRequest(_scenario(request)))
    return content_response(reader.text(number("item", request.path) or 0).encode("utf-8", "backslashreplace"))


def _scenario(request: PageRequest) -> int:
    wanted = number("scenario", request.path)
    if wanted is None:
        raise PageNotFound("the address names no scenario")
    return wanted
