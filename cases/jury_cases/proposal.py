"""A draft of a format file for rows that no format knows: found by the names and values in the first rows."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import jmespath
import yaml

from jury_cases.columns import AUTOMATIC, snake_case
from jury_cases.formats.format import Format
from jury_cases.formats.format_files import declared_format
from jury_cases.formats.message_lists import sides_of
from jury_cases.formats.plain_rows import ABOUT_WORDS, EXPECTED_WORDS, QUESTIONS, could_answer, is_expected, words_of
from jury_cases.proposed_lists import (
    SIDES,
    ListedMessages,
    in_order,
    message_lists,
    messages_score,
    proposed_steps,
    quoted,
    role_of,
    text_of,
    word_of,
)
from jury_cases.transcripts.chat import KINDS
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank

_LONGEST_FACT = 60
"""Characters of a value that is proposed as metadata."""
_MOST_FACTS = 12
_DEEPEST_TEXT = 2
KEYS = (
    *("session_id", "sessionid", "conversation_id", "conversationid", "thread_id", "threadid"),
    *("trace_id", "chat_id", "run_id"),
)
"""Columns that say to which conversation a row belongs."""
_QUESTIONS = (
    *("question", "instruction", *QUESTIONS, "user_message", "user_prompt", "user_query", "task", "goal", "problem"),
    *("request", "task_description", "instructions", "text", "claim"),
)
_ANSWERS = frozenset({"model_patch"})
"""Beside the columns that plain rows have: what predictions of SWE-bench have (a plain `patch` is the expected one)."""
_ASKS = frozenset({"prompt", "question", "instruction", "query", "request"})
_NOT_ASKED = frozenset({"system", "template"})


class AskedAndAnswered(NamedTuple):
    """The expressions for the question, and for what could be the response."""

    question: str | None
    responses: tuple[str, ...]

    @property
    def is_case(self) -> bool:
        """Whether there is a question, and one response."""
        return self.question is not None and len(self.responses) == 1


def root_of(path: str) -> str:
    """The column in which a path begins."""
    return path.removeprefix("json(").partition(".")[0].partition("[")[0].strip('")')


def parts_of(row: Mapping[str, Any], content: dict[str, Any], *, plain: bool) -> Iterator[str]:
    """Add the parts of a case that columns have by their names; yields the columns."""
    wanted = {
        **AUTOMATIC,
        "case_id": (*AUTOMATIC["case_id"], "uuid", *KEYS),
        "cost": ("agent_cost", "cost", "total_cost"),
    }
    expected = next((one for one in row if isinstance(row[one], str) and is_expected(one)), None)
    if expected is not None:
        content["expected_behavior"] = quoted(expected)
        yield expected
    for part in ("case_id", "policy", "expected_behavior", "label", "tags", "cluster", "cost"):
        name = next((one for one in row if snake_case(one) in wanted[part] and not is_blank(row[one])), None)
        if (
            name is not None
            and part not in content
            and not isinstance(row[name], dict | list if part != "tags" else dict)
        ):
            content[part] = quoted(name)
            yield name
    responses: tuple[str, ...] = ()
    read: list[str] = []
    if plain:
        question, responses = asked_and_answered(row)
        if question is not None:
            content["question"], read = _asked(question, row)
            yield from read
        if len(responses) == 1:
            content["response"] = responses[0]
            yield root_of(responses[0])
    taken = {*(path for path in content.values() if isinstance(path, str)), *responses}
    facts = {
        name: quoted(name)
        for name, value in row.items()
        if isinstance(value, str | int | float) and not is_blank(value) and _is_fact(as_text(value))
    }
    metadata = {name: path for name, path in facts.items() if path not in taken and name not in read}
    if metadata:
        content["metadata"] = dict(list(metadata.items())[:_MOST_FACTS])
        yield from content["metadata"]


def _is_fact(text: str) -> bool:
    return len(text) < _LONGEST_FACT and "\n" not in text


def _asked(path: str, row: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The expression for the question, and the columns that it reads: an `input` belongs to its `instruction`."""
    name = root_of(path)
    inner = next((one for one in row if snake_case(one) == "input" and isinstance(row[one], str)), None)
    if path != quoted(name) or snake_case(name) != "instruction" or inner is None:
        return path, [name]
    return f'join(`"\\n\\n"`, [{path}, {quoted(inner)}][?@])', [name, inner]


def asked_and_answered(row: Mapping[str, Any]) -> AskedAndAnswered:
    """What may be the question, and what the response, by their names."""
    leaves = [
        one
        for one in _leaves(row, "", 0)
        if EXPECTED_WORDS.isdisjoint(words := words_of(one.name)) and ABOUT_WORDS.isdisjoint(words[-1:])
    ]
    questions = _QUESTIONS if len(row) > 1 else [one for one in _QUESTIONS if one != "text"]
    asked = next((one for name in questions for one in leaves if snake_case(one.name) == name), None)
    asked = asked or next((one for one in leaves if _asks(words_of(one.name))), None)
    left = [one for one in leaves if one is not asked and not (one.name == "input" and asked is not None)]
    answers = [one for one in left if could_answer(one.name) or one.name in _ANSWERS] or [
        one for one in left if could_answer(root_of(one.path))
    ]
    # Beside what a model wrote a plain `answer` is the expected one.
    written = [one for one in answers if "answer" not in words_of(one.name)] or answers
    return AskedAndAnswered(None if asked is None else asked.path, tuple(one.path for one in written))


