"""Conversations by exchanges: each turn has what the user said and what the agent answered, or a history before them.

Which is which is said by the names of two fields, or by the order of two texts.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jury_cases.columns import HISTORIES, TURNS, snake_case
from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.formats.own_rows import read_own_row
from jury_cases.formats.plain_rows import question_columns, response_columns, words_of
from jury_cases.transcripts.authors import AUTHORS
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import KINDS
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank
from jury_cases.transcripts.reading import is_message, read_messages

_USER = frozenset({"user", "usr", "human", "customer", "client"})
_AGENT = frozenset({"agent", "ai", "assistant", "bot", "chatbot", "gpt", "model", "moss", "system"})
_ASKED = frozenset({"question", "query", "prompt", "q", "input", "instruction"})
_ANSWERED = frozenset({"answer", "response", "completion", "a", "output", "reply"})
_SAID = frozenset({"utterance", "message", "text", "turn", "transcript", "content"})
_NUMBERED = re.compile(r"[A-Za-z_ -]*([0-9]+)")


class Exchange(NamedTuple):
    """What one said and the other answered, and the other fields of the turn. None: nothing was said."""

    asked: str | None
    answered: str | None
    rest: Mapping[str, Any]


class Sides(NamedTuple):
    """The names of the fields of both."""

    asked: str
    answered: str


def sides_of(turns: Any) -> Sides | None:
    """In which fields objects have what both said; None: they are no exchanges."""
    objects = turns if isinstance(turns, list) and turns and all(isinstance(one, dict) for one in turns) else []
    names = dict.fromkeys(name for one in objects for name in one)
    asked = [name for name in names if _is_of(name, _USER, _ASKED)]
    answered = [name for name in names if name not in asked and _is_of(name, _AGENT, _ANSWERED)]
    if len(asked) != 1 or len(answered) != 1:
        return None
    sides = Sides(asked[0], answered[0])
    texts = [tuple(one.get(name) for name in sides) for one in objects]
    if not all(value is None or isinstance(value, str) for pair in texts for value in pair):
        return None
    whole = all(any(map(bool, pair)) for pair in texts) and any(all(map(bool, pair)) for pair in texts)
    return sides if whole else None


def _is_of(name: str, who: frozenset[str], what: frozenset[str]) -> bool:
    """Whether a field of this name is what one side said: `user`, `question`, `user_utterance`."""
    words = set(words_of(snake_case(name)))
    return bool(words & (who | what)) and words <= who | what | _SAID and len(words) <= 2  # noqa: PLR2004  (whose, what)


def exchanges_of(value: Any) -> list[Exchange] | None:
    """The exchanges in a value: a list of objects or of pairs, or objects by their numbers; None: it has none."""
    turns = _in_order(value) if isinstance(value, dict) else value
    if turns is not None and (sides := sides_of(turns)) is not None:
        return [
            Exchange(
                one.get(sides.asked),
                one.get(sides.answered),
                {name: inner for name, inner in one.items() if name not in sides},
            )
            for one in turns
        ]
    return list(_of_pairs(turns)) or None


def _in_order(value: Mapping[str, Any]) -> list[Any] | None:
    """Values by their numbered names (`turn_1`, `2`); None: not all of them are numbered."""
    found = [(_NUMBERED.fullmatch(name), inner) for name, inner in value.items()]
    numbered = [(int(match[1]), inner) for match, inner in found if match is not None]
    if not found or len(numbered) < len(found) or len({number for number, _ in numbered}) < len(found):
        return None
    return [inner for _, inner in sorted(numbered, key=lambda one: one[0])]


def _of_pairs(turns: Any) -> Iterator[Exchange]:
    """Pairs of texts; nothing where one of them is a word for a role."""
    pairs: list[Any] = turns if isinstance(turns, list) else []
    of_texts = all(
        isinstance(one, list)
        and len(one) == 2  # noqa: PLR2004  (a pair)
        and isinstance(one[0], str)
        and isinstance(one[1], str | None)
        for one in pairs
    )
    if of_texts and not any(as_text(one).lower() in KINDS for pair in pairs for one in pair):
        yield from (Exchange(asked, answered, {}) for asked, answered in pairs)


class _Found(NamedTuple):
    """The column with exchanges, or with messages before the question; and what the row itself asks and answers."""

    column: str
    exchanges: list[Exchange]
    messages: list[Any]
    own: Exchange | None = None
    read: tuple[str, ...] = ()


def _found(row: Mapping[str, Any]) -> _Found | None:
    for name, value in row.items():
        plain = snake_case(name)
        questions, answers = question_columns(row), response_columns(row)
        is_whole = plain in TURNS or (plain in HISTORIES and not (questions or answers))
        if is_whole and (said := exchanges_of(value)) is not None:
            return _Found(name, said, [])
        if plain not in HISTORIES or is_blank(value := decoded_json(value)):
            continue
        said, messages = exchanges_of(value), value if isinstance(value, list) and is_message(value[0]) else []
        if (said or messages) and len(questions) == 1 and len(answers) == 1:
            asked = "\n\n".join(as_text(row[one]) for one in questions[0] if not is_blank(row[one]))
            answered = None if row[answers[0]] is None else as_text(row[answers[0]])
            return _Found(name, said or [], messages, Exchange(asked, answered, {}), (*questions[0], answers[0]))
    return None


def _read(row: Any) -> CaseDraft:
    found = _found(row)
    assert found is not None, "the row was recognised"
    builder = TranscriptBuilder()
    own = [] if found.own is None else [found.own]
    if found.messages:
        read_messages(found.messages, builder)
    for index, one in builder.messages.of_list(enumerate([*found.exchanges, *own]), len(found.exchanges) + len(own)):
        place = f"{found.column}.{index}"
        if one.asked:
            builder.message("user", one.asked, place)
        builder.unread(dict(one.rest), frozenset({"id", "turn_id", "turn", "index"}), AUTHORS["assistant"], place)
        if one.answered:
            builder.message("assistant", one.answered, place)
    draft = read_own_row({name: value for name, value in row.items() if name not in {found.column, *found.read}})
    draft.built = builder
    if found.own is not None:
        draft.taken = {"question": found.read[:-1], "response": found.read[-1:]}
    return draft


def _is_recognised(row: Any) -> bool:
    return isinstance(row, dict) and _found(row) is not None


EXCHANGES = Format(
    "exchanges",
    _is_recognised,
    _read,
    columns=TURNS | HISTORIES,
    recognised_by=(
        "`turns`, `conversation`, `dialogue` or `chat` of `user` and `assistant`, or of pairs; `history` beside a "
        "question and its answer"
    ),
    shows="both sides of each turn; the exchanges before the question",
)
