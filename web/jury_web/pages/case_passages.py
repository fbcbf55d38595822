"""The case of a debate on its page: texts under headings, scenario by scenario."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from jury_events.case import Scenario
from jury_events.debate_events import DebateOpened
from jury_events.parts import PartRef
from jury_events.text import shown_size
from jury_events.transcript import Attachment, Item, NotShown, Origin, ToolCall, ToolResult, Transcript
from jury_views.case_view import LabelDecisive, NumberedItem, Pictures, pictures_sent
from jury_web.pages.citations import Citations, CitedText, ItemCitations, Mark, cited_text
from jury_web.pages.shown_items import PAGE, PREVIEW, ItemRange, TextPreview, TextPreviews

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


_DEEPEST = 200


_LARGEST = 1_000_000


class LaidOut(NamedTuple):
    """A text laid out, and how to find characters of the text as it was written.

    `tokens` are its tokens: where each begins and ends as written, and laid out.
    """

    text: str
    tokens: tuple[tuple[int, int, int, int], ...]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Characters `start` to `end` (exclusive) of the text as written, in the text laid out.

        The whole of a token that is written otherwise than it is laid out; nothing (equal numbers) between tokens.
        """
        met = [token for token in self.tokens if token[0] < end and start < token[1]]
        if not met:
            return 0, 0
        first, last = met[0], met[-1]
        begin = first[2] + (max(start - first[0], 0) if _as_written(first) else 0)
        return begin, last[3] - (max(last[1] - end, 0) if _as_written(last) else 0)


def _as_written(token: tuple[int, int, int, int]) -> bool:
    return token[1] - token[0] == token[3] - token[2]


def layout(text: str) -> LaidOut | None:
    """A JSON object or list, laid out; None where the text is neither, or is too large or deep for that.

    Numbers, the order of members and members of the same name stay as they are; letters that strings write as `\\uXXXX`
    are written as themselves.
    """
    if len(text) > _LARGEST or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        json.loads(text)
        found = list(_lines(list(_TOKEN.finditer(text))))
    except (ValueError, RecursionError):
        return None
    tokens, at = [], 0
    for written, piece in found:
        if written is not None:
            tokens.append((*written.span(), at, at + len(piece)))
        at += len(piece)
    return LaidOut("".join(piece for _, piece in found), tuple(tokens))


def _lines(tokens: list[re.Match[str]]) -> Iterator[tuple[re.Match[str] | None, str]]:
    """Tokens, and the blanks between them, which are no part of the text as written."""
    depth = 0
    before = ""
    for place, token in enumerate(tokens):
        piece = token.group()
        after = tokens[place + 1].group() if place + 1 < len(tokens) else ""
        if piece in "}]":
            depth -= 1
            if before not in {"{", "["}:
                yield None, f"\n{'  ' * depth}"
            yield token, piece
        elif piece in "{[":
            depth += 1
            if depth > _DEEPEST:
                raise ValueError("too deep")
            yield token, piece
            if after not in {"}", "]"}:
                yield None, f"\n{'  ' * depth}"
        elif piece == ",":
            yield token, piece
            yield None, f"\n{'  ' * depth}"
        elif piece == ":":
            yield token, piece
            yield None, " "
        else:
            yield token, json.dumps(json.loads(piece), ensure_ascii=False) if "\\u" in piece else piece
        before = piece


_LONG = 800


_MANY_LINES = 14


_OPENING = 160


_FOLD_OPENING = 80


_SHOWN = 2_000_000
"""Bytes of texts of a transcript on one page; after these, `PREVIEW` of each."""


_LAID_OUT = 400_000
"""Characters of JSON that are formatted for one page, which takes a second or two a MB; further JSON is as written."""


class ItemBlock(NamedTuple):
    """One item. `number` is that of the prompts where these number all items, else it counts from 1 in the transcript.

    `anchor` is its name in links. `whole_at` is the address of its whole text.
    `kind` and `origin` are those of the case, `name` is the name of a tool, a speaker or a file, `speaker` the agent of
    a call, a thought or a refusal, if it is named. `call` is the number of the call that it answers, `call_href` leads
    to it; `call_id` is the id of a call that the transcript lacks; `call_unknown`: the record does not say which of
    several calls. `facts` are the type and size of a file, `picture` the number of a picture that jurors saw; `unseen`:
    no juror saw it. `opening` is the beginning of a long text, which is folded; None for a short one. `citations` are
    those of jurors who quote it, `label` is what the label names, where the item is of that message; `cited`,
    `cited_name` and `cited_speaker` are its texts with what they quote, None where they quote nothing.
    """

    number: int
    anchor: str
    whole_at: str
    kind: str
    origin: Origin
    name: str | None = None
    call: int | None = None
    call_href: str | None = None
    call_id: str | None = None
    call_unknown: bool = False
    speaker: str | None = None
    failed: bool = False
    facts: str | None = None
    picture: int | None = None
    unseen: bool = False
    text: TextPreview | None = None
    is_json: bool = False
    opening: str | None = None
    citations: ItemCitations | None = None
    label: LabelDecisive | None = None
    cited: CitedText | None = None
    cited_name: CitedText | None = None
    cited_speaker: CitedText | None = None