def _asks(words: list[str]) -> bool:
    return not _ASKS.isdisjoint(words[-2:]) and _NOT_ASKED.isdisjoint(words)


class _Leaf(NamedTuple):
    path: str
    name: str


def _leaves(value: Mapping[str, Any], path: str, depth: int) -> Iterator[_Leaf]:
    for name, inner in value.items():
        at = f"{path}.{quoted(name)}" if path else quoted(name)
        if isinstance(inner, str) and not is_blank(decoded_json(inner)):
            yield _Leaf(at, name)
        elif isinstance(inner, list) and inner and isinstance(inner[0], str):
            yield _Leaf(f"{at}[0]", name)
        elif isinstance(inner, dict) and depth < _DEEPEST_TEXT:
            yield from _leaves(inner, at, depth + 1)


def cases_inside(row: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """A list whose objects have a question and a response: its path, and the first object."""
    for name, inner in row.items():
        objects = [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
        if objects and asked_and_answered(objects[0]).is_case:
            return quoted(name), objects[0]
        if isinstance(inner, dict) and (found := cases_inside(inner)) is not None:
            return f"{quoted(name)}.{found[0]}", found[1]
    return None


def cases_by_name(row: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Objects of one form, with a question and a response, that stand under names: their path, and the first."""
    found = [
        (path, next(iter(inner.values())))
        for path, inner in [("*", row), *((f"{quoted(name)}.*", inner) for name, inner in row.items())]
        if _are_alike_cases(inner)
    ]
    if not found:
        return None
    return found[0][0] if len(found) == 1 else f"[{', '.join(path for path, _ in found)}][]", found[0][1]


def _are_alike_cases(inner: Any) -> bool:
    ones = list(inner.values()) if isinstance(inner, dict) else []
    alike = len(ones) > 1 and all(isinstance(one, dict) and one.keys() == ones[0].keys() for one in ones)
    return alike and asked_and_answered(ones[0]).is_case


_DEEPEST = 3
_MOST = 200
"""Exchanges of lists, each of which is named in the draft."""
_ASKED = frozenset({"question", "query", "prompt", "user", "human", "input", "instruction", "request"})
_ANSWERED = frozenset({"answer", "response", "completion", "assistant", "agent", "bot", "output", "reply"})
_TEXTS = ("text", "input_text", "content", "value", "utterance")


class ProposedExchanges(NamedTuple):
    """What a draft says of them, the columns that it reads, and what of it is a guess."""

    content: dict[str, Any]
    columns: frozenset[str]
    guess: str


def proposed_exchanges(row: Mapping[str, Any], rows: list[dict[str, Any]]) -> ProposedExchanges | None:
    """The exchanges of rows like this one; None: it has none."""
    for root, path, turns in _lists(row, "", "", 0):
        if (sides := sides_of(turns)) is not None:
            guess = f"the turns of {path} are taken for one conversation; if each stands alone, write cases: {path}"
            content = {"messages": path, "steps": _steps(quoted(sides.asked), quoted(sides.answered))}
            return ProposedExchanges(content, frozenset({root}), guess)
    return _of_lists(row, rows)


def _lists(value: Mapping[str, Any], root: str, path: str, depth: int) -> Iterator[tuple[str, str, list[Any]]]:
    for name, inner in value.items():
        at = f"{path}.{quoted(name)}" if path else quoted(name)
        if isinstance(inner, list):
            yield root or name, at, inner
        elif isinstance(inner, dict) and depth < _DEEPEST:
            yield from _lists(inner, root or name, at, depth + 1)


def _steps(user: str, agent: str) -> list[dict[str, Any]]:
    return [
        {
            "parts": [
                {"of": f"[{user}][?@]", "steps": {"by": "user", "text": "@"}},
                {"of": f"[{agent}][?@]", "steps": {"by": "agent", "text": "@"}},
            ]
        }
    ]


def _of_lists(row: Mapping[str, Any], rows: list[dict[str, Any]]) -> ProposedExchanges | None:
    """Two lists of equal length: the questions and the answers."""
    asked = next((name for name in row if _is_side(name, row[name], _ASKED)), None)
    answered = next((name for name in row if name != asked and _is_side(name, row[name], _ANSWERED)), None)
    if asked is None or answered is None or len(row[asked]) != len(row[answered]):
        return None
    most = max(len(one[asked]) for one in rows if isinstance(one.get(asked), list))
    if most > _MOST:
        return None
    user, agent = (f"{quoted(name)}[{{}}]{_text_in(row[name][0])}" for name in (asked, answered))
    pairs = (f"{{user: {user.format(n)}, agent: {agent.format(n)}}}" for n in range(most))
    guess = (
        f"the lists {asked} and {answered} are taken for one conversation, of which {most} turns are read, the latter "
        "for the agent's answers: if they are the expected ones, no case can be made of the rows"
    )
    content = {"messages": f"[{', '.join(pairs)}][?user || agent]", "steps": _steps("user", "agent")}
    return ProposedExchanges(content, frozenset({asked, answered}), guess)


def _is_side(name: str, value: Any, words: frozenset[str]) -> bool:
    named = not words.isdisjoint(one.removesuffix("s") for one in words_of(name))
    if not named or not isinstance(value, list) or len(value) < 2:  # noqa: PLR2004  (turns)
        return False
    return all(isinstance(one, str) or (isinstance(one, dict) and _text_in(one)) for one in value)


def _text_in(value: Any) -> str:
    return next((f".{name}" for name in _TEXTS if isinstance(value, dict) and isinstance(value.get(name), str)), "")


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
