"""JSON as people read it: one member a line, indented; every value exactly as it is written."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

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