class ItemFold(NamedTuple):
    """Items that are folded: their first and last number, their count, the bytes of their texts, the first words.

    `href` is the page that has them. `inner` are the folds of which a large one is made. `blocks` are the items where
    the document itself has them; each reading of it makes them anew, so that a large file is never in memory whole.
    """

    anchor: str
    first: int
    last: int
    items: int
    size: int
    opening: str
    href: str
    inner: tuple["ItemFold", ...] = ()
    blocks: Iterable[ItemBlock] = ()


class TranscriptBlocks(NamedTuple):
    """The items that a page shows, and folds where it shows none, in order.

    `at` is the address of the pages of the transcript, `moment` the further parameters of these. `folded`: there are
    folds. `items` is the number of all items.
    """

    parts: tuple[ItemBlock | ItemFold, ...]
    items: int
    at: str
    moment: Mapping[str, int]

    @property
    def folded(self) -> bool:
        return any(isinstance(one, ItemFold) for one in self.parts)


def transcript_blocks(
    transcript: Transcript,
    ref: PartRef,
    previews: TextPreviews,
    pictures: Pictures,
    *,
    citations: Citations,
    scenario: int = 1,
) -> TranscriptBlocks:
    """The items of a transcript: those that the page shows, the others folded.

    Args:
        previews: cuts texts; without a limit they are whole.
        pictures: numbers of the pictures that were sent to a juror, by digest.
        scenario: its number, from 1.
    """
    blocks = _Blocks(transcript, ref, previews, pictures, citations=citations, scenario=scenario)
    shown = citations.shown
    return TranscriptBlocks(tuple(blocks.parts()), len(transcript), shown.transcript(scenario), shown.moment)


def item_blocks(
    transcript: Transcript,
    ref: PartRef,
    previews: TextPreviews,
    pictures: Pictures,
    *,
    citations: Citations,
    wanted: ItemRange,
) -> tuple[ItemBlock, ...]:
    """Some items of a transcript; the other arguments are those of `transcript_blocks`."""
    blocks = _Blocks(transcript, ref, previews, pictures, citations=citations, scenario=wanted.scenario)
    return tuple(blocks.block(index) for index in range(wanted.start, min(wanted.stop, len(transcript))))


def item_name(citations: Citations, scenario: int, index: int) -> tuple[int, str]:
    """The number of an item of a transcript, and its name in links."""
    numbered = citations.item_at(scenario, "transcript", index)
    number = index + 1 if numbered is None else numbered.number
    return number, citations.anchor(scenario, number)


class _BlockRange:
    """The blocks of items `start` to `stop`, made when they are read."""

    def __init__(self, blocks: "_Blocks", start: int, stop: int) -> None:
        self._blocks = blocks
        self._places = range(start, stop)

    def __iter__(self) -> Iterator[ItemBlock]:
        return map(self._blocks.block, self._places)


