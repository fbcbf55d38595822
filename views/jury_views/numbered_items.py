"""The items of a case by the numbers of its prompts, the characters of quotations, and those that the label names."""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from jury_debate.numbered_case import NumberedCase, numbered_case
from jury_debate.prompts_1.case_items import ItemMessages, SourceMessage
from jury_debate.prompts_1.texts import NUMBER
from jury_debate.prompts_registry import load_prompts
from jury_events.case import Case
from jury_events.debate_events import DebateOpened
from jury_events.decisive import DECISIVE_AGENT, decisive_message
from jury_events.evidence import EvidenceSpan
from jury_views.case_view import pictures_sent, recorded_case
from jury_views.result_models import LabelledPlace


class NumberedItem(NamedTuple):
    """One item.

    `scenario` counts from 1, None for the summary of artifacts; `kind` is `policy`, `question`, `expected_behavior`,
    `transcript`, `response`, `error` or `summary`; `place` is its index in the transcript of its scenario, else None.
    `texts` are its texts of the record, in order; the text of the item is these, joined by line breaks. `heading` says
    in the prompts whose it is; "" of the policy and the summary.
    """

    number: int
    scenario: int | None
    kind: str
    place: int | None
    texts: tuple[str, ...]
    heading: str = ""

    @property
    def text(self) -> str:
        """The text of the item."""
        return "\n".join(self.texts)


class PlacedText(NamedTuple):
    """Characters `start` to `end` (exclusive) of the text `place`, from 0, of an item."""

    place: int
    start: int
    end: int


class NumberedItems:
    """The items of one debate.

    Args:
        plain: as a seat without pictures was shown them.
        pictured: as a seat with pictures was; the same items, of which attachments have other texts.
    """

    def __init__(self, plain: NumberedCase, pictured: NumberedCase) -> None:
        self._plain = {item.number: item for item in _items(plain)}
        self._pictured = {item.number: item for item in _items(pictured)}
        self._by_place = {(item.scenario, item.kind, item.place): item for item in self._plain.values()}
        self.policy = plain.policy

    def item(self, number: int, *, images: bool = False) -> NumberedItem | None:
        """The item of a number; None: there is none.

        Args:
            number: as in the prompts.
            images: as a seat with pictures was shown it.
        """
        return (self._pictured if images else self._plain).get(number)

    @property
    def last(self) -> int:
        """The largest number of an item; the smallest is 1, and none between is missing. 0: there is none."""
        return max(self._plain, default=0)

    def at(self, scenario: int | None, kind: str, place: int | None = None) -> NumberedItem | None:
        """The item of a place in the case; None where what is there is no item of its own."""
        return self._by_place.get((scenario, kind, place))

    def placed(self, span: EvidenceSpan, *, images: bool = False) -> tuple[PlacedText, ...]:
        """The characters of a span in the texts of its item; nothing for a span of no item, or beyond its text.

        Args:
            span: in characters of the text of the item.
            images: as the seat that quotes was shown it.
        """
        item = None if span.item is None else self.item(span.item, images=images)
        return () if item is None else tuple(_placed(item.texts, span.start, span.end))


def numbered_items(
    opened: DebateOpened, contents: Mapping[str, bytes], case: Case | None = None
) -> NumberedItems | None:
    """The items of a debate; None where its case was erased or is unreadable.

    Args:
        opened: the opening event.
        contents: parts by the 43 characters of their digest.
        case: that of the debate, where it has been read already; None: it is read here.
    """
    recorded = recorded_case(opened, contents, case)
    if recorded is None:
        return None
    known, piece = recorded
    prompts = load_prompts(opened.prompts, opened.panel.language)
    pictures = pictures_sent(opened, contents)
    plain = numbered_case(known, opened.panel, prompts, piece, {})
    return NumberedItems(plain, numbered_case(known, opened.panel, prompts, piece, pictures) if pictures else plain)


def _items(shown: NumberedCase) -> Iterator[NumberedItem]:
    if shown.policy is not None:
        yield NumberedItem(NUMBER, None, "policy", None, (shown.policy,))
    for item in shown.items:
        yield NumberedItem(item.number, item.scenario, item.kind, item.place, item.judged, item.heading)
    if shown.summary is not None:
        number, text = shown.summary
        yield NumberedItem(number, None, "summary", None, (text,))


def _placed(texts: tuple[str, ...], start: int, end: int) -> Iterator[PlacedText]:
    begins = accumulate((len(text) + 1 for text in texts), initial=0)
    for index, (text, begin) in enumerate(zip(texts, begins, strict=False)):
        first, last = max(start - begin, 0), min(end - begin, len(text))
        if first < last:
            yield PlacedText(index, first, last)


MOST_LABELLED = 20
"""Items of the message that are shown where the label's message is named."""


class LabelDecisive(NamedTuple):
    """The `message`, from 0 in the source, and the `agent` at fault; None where the label does not name it.

    `items` are the items of the message as the prompts number them; () where the message is not known, has none, or
    the case was erased.
    """

    message: int | None
    agent: str | None
    items: tuple[int, ...]


def label_decisive(opened: DebateOpened, contents: Mapping[str, bytes]) -> LabelDecisive | None:
    """What the label names as decisive; None where it names neither a message nor an agent.

    Args:
        opened: the opening event.
        contents: parts by the 43 characters of their digest.
    """
    message, agent = decisive_message(opened.metadata), opened.metadata.get(DECISIVE_AGENT)
    if message is None and agent is None:
        return None
    items = () if message is None else _items_of_message(message, opened, contents)
    return LabelDecisive(message, None if agent is None else str(agent), items)


def label_decisive_object(opened: DebateOpened, contents: Mapping[str, bytes]) -> LabelledPlace | None:
    """The same as plain data."""
    found = label_decisive(opened, contents)
    return None if found is None else LabelledPlace(message=found.message, agent=found.agent, items=list(found.items))


def _items_of_message(message: int, opened: DebateOpened, contents: Mapping[str, bytes]) -> tuple[int, ...]:
    recorded = recorded_case(opened, contents)
    if recorded is None or len(recorded.case.scenarios) > 1:
        return ()
    # The policy of the only scenario is the first item, whether it is shown with the question or before the case.
    return ItemMessages(recorded.case).numbers(SourceMessage(1, message))
