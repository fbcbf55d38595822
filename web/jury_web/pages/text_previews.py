"""Previews of the texts of a debate."""

from codecs import getincrementaldecoder
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from jury_events.parts import PartRef

PREVIEW = 4096
"""Bytes of a text that a page shows."""

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
        """The preview of a reference; None for None."""
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
