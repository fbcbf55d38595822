"""A draft of a format file for rows that no format knows: found by the names and values in the first rows."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import jmespath
import yaml

from jury_cases.columns import snake_case
from jury_cases.formats.format import Format
from jury_cases.formats.format_files import declared_format
from jury_cases.proposed_columns import KEYS, asked_and_answered, cases_by_name, cases_inside, parts_of, root_of
from jury_cases.proposed_exchanges import proposed_exchanges
from jury_cases.proposed_lists import (
    SIDES,
    ListedMessages,
    in_order,
    message_lists,
    messages_score,
    quoted,
    role_of,
    text_of,
    word_of,
)
from jury_cases.proposed_steps import proposed_steps
from jury_cases.transcripts.chat import KINDS
from jury_cases.transcripts.json_values import as_text, is_blank

LOOKED_AT = 50
"""Rows of a file that are looked at, from its beginning."""

_MOST_WORDS = 6
"""Words for roles in all rows."""


class Proposal(NamedTuple):
    """A draft of a format file.

    Attributes:
        content: of the file.
        form: the format that it declares.
        unplaced: columns and fields that have no place in it.
        guesses: what of it is to be checked, in words.
    """

    content: dict[str, Any]
    form: Format
    unplaced: tuple[str, ...]
    guesses: tuple[str, ...] = ()

    def text(self) -> str:
        """As YAML."""
        return yaml.safe_dump(self.content, sort_keys=False, allow_unicode=True, width=110)


def propose(rows: Iterable[Any]) -> Proposal:
    """A draft for rows: at most `LOOKED_AT` of them are looked at."""
    seen = [row for row, _ in zip(rows, range(LOOKED_AT), strict=False)]
    objects = [row for row in seen if isinstance(row, dict)]
    first: dict[str, Any] = max(objects, key=lambda row: len(json.dumps(row, default=str)), default={})
    listed = max(message_lists(first), key=lambda one: one.score, default=None)
    content: dict[str, Any] = {"name": "my-format"}
    if listed is not None:
        return _of_messages(content, first, listed, objects)
    if len(seen) > 1 and messages_score(objects):
        gathered = _gathered(objects, first)
        if gathered is None:
            several = "several conversations that no column joins"
            return Proposal(content, declared_format(content, "the draft"), (several, *first))
        steps, guessed = proposed_steps(objects)
        return _finished(content | gathered | steps, first, {}, set(), (guessed,))
    whole = asked_and_answered(first).is_case
    found = cases_by_name(first) or (None if whole else cases_inside(first))
    if found is None and not whole and (exchanges := proposed_exchanges(first, objects)) is not None:
        content |= exchanges.content
        used = {*exchanges.columns, *parts_of(first, content, plain=False)}
        return _finished(content, first, first, used, (exchanges.guess,))
    rest = first
    if found is not None:
        content["cases"], rest = found
    used = set(parts_of(rest, content, plain=True))
    return _finished(content, first, rest, used, _choice(rest, content))


def _of_messages(
    content: dict[str, Any], first: dict[str, Any], listed: ListedMessages, rows: list[dict[str, Any]]
) -> Proposal:
    rest: Any = first
    if listed.cases is not None:
        content["cases"] = listed.cases
        found = jmespath.search(listed.cases, first)
        rest = found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
    if listed.path == "@" or "[@]" in listed.path:  # the row is a message itself, or a list of them
        rest = {}
    content["messages"] = in_order(listed.path, listed.messages)
    if listed.turns:
        content["turns"] = list(listed.turns)
    used = {root for root in rest if _reads(listed.path, root)}
    answer = next((one for one in message_lists(rest) if one.path != listed.path and _is_answer(one)), None)
    if answer is not None and not _is_answer(listed):
        content["response"] = f"{answer.path}[0].{text_of(answer.messages)}"
        used.add(root_of(answer.path))
    used |= set(parts_of(rest, content, plain=False))
    steps, guessed = proposed_steps([*listed.messages, *_of_others(listed, rows)]) if listed.messages else ({}, "")
    content |= steps
    followers = ["replies", "children"] if listed.path.startswith("branch(") else []
    content["ignore"] = [*followers, *(name for name in (listed.messages or [{}])[0] if snake_case(name) in SIDES)]
    return _finished(content, first, rest, used, (listed.note, guessed))


def _of_others(listed: ListedMessages, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of all rows, which may have words that those of the first have not."""
    if listed.cases is not None or "branch(" in listed.path or "json(" in listed.path:
        return []
    found = [jmespath.search(listed.path, row) for row in rows]
    others = [each for one in found if isinstance(one, list) for each in one if isinstance(each, dict)]
    role = role_of(listed.messages)
    words = {word_of(one, role) for one in others} if role is not None else set()
    return others if len(words) <= _MOST_WORDS else []  # else they are of people, who differ in each row


