"""The transcript of a case on its page: a block for each item, with formatted JSON; long items are folded."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jury_events.parts import PartRef
from jury_events.text.sizes import shown_size
from jury_events.transcript import Attachment, Item, NotShown, Origin, ToolCall, ToolResult, Transcript
from jury_views.label_decisive import LabelDecisive
from jury_views.numbered_items import NumberedItem
from jury_views.sent_pictures import Pictures
from jury_web.pages.citations import Citations, ItemCitations
from jury_web.pages.cited_text import CitedText, Mark, cited_text
from jury_web.pages.json_layout import layout
from jury_web.pages.text_previews import TextPreview, TextPreviews

ITEMS = 200
"""Items of a page, shared by the transcripts of a case; the exported file has all."""

_FEWEST = 5

_LONG = 800
_MANY_LINES = 14
_OPENING = 160


class ItemBlock(NamedTuple):
    """One item. `number` is that of the prompts where these number all items, else it counts from 1 in the transcript.

    `anchor` is its name in links, `call_anchor` that of the item `call`.
    `kind` and `origin` are those of the case, `name` is the name of a tool, a speaker or a file, `speaker` the agent of
    a call, a thought or a refusal, if it is named. `call` is the number of the call that it answers, `call_id` the id
    of a call that the transcript lacks; `call_unknown`: the record does not say which of several calls. `facts` are
    the type and size of a file, `picture` the number of a picture that jurors saw; `unseen`: no juror saw it. `opening`
    is the beginning of a long text, which is folded; None for a short one. `citations` are those of jurors who quote
    it, `label` is what the label names, where the item is of that message; `cited`, `cited_name` and `cited_speaker`
    are its texts with what they quote, None where they quote nothing.
    """

    number: int
    anchor: str
    kind: str
    origin: Origin
    name: str | None = None
    call: int | None = None
    call_anchor: str | None = None
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


class TranscriptBlocks(NamedTuple):
    """The shown items, and the number `left` out."""

    blocks: tuple[ItemBlock, ...]
    left: int


def transcript_blocks(
    transcript: Transcript,
    ref: PartRef,
    previews: TextPreviews,
    pictures: Pictures,
    *,
    citations: Citations,
    scenario: int = 1,
    transcripts: int = 1,
) -> TranscriptBlocks:
    """The items of a transcript: the first ones, and all that are cited.

    Args:
        transcript: of one scenario.
        ref: the stored text of the case.
        previews: cuts texts; without a limit all items are shown whole.
        pictures: numbers of the pictures that were sent to a juror, by digest.
        citations: of the debate.
        scenario: its number, from 1.
        transcripts: the number of transcripts on the page.
    """
    most = None if previews.limit is None else max(ITEMS // transcripts, _FEWEST)
    blocks = tuple(_Blocks(transcript, ref, previews, pictures, citations=citations, scenario=scenario).shown(most))
    return TranscriptBlocks(blocks, len(transcript) - len(blocks))


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
        self._transcript = transcript
        self._ref = ref
        self._previews = previews
        self._pictures = pictures
        self._citations = citations
        self._scenario = scenario

    def shown(self, most: int | None) -> Iterator[ItemBlock]:
        calls = self._transcript.answered_calls()
        for index, (item, call) in enumerate(zip(self._transcript.items, calls, strict=True)):
            numbered = self._numbered(index)
            if most is not None and index >= most and not self._is_linked(index, numbered):
                continue
            block = self._with_texts(self._block(item, index, call), item, numbered)
            block = block._replace(label=self._citations.label_of(block.number))
            if numbered is not None:
                at_item = self._citations.at(numbered, block.cited, block.cited_name, block.cited_speaker)
                block = block._replace(citations=at_item)
            yield block

    def _is_linked(self, index: int, numbered: NumberedItem | None) -> bool:
        return self._citations.is_cited(numbered) or self._citations.is_shown_for_label(self._name(index)[0])

    def _numbered(self, index: int) -> NumberedItem | None:
        return self._citations.item_at(self._scenario, "transcript", index)

    def _name(self, index: int) -> tuple[int, str]:
        """The number of an item, and its name in links."""
        numbered = self._numbered(index)
        number = index + 1 if numbered is None else numbered.number
        return number, self._citations.anchor(self._scenario, number)

    def _block(self, item: Item, index: int, call: int | None) -> ItemBlock:
        block = _block(item, *self._name(index), self._pictures)
        if isinstance(item, ToolResult | Attachment) and item.call_id is not None:
            block = block._replace(call_id=None if call is not None else item.call_id)
        if call is None:
            return block
        number, anchor = self._name(call)
        return block._replace(call=number, call_anchor=anchor)

    def _with_texts(self, block: ItemBlock, item: Item, numbered: NumberedItem | None) -> ItemBlock:
        written = _text_of(item)
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
        pretty = layout(written)
        shown = written if pretty is None else pretty.text
        if pretty is not None:
            marks = [Mark(one.quotation, *pretty.place(one.start, one.end), one.begins) for one in marks]
        text = self._previews.passage(shown, self._ref)
        is_long = len(text.shown) > _LONG or text.shown.count("\n") >= _MANY_LINES
        opening = " ".join(written[: 4 * _OPENING].split())[:_OPENING] if is_long else None
        cited = cited_text(shown, text.shown, marks)
        return block._replace(text=text, is_json=pretty is not None, opening=opening, cited=cited)


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


def _block(item: Item, number: int, anchor: str, pictures: Pictures) -> ItemBlock:
    name, failed = getattr(item, "name", None), isinstance(item, ToolResult) and item.error
    unknown = isinstance(item, ToolResult) and item.call_unknown
    speaker = getattr(item, "speaker", None)
    block = ItemBlock(
        number, anchor, item.kind, item.origin, name, failed=failed, call_unknown=unknown, speaker=speaker
    )
    if isinstance(item, Attachment):
        picture = pictures.get(item.digest) if item.media_type.startswith("image/") else None
        facts = f"{item.media_type}, {shown_size(item.size)}"
        return block._replace(facts=facts, picture=picture, unseen=picture is None and item.text is None)
    if isinstance(item, NotShown):
        facts = item.what if item.size is None else f"{item.what}, {shown_size(item.size)}"
        return block._replace(facts=facts, unseen=True)
    return block


def _text_of(item: Item) -> str | None:
    if isinstance(item, NotShown):
        return None
    return item.arguments if isinstance(item, ToolCall) else item.text
