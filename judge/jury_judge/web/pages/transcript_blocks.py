"""A transcript as the page shows it: a block an item, each with its author, JSON laid out, long ones folded."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from jury_debate.case_text import shown_size
from jury_events.parts import PartRef
from jury_events.transcript import (
    Attachment,
    Event,
    Item,
    Message,
    NotShown,
    Origin,
    Reasoning,
    Refusal,
    ToolCall,
    ToolResult,
    Transcript,
)
from jury_judge.views.case_view import Pictures
from jury_judge.views.json_layout import laid_out
from jury_judge.web.pages.text_previews import TextPreview, TextPreviews

ITEMS = 200
"""Items of the transcripts of a case that a page holds, the first of each; its file holds all."""

_FEWEST = 5

_LONG = 800
_MANY_LINES = 14
_OPENING = 160


class ItemBlock(NamedTuple):
    """One item, `number` from 1.

    `kind` and `origin` are its kind and author as the case has them, `name` that of a tool, a speaker or a file.
    `call` is the number of the call that it answers, `call_id` the id of one that the transcript does not have.
    `facts` are the type and size of a file, `picture` the number of one that jurors saw, `unseen` what is not shown.
    `opening` is the beginning of a long text, which is folded; None where it is short.
    """

    number: int
    kind: str
    origin: Origin
    name: str | None = None
    call: int | None = None
    call_id: str | None = None
    failed: bool = False
    facts: str | None = None
    picture: int | None = None
    unseen: bool = False
    text: TextPreview | None = None
    is_json: bool = False
    opening: str | None = None


class TranscriptBlocks(NamedTuple):
    """The items that are shown, and how many are `left` out."""

    blocks: tuple[ItemBlock, ...]
    left: int


def transcript_blocks(
    transcript: Transcript, ref: PartRef, previews: TextPreviews, pictures: Pictures, transcripts: int = 1
) -> TranscriptBlocks:
    """The items of a transcript.

    Args:
        transcript: of a scenario.
        ref: the stored text that it is a piece of.
        previews: cuts texts as the page does; a previews without a limit shows all items whole.
        pictures: the numbers of those that were sent to some juror, by digest.
        transcripts: how many the page shows.
    """
    most = None if previews.limit is None else max(ITEMS // transcripts, _FEWEST)
    blocks = tuple(islice(_blocks(transcript, ref, previews, pictures), most))
    return TranscriptBlocks(blocks, len(transcript) - len(blocks))


def _blocks(transcript: Transcript, ref: PartRef, previews: TextPreviews, pictures: Pictures) -> Iterator[ItemBlock]:
    for number, (item, call) in enumerate(zip(transcript.items, transcript.answered_calls(), strict=True), 1):
        block = _of(item, number, pictures)
        if isinstance(item, ToolResult | Attachment) and item.call_id is not None:
            block = block._replace(call_id=None if call is not None else item.call_id)
        block = block._replace(call=None if call is None else call + 1)
        written = _written(item)
        yield _with_text(block, written, ref, previews) if written else block


def _of(item: Item, number: int, pictures: Pictures) -> ItemBlock:
    base = ItemBlock(number, item.kind, item.origin)
    match item:
        case Message() | ToolCall() | Event():
            return base._replace(name=item.name)
        case ToolResult():
            return base._replace(name=item.name, failed=item.error)
        case Attachment():
            picture = pictures.get(item.digest) if item.media_type.startswith("image/") else None
            unseen = picture is None and item.text is None
            facts = f"{item.media_type}, {shown_size(item.size)}"
            return base._replace(name=item.name, facts=facts, picture=picture, unseen=unseen)
        case NotShown():
            facts = item.what if item.size is None else f"{item.what}, {shown_size(item.size)}"
            return base._replace(facts=facts, unseen=True)
        case _:
            return base


def _written(item: Item) -> str | None:
    match item:
        case Message() | Reasoning() | Refusal() | ToolResult() | Event() | Attachment():
            return item.text
        case ToolCall():
            return item.arguments
        case _:
            return None


def _with_text(block: ItemBlock, written: str, ref: PartRef, previews: TextPreviews) -> ItemBlock:
    pretty = laid_out(written)
    text = previews.passage(written if pretty is None else pretty, ref)
    is_long = len(text.shown) > _LONG or text.shown.count("\n") >= _MANY_LINES
    opening = " ".join(written[: 4 * _OPENING].split())[:_OPENING] if is_long else None
    return block._replace(text=text, is_json=pretty is not None, opening=opening)