class _Blocks:
    def __init__(
        self,
        transcript: Transcript,
        ref: PartRef,
        previews: TextPreviews,
        pictures: Pictures,
        *,
        citations: Citations,
        scenario: int,
    ) -> None:
        self._items = transcript.items
        self._calls = transcript.answered_calls()
        self._ref = ref
        self._previews = previews
        self._pictures = pictures
        self._citations = citations
        self._scenario = scenario
        self._left = _SHOWN
        self._to_lay_out = _LAID_OUT

    def parts(self) -> Iterator[ItemBlock | ItemFold]:
        shown = self._citations.shown
        begun = 0
        for index in range(len(self._items)):
            if not shown.shows(self._scenario, index):
                continue
            if begun < index:
                yield self._fold(begun, index)
            yield self.block(index)
            begun = index + 1
        if begun < len(self._items):
            yield self._fold(begun, len(self._items))

    def block(self, index: int) -> ItemBlock:
        item, numbered = self._items[index], self._numbered(index)
        block = self._with_texts(self._block(item, index, self._calls[index]), item, numbered)
        block = block._replace(label=self._citations.label_of(block.number))
        if numbered is None:
            return block
        at_item = self._citations.at(numbered, block.cited, block.cited_name, block.cited_speaker)
        return block._replace(citations=at_item)

    def _fold(self, start: int, stop: int) -> ItemFold:
        """Of at most as many items as a page has; more are folded twice, and cut where pages begin."""
        if stop - start <= PAGE:
            return self._folded(start, stop)
        cuts = [start, *range(start - start % PAGE + PAGE, stop, PAGE), stop]
        inner = tuple(self._folded(*one) for one in pairwise(cuts))
        return self._folded(start, stop)._replace(anchor=f"g-{self._scenario}-{start + 1}", inner=inner, blocks=())

    def _folded(self, start: int, stop: int) -> ItemFold:
        shown = self._citations.shown
        texts = [text_of(item) or "" for item in self._items[start:stop]]
        return ItemFold(
            f"f-{self._scenario}-{start + 1}",
            self._name(start)[0],
            self._name(stop - 1)[0],
            stop - start,
            sum(len(text.encode("utf-8", "surrogatepass")) for text in texts),
            _first_words(texts[0], _FOLD_OPENING),
            shown.address(ItemRange(self._scenario, start, stop)),
            blocks=_BlockRange(self, start, stop) if shown.whole else (),
        )

    def _numbered(self, index: int) -> NumberedItem | None:
        return self._citations.item_at(self._scenario, "transcript", index)

    def _name(self, index: int) -> tuple[int, str]:
        return item_name(self._citations, self._scenario, index)

    def _block(self, item: Item, index: int, call: int | None) -> ItemBlock:
        whole_at = self._citations.shown.text_of(self._scenario, index)
        block = _block(item, *self._name(index), whole_at, self._pictures)
        if isinstance(item, ToolResult | Attachment) and item.call_id is not None:
            block = block._replace(call_id=None if call is not None else item.call_id)
        if call is None:
            return block
        number, anchor = self._name(call)
        return block._replace(call=number, call_href=f"{self._citations.shown.page_of(self._scenario, call)}#{anchor}")

    def _with_texts(self, block: ItemBlock, item: Item, numbered: NumberedItem | None) -> ItemBlock:
        written = text_of(item)
        marks = {} if numbered is None else self._citations.marks(numbered)
        if numbered is not None and marks:
            places = _head_places(block, numbered, has_text=bool(written))
            block = block._replace(
                cited_speaker=_cited(block.speaker, marks, places.get("speaker")),
                cited_name=_cited(block.name, marks, places.get("name")),
            )
        if not written:
            return block
        return self._with_text(block, written, () if numbered is None else marks.get(len(numbered.texts) - 1, ()))

    def _with_text(self, block: ItemBlock, written: str, marks: Sequence[Mark]) -> ItemBlock:
        bounded = self._previews.limit is not None
        pretty = layout(written) if not bounded or len(written) <= self._to_lay_out else None
        shown = written if pretty is None else pretty.text
        if pretty is not None:
            self._to_lay_out -= len(written)
            marks = [Mark(one.quotation, *pretty.place(one.start, one.end), one.begins) for one in marks]
        text = self._previews.passage(shown, self._ref, PREVIEW if bounded and self._left <= 0 else None)
        self._left -= len(text.shown)
        is_long = len(text.shown) > _LONG or text.shown.count("\n") >= _MANY_LINES
        opening = _first_words(written, _OPENING) if is_long else None
        cited = cited_text(shown, text.shown, marks)
        return block._replace(text=text, is_json=pretty is not None, opening=opening, cited=cited)


def _first_words(text: str, most: int) -> str:
    return " ".join(text[: 4 * most].split())[:most]


def _cited(text: str | None, marks: Mapping[int, Sequence[Mark]], index: int | None) -> CitedText | None:
    return None if text is None or index is None else cited_text(text, text, marks.get(index, ()))


def _head_places(block: ItemBlock, numbered: NumberedItem, *, has_text: bool) -> dict[str, int]:
    """Which of the texts of an item are its speaker and its name; its own text is the last."""
    heads = numbered.texts[:-1] if has_text else numbered.texts
    found: dict[str, int] = {}
    at = 0
    for part, text in (("speaker", block.speaker), ("name", block.name)):
        if text is not None and text in heads[at:]:
            at = heads.index(text, at) + 1
            found[part] = at - 1
    return found


