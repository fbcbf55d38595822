"""JSON as people read it: one member a line, indented; every value exactly as it is written."""

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_DEEPEST = 200
_LARGEST = 1_000_000


def laid_out(text: str) -> str | None:
    """A JSON object or list, laid out; None where the text is neither, or is too large or deep for that.

    Numbers, the order of members and members of the same name stay as they are; letters that strings write as `\\uXXXX`
    are written as themselves.
    """
    if len(text) > _LARGEST or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        json.loads(text)
        return _lines(_TOKEN.findall(text))
    except (ValueError, RecursionError):
        return None


def _lines(pieces: list[str]) -> str:
    out: list[str] = []
    depth = 0
    for place, piece in enumerate(pieces):
        if piece in "}]":
            depth -= 1
            empty = place and pieces[place - 1] in "{["
            out.append(piece if empty else f"\n{'  ' * depth}{piece}")
        elif piece in "{[":
            depth += 1
            if depth > _DEEPEST:
                raise ValueError("too deep")
            out.append(piece)
            if pieces[place + 1] not in "}]":
                out.append(f"\n{'  ' * depth}")
        elif piece == ",":
            out.append(f",\n{'  ' * depth}")
        elif piece == ":":
            out.append(": ")
        else:
            out.append(json.dumps(json.loads(piece), ensure_ascii=False) if "\\u" in piece else piece)
    return "".join(out)
