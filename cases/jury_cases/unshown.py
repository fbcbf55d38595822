"""A case of which jurors would see nothing, although its row has something: it is refused, and never judged."""

from collections import Counter

from jury_cases.errors import CaseFileError
from jury_events.transcript import Attachment, Event, Item, NotShown, ToolCall, ToolResult, Transcript

_NAMED = 6
_CONTENTS = (Attachment, Event, ToolCall, ToolResult)


def refuse_unshown(prompt: str, response: str, transcript: Transcript) -> None:
    """Refuse a case whose request, or whole record, is empty while parts of its row are not shown.

    A request may be a file that is shown alone.
    """
    unseen = [item for item in transcript.items if isinstance(item, NotShown)]
    if not unseen:
        return
    if not prompt.strip() and not _is_file(transcript) and any(item.origin in _ASKING for item in unseen):
        what = "question: the request"
    elif not (prompt.strip() or response.strip()) and not any(map(_is_content, transcript.items)):
        what = "the record"
    else:
        return
    counted = Counter(item.what for item in unseen)
    named = ", ".join(f"{count} × {name}" for name, count in counted.most_common(_NAMED))
    more = "" if len(counted) <= _NAMED else f" and {len(counted) - _NAMED} more kinds"
    raise CaseFileError(
        f"{what} has nothing that jurors can be shown, and parts of the row are not shown: {named}{more}; "
        "name the format of the row with --format, or the columns of its parts with --field; "
        "jury cases FILE --propose drafts a format file"
    )


_ASKING = frozenset({"user", "unknown", "environment"})


def _is_file(transcript: Transcript) -> bool:
    return any(isinstance(item, Attachment) and item.origin == "user" for item in transcript.items)


def _is_content(item: Item) -> bool:
    return isinstance(item, _CONTENTS) or bool(getattr(item, "text", "").strip())
