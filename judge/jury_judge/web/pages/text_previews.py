"""Free texts of a debate as a page shows them: a preview and a link to the rest, or whole; erased ones say so."""

from codecs import getincrementaldecoder
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from jury_events.parts import PartRef

PREVIEW = 4096
"""Bytes of a text that a page holds."""

_utf8 = getincrementaldecoder("utf-8")

State = Literal["there", "erased", "missing"]


class TextPreview(NamedTuple):
    """`shown` is the text as far as the page has it, `size` its length in bytes, `whole` whether that is all of it.

    `part` names it in a URL: the 43 characters of its digest.
    """

    part: str
    state: State
    shown: str = ""
    size: int = 0
    whole: bool = True


class TextPreviews:
    """The texts of one debate.

    Args:
        contents: by the 43 characters of their references; erased ones are not in it.
        erased: those whose erasure is recorded.
        limit: bytes that are shown of each; None: all.
    """

    def __init__(self, contents: Mapping[str, bytes], erased: Collection[str], limit: int | None = PREVIEW) -> None:
        self.contents = contents
        self._erased = erased
        self.limit = limit

    def text(self, ref: PartRef | None) -> TextPreview | None:
        """The text of a reference; None where there is none."""
        if ref is None:
            return None
        content = self.contents.get(ref.part)
        if content is None:
            return TextPreview(ref.part, "erased" if ref.part in self._erased else "missing")
        return self.cut(content, ref.part)

    def cut(self, content: bytes, part: str) -> TextPreview:
        """Bytes as text; those that are not UTF-8 show as escapes, and no character is cut in two."""
        cut = self.limit is not None and len(content) > self.limit
        piece = content[: self.limit] if cut else content
        shown = _utf8("backslashreplace").decode(piece, final=not cut)
        return TextPreview(part, "there", shown, len(content), whole=not cut)

    def passage(self, text: str, ref: PartRef) -> TextPreview:
        """A text that is only a piece of the stored one, to which it refers."""
        return self.cut(text.encode("utf-8", "backslashreplace"), ref.part)