def _block(item: Item, number: int, anchor: str, whole_at: str, pictures: Pictures) -> ItemBlock:
    name, failed = getattr(item, "name", None), isinstance(item, ToolResult) and item.error
    unknown = isinstance(item, ToolResult) and item.call_unknown
    speaker = getattr(item, "speaker", None)
    block = ItemBlock(
        number, anchor, whole_at, item.kind, item.origin, name, failed=failed, call_unknown=unknown, speaker=speaker
    )
    if isinstance(item, Attachment):
        picture = pictures.get(item.digest) if item.media_type.startswith("image/") else None
        facts = f"{item.media_type}, {shown_size(item.size)}"
        return block._replace(facts=facts, picture=picture, unseen=picture is None and item.text is None)
    if isinstance(item, NotShown):
        facts = item.what if item.size is None else f"{item.what}, {shown_size(item.size)}"
        return block._replace(facts=facts, unseen=True)
    return block


def text_of(item: Item) -> str | None:
    """The text of an item, the arguments of a call; None where there is none."""
    if isinstance(item, NotShown):
        return None
    return item.arguments if isinstance(item, ToolCall) else item.text


Heading = Literal["policy", "question", "expected", "transcript", "response", "error", "summary"]


_KINDS: dict[Heading, str] = {
    "policy": "policy",
    "question": "question",
    "expected": "expected_behavior",
    "response": "response",
    "error": "error",
}
"""Headings, and the kinds of numbered items."""


class CasePassage(NamedTuple):
    """One text of a scenario, or its transcript of `items` items.

    `number` is that of the item, where the prompts number it, `citations` are those of jurors who quote it, `cited` is
    the text with what they quote.
    """

    heading: Heading
    text: TextPreview | None
    items: int = 0
    transcript: TranscriptBlocks | None = None
    number: int | None = None
    citations: ItemCitations | None = None
    cited: CitedText | None = None


class ScenarioPassages(NamedTuple):
    """The passages of a scenario, in reading order."""

    scenario_id: str
    passages: tuple[CasePassage, ...]


class CasePassages(NamedTuple):
    """The scenarios of a case; only its stored `text` where it was erased or this version cannot decode it.

    `summary` is the summary of the artifact records: the caller's, where there is one, or that of a numbered item.
    """

    scenarios: tuple[ScenarioPassages, ...]
    text: TextPreview
    summary: CasePassage | None = None


def case_passages(opened: DebateOpened, previews: TextPreviews, citations: Citations) -> CasePassages:
    ref = opened.case
    pictures = pictures_sent(opened, previews.contents)
    text = previews.text(ref)
    assert text is not None
    case = citations.case
    if case is None:
        return CasePassages((), text)
    reader = _CaseReader(ref, previews, pictures, citations)
    scenarios = tuple(reader.scenario(one, number) for number, one in enumerate(case.scenarios, 1))
    return CasePassages(scenarios, text, reader.summary(case.artifact_summary))


class _CaseReader:
    def __init__(self, ref: PartRef, previews: TextPreviews, pictures: Pictures, citations: Citations) -> None:
        self._ref = ref
        self._previews = previews
        self._pictures = pictures
        self._citations = citations
        self._shown: set[int] = set()

    def scenario(self, scenario: Scenario, number: int) -> ScenarioPassages:
        question, execution = scenario.question, scenario.execution
        texts: tuple[tuple[Heading, str | None], ...] = (
            ("policy", question.policy),
            ("question", question.prompt),
            ("expected", question.expected_behavior),
        )
        passages = self._passages(texts, number)
        if count := len(execution.transcript):
            blocks = transcript_blocks(
                execution.transcript,
                self._ref,
                self._previews,
                self._pictures,
                citations=self._citations,
                scenario=number,
            )
            passages.append(CasePassage("transcript", None, count, blocks))
        passages += self._passages((("response", execution.response), ("error", execution.error)), number)
        return ScenarioPassages(scenario.scenario_id, tuple(passages))

    def summary(self, given: str | None) -> CasePassage | None:
        numbered = self._citations.item_at(None, "summary")
        text = given if numbered is None else numbered.text
        return None if text is None else self._passage("summary", text, numbered)

    def _passages(self, found: Iterable[tuple[Heading, str | None]], scenario: int) -> list[CasePassage]:
        return [
            self._passage(heading, text, self._citations.item_at(scenario, _KINDS[heading]))
            for heading, text in found
            if text is not None
        ]

    def _passage(self, heading: Heading, text: str, numbered: NumberedItem | None) -> CasePassage:
        """The operator's policy is one item, with each question that has it; the first has its number and marks."""
        passage = CasePassage(heading, self._previews.passage(text, self._ref))
        if numbered is None or numbered.number in self._shown or not text.startswith(numbered.text):
            return passage
        self._shown.add(numbered.number)
        assert passage.text is not None
        cited = cited_text(text, passage.text.shown, self._citations.marks(numbered).get(0, ()))
        at_item = self._citations.at(numbered, cited)
        return passage._replace(number=numbered.number, citations=at_item, cited=cited)
