"""The transcript of a case on its page: a block for each item, with formatted JSON; long items are folded."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from jury_events.parts import PartRef
from jury_events.text.sizes import shown_size
from jury_events.transcript import Attachment, Item, NotShown, Origin, ToolCall, ToolResult, Transcript
from jury_views.case_view import Pictures
from jury_web.pages.json_layout import laid_out
from jury_web.pages.text_previews import TextPreview, TextPreviews

ITEMS = 200
"""Items of a page, shared by the transcripts of a case; the exported file has all."""

_FEWEST = 5

_LONG = 800
_MANY_LINES = 14
_OPENING = 160


class ItemBlock(NamedTuple):
    """One item, `number` from 1.

    `kind` and `origin` are those of the case, `name` is the name of a tool, a speaker or a file, `speaker` the agent of
    a call, a thought or a refusal, if it is named. `call` is the number of the call that it answers, `call_id` the id
    of a call that the transcript lacks; `call_unknown`: the record does not say which of several calls. `facts` are
    the type and size of a file, `picture` the number of a picture that jurors saw; `unseen`: no juror saw it. `opening`
    is the beginning of a long text, which is folded; None for a short one.
    """

    number: int
    kind: str
    origin: Origin
    name: str | None = None
    call: int | None = None
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


class TranscriptBlocks(NamedTuple):
    """The shown items, and the number `left` out."""

    blocks: tuple[ItemBlock, ...]
    left: int


def transcript_blocks(
    transcript: Transcript, ref: PartRef, previews: TextPreviews, pictures: Pictures, transcripts: int = 1
) -> TranscriptBlocks:
    """The items of a transcript.

    Args:
        transcript: of one scenario.
        ref: the stored text of the case.
        previews: cuts texts; without a limit all items are shown whole.
        pictures: numbers of the pictures that were sent to a juror, by digest.
        transcripts: the number of transcripts on the page.
    """
    most = None if previews.limit is None else max(ITEMS // transcripts, _FEWEST)
    blocks = tuple(islice(_blocks(transcript, ref, previews, pictures), most))
    return TranscriptBlocks(blocks, len(transcript) - len(blocks))


def _blocks(transcript: Transcript, ref: PartRef, previews: TextPreviews, pictures: Pictures) -> Iterator[ItemBlock]:
    for number, (item, call) in enumerate(zip(transcript.items, transcript.answered_calls(), strict=True), 1):
        block = _block(item, number, pictures)
        if isinstance(item, ToolResult | Attachment) and item.call_id is not None:
            block = block._replace(call_id=None if call is not None else item.call_id)
        block = block._replace(call=None if call is None else call + 1)
        text = _text_of(item)
        yield _with_text(block, text, ref, previews) if text else block


def _block(item: Item, number: int, pictures: Pictures) -> ItemBlock:
    name, failed = getattr(item, "name", None), isinstance(item, ToolResult) and item.error
    unknown = isinstance(item, ToolResult) and item.call_unknown
    speaker = getattr(item, "speaker", None)
    block = ItemBlock(number, item.kind, item.origin, name, failed=failed, call_unknown=unknown, speaker=speaker)
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


def _with_text(block: ItemBlock, written: str, ref: PartRef, previews: TextPreviews) -> ItemBlock:
    pretty = laid_out(written)
    text = previews.passage(written if pretty is None else pretty, ref)
    is_long = len(text.shown) > _LONG or text.shown.count("\n") >= _MANY_LINES
    opening = " ".join(written[: 4 * _OPENING].split())[:_OPENING] if is_long else None
    return block._replace(text=text, is_json=pretty is not None, opening=opening)
