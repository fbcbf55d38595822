"""Texts of prompts that several calls share, decoded once in a process: one object for all seats of a debate."""

from collections import OrderedDict


class DecodedTexts:
    """Keeps the texts used last, up to a total length.

    Args:
        most: characters; each text counts for `each` more, so that many short ones do not take
            much more memory.
    """

    def __init__(self, most: int, *, each: int = 0) -> None:
        self._each = each
        self._most = most
        self._length = 0
        self._texts: OrderedDict[str, str] = OrderedDict()

    def text(self, part: str, content: bytes) -> str:
        """The text of a part, which is named by its content; the same object as long as it is kept.

        Bytes that are no UTF-8 are replaced.
        """
        found = self._texts.get(part)
        if found is not None:
            self._texts.move_to_end(part)
            return found
        text = content.decode("utf-8", "replace")
        if len(text) + self._each <= self._most:
            self._texts[part] = text
            self._length += len(text) + self._each
            while self._length > self._most:
                _, dropped = self._texts.popitem(last=False)
                self._length -= len(dropped) + self._each
        return text
