"""Which items of the transcripts of a case a page shows, and the addresses of the others."""

from codecs import getincrementaldecoder
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple
from urllib.parse import urlencode

from jury_events.parts import PartRef

ITEMS = 200
"""The first items that a page shows which is read through, shared by the transcripts of the case."""

ITEMS_CUT = 30
"""The same of a page that is cut."""

FEWEST = 5
"""The first items of each transcript that it shows at least."""

AROUND = 3
"""Items before and after a decisive one, with which a page that is cut shows it."""

CITED = 200
"""The items after the first ones that it shows because they are cited; links to others lead to a page of the items."""

PAGE = 100
"""Items on one page of a transcript."""


class ItemRange(NamedTuple):
    """Items `start` to `stop` (exclusive), from 0, of the transcript of the scenario `scenario`, from 1."""

    scenario: int
    start: int
    stop: int


class ShownItems(NamedTuple):
    """The items of one page.

    `base` is the address of the page of the debate or of its review, `at` the event after which it is shown where later
    ones exist. `first` items of each transcript are shown, and the `cited` ones (scenario and index); the others are
    folded. `cut`: of a case of more items than `ITEMS_CUT` only the beginning is shown, and what is around the decisive
    items. `whole`: folded items are in the document too. `only`: the page has these items and no other part of the
    case.
    """

    base: str
    at: int | None = None
    first: int = ITEMS
    cited: frozenset[tuple[int, int]] = frozenset()
    cut: bool = False
    whole: bool = False
    only: ItemRange | None = None

    def shows(self, scenario: int, index: int) -> bool:
        """Whether an item is shown without being opened."""
        if self.only is not None:
            return scenario == self.only.scenario and self.only.start <= index < self.only.stop
        return index < self.first or (scenario, index) in self.cited

    def page_of(self, scenario: int | None, index: int | None) -> str:
        """The page that shows an item, or a text of the case that is no item of a transcript; "": this page."""
        if scenario is None or index is None:
            return self.page_of_case
        if self.whole or self.shows(scenario, index):
            return ""
        start = index - index % PAGE
        return self.address(ItemRange(scenario, start, start + PAGE))

    @property
    def page_of_case(self) -> str:
        """The page that shows the case and the debate; "": this page."""
        if self.only is None:
            return ""
        return self.base if self.at is None else f"{self.base}?at={self.at}"

    def address(self, items: ItemRange) -> str:
        """The page of the transcript with these items."""
        wanted = {"from": items.start + 1}
        if items.stop - items.start != PAGE:
            wanted["to"] = items.stop
        return f"{self.transcript(items.scenario)}?{urlencode(wanted | self.moment)}"

    @property
    def moment(self) -> dict[str, int]:
        return {} if self.at is None else {"at": self.at}

    def transcript(self, scenario: int) -> str:
        """The pages of a transcript, without parameters."""
        return f"{self.base}/transcripts/{scenario}"

    def text_of(self, scenario: int, index: int) -> str:
        return f"{self.transcript(scenario)}/{index + 1}"


PREVIEW = 4096
"""Bytes of a text that a page shows."""

REVIEWED = 65_536
"""The same of the case on the page of a review: a reviewer reads it all."""

_utf8 = getincrementaldecoder("utf-8")

State = Literal["there", "erased", "missing"]


class TextPreview(NamedTuple):
    """`shown` is the beginning of a text of `size` bytes, or all of it where `whole`.

    `part` is its name in URLs: the 43 characters of its digest.
    """

    part: str
    state: State
    shown: str = ""
    size: int = 0
    whole: bool = True


class TextPreviews:
    """The previews of one debate.

    Args:
        contents: the texts, by the 43 characters of their references, without erased ones.
        limit: bytes shown of each text; None: all.
    """

    def __init__(self, contents: Mapping[str, bytes], erased: Collection[str], limit: int | None = PREVIEW) -> None:
        self.contents = contents
        self._erased = erased
        self.limit = limit

    def state(self, ref: PartRef) -> State:
        """Whether a text is there, and why it is not."""
        if ref.part in self.contents:
            return "there"
        return "erased" if ref.part in self._erased else "missing"

    def text(self, ref: PartRef | None) -> TextPreview | None:
        if ref is None:
            return None
        content = self.contents.get(ref.part)
        if content is None:
            return TextPreview(ref.part, self.state(ref))
        return self.cut(content, ref.part)

    def cut(self, content: bytes, part: str, limit: int | None = None) -> TextPreview:
        """The preview of bytes, of at most `limit` where it is given; no character is split.

        Invalid UTF-8 is shown as escapes.
        """
        most = self.limit if limit is None else limit
        cut = most is not None and len(content) > most
        piece = content[:most] if cut else content
        shown = _utf8("backslashreplace").decode(piece, final=not cut)
        return TextPreview(part, "there", shown, len(content), whole=not cut)

    def passage(self, text: str, ref: PartRef, limit: int | None = None) -> TextPreview:
        """The preview of a passage of the stored text `ref`, of at most `limit` bytes where it is given."""
        return self.cut(text.encode("utf-8", "backslashreplace"), ref.part, limit)
