"""Columns that may be the parts of a case, for a draft of a format file: by their names."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jury_cases.columns import AUTOMATIC, snake_case
from jury_cases.plain_rows import ABOUT_WORDS, EXPECTED_WORDS, QUESTIONS, could_answer, is_expected, words_of
from jury_cases.proposed_lists import quoted
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
    """A text in a row: its path, the name of its field."""

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