def _finished(
    content: dict[str, Any], first: dict[str, Any], rest: dict[str, Any], used: set[str], guesses: Iterable[str]
) -> Proposal:
    cases = content.get("cases")
    content = {name: value for name, value in content.items() if value != []}
    unplaced = [name for name in rest if name not in used and not is_blank(rest[name])]
    unplaced += [name for name in first if cases and not _reads(cases, name) and not is_blank(first[name])]
    if cases and "*" in cases:
        unplaced.append("the names under which the cases stand")
    return Proposal(content, declared_format(content, "the draft"), tuple(unplaced), tuple(filter(None, guesses)))


def _choice(row: Mapping[str, Any], content: dict[str, Any]) -> tuple[str, ...]:
    """What to say where several columns could be the response: none of them is taken."""
    found = asked_and_answered(row).responses
    several = "which is the agent's answer is not known: response: " + ", or response: ".join(found)
    return (several,) if len(found) > 1 and "response" not in content else ()


def _reads(path: str, column: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(quoted(column))}(?!\w)", path) is not None


def _rows_with(rows: list[Any]) -> str:
    """The expression for the rows that are messages: those that have the word that says whose they are."""
    objects = [one for one in rows if isinstance(one, dict)]
    role = role_of(objects) or ""
    return "rows" if all(word_of(one, role) for one in objects) else f"rows[?{role}]"


def _is_answer(listed: ListedMessages) -> bool:
    role = role_of(listed.messages)
    return role is not None and {KINDS.get(word_of(one, role).lower()) for one in listed.messages} == {"assistant"}


def _gathered(rows: list[dict[str, Any]], first: Mapping[str, Any]) -> dict[str, Any] | None:
    """How rows that are messages are joined to cases; None: they are of several, and no column says of which."""
    key = next((name for name in first if name.lower() in KEYS), None)
    if key is not None:
        return {"gather": quoted(key), "messages": _rows_with(rows), "ignore": [key]}
    tree, messages = _answering(rows), _rows_with(rows)
    if tree is None:
        return {"gather": "'all'", "messages": messages, "ignore": []}
    branch = f"branch({messages}, null, &{quoted(tree.own)}, &{quoted(tree.parent)})"
    return {"gather": "'all'", "messages": branch, "ignore": [tree.own, tree.parent]} if tree.roots == 1 else None


class _Answering(NamedTuple):
    """Rows that name the row that they answer: the columns of their ids and of those, and how many answer none."""

    own: str
    parent: str
    roots: int


def _answering(rows: list[dict[str, Any]]) -> _Answering | None:
    """How rows name those that they answer; None: they do not."""
    for parent in dict.fromkeys(name for row in rows for name in row if "parent" in snake_case(name)):
        named = {as_text(row[parent]) for row in rows if not is_blank(row.get(parent))}
        for own in rows[0]:
            ids = [as_text(row.get(own)) for row in rows]
            if own != parent and named and named <= set(ids) and len(set(ids)) == len(ids):
                return _Answering(own, parent, sum(is_blank(row.get(parent)) for row in rows))
    return None
