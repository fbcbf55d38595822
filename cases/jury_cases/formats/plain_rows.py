"""Plain rows: columns such as `input` and `output` that are read without options, and what to say where none can be.

Of columns that could be the response one alone is taken: beside a model's output a plain `answer` is the expected one
(GSM8K, SQuAD, Alpaca), and judging that would measure nothing.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from shlex import quote
from typing import Any

from jury_cases.columns import field_option, listing, message_column, snake_case
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.registry import format_of
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import BOOKKEEPING, KINDS, read_choices, read_message
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank, python_value
from jury_cases.transcripts.reading import awaits_answer, has_turns, is_message, read_messages, templated_turns
from jury_events.text import visible_line
from jury_events.transcript import Message

QUESTIONS = ("question", "input", "inputs", "prompt", "instruction", "query", "user_input", "request_body")
"""Columns that may be the question; beside an `instruction` an `input` belongs to it."""

_RESPONSES = frozenset(
    {
        *("answer", "completion", "generated", "generation", "output", "pred", "predicted"),
        *("prediction", "reply", "response", "resps"),
        *("outputs", "completions", "generations", "predictions", "replies", "responses"),
    }
)
"""A column with one of these words in its name could be the response, if it is a text."""

EXPECTED_WORDS = frozenset(
    {"expected", "reference", "gold", "golden", "target", "truth", "correct", "ideal", "label", "best"}
)
"""Words of columns that are expected answers."""

ABOUT_WORDS = frozenset(
    {
        "id",
        "ids",
        "type",
        "time",
        "ms",
        "seconds",
        "tokens",
        "length",
        "count",
        "format",
        "score",
        "start",
        "end",
        "index",
        "timestamp",
    }
    | {"url", "uri", "date", "lang", "language", "model", "name", "status", "schema", "path", "file", "key", "hash"}
)
"""Last words of columns that say something about a text and are none."""

_OF_QUESTIONS = frozenset(
    {
        *("choices", "options", "distractors", "passage", "paragraph", "article", "story", "supporting"),
        *("hint", "solution", "rationale"),
    }
)
"""Words of columns that rows of benchmarks have: beside them, an `answer` alone is the expected one."""

_OPTIONS = re.compile(r"[(\n ]A[).:].*?[(\n ]B[).:]", re.DOTALL)
_OPTION = re.compile(r"\(?[A-H]\)?([.):\s]|$)")

_ASKERS, _ANSWERERS = ({"user", "human", "customer", "usr"}, {"assistant", "agent", "ai", "bot", "chatbot", "gpt"})
"""Columns that have what both sides said."""

_STEPS = ("spans", "steps", "observations", "events", "trajectory", "intermediate_steps", "actions")
"""Columns of what happened between a request and its answer, in forms that are not known here."""

_SETTINGS = BOOKKEEPING | {"model", "tools", "tool_choice", "temperature", "top_p", "max_tokens", "stream", "object"}

_TAKEN_EXPECTED = re.compile(r"expected|expected_(output|answer|response|completion|result|text|value)|reference")
_WORDS = re.compile(r"[a-z]+")


def question_columns(row: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The columns that could be the question, those that are read together in one."""
    found = [name for name in row if snake_case(name) in QUESTIONS and _is_said(row[name], row)]
    if [snake_case(name) for name in sorted(found)] == ["input", "instruction"]:
        return [
            (
                next(name for name in found if snake_case(name) == "instruction"),
                next(n for n in found if snake_case(n) == "input"),
            )
        ]
    return [(name,) for name in found]


def response_columns(row: Mapping[str, Any]) -> list[str]:
    return [name for name in row if could_answer(name) and _is_said(row[name], row)]


def words_of(name: str) -> list[str]:
    """The words of a column's name."""
    return _WORDS.findall(snake_case(str(name)))


@lru_cache(maxsize=4096)
def is_expected(name: str) -> bool:
    """Whether a column of this name is the expected answer."""
    return _TAKEN_EXPECTED.fullmatch(snake_case(name)) is not None


@lru_cache(maxsize=4096)
def could_answer(name: str) -> bool:
    """Whether a column of this name could be the response."""
    words = words_of(name)
    return (
        bool(words)
        and not _RESPONSES.isdisjoint(words)
        and EXPECTED_WORDS.isdisjoint(words)
        and words[-1] not in ABOUT_WORDS
    )


def _is_said(value: Any, row: Mapping[str, Any]) -> bool:
    """Whether a value is a text, a number, nothing or messages; an object with them, if the row has no steps beside."""
    if isinstance(value, dict):
        return _is_talk(value) and not any(_is_filled(row.get(name)) for name in _STEPS)
    value = _only(value)
    return value is None or isinstance(value, str | int | float) or is_message_list(value)


def _only(value: Any) -> Any:
    """The text of a list of one text, as programs keep the one answer that they asked for; else the value itself."""
    return value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str) else value


def _is_filled(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def _is_talk(value: Any) -> bool:
    """Whether a value is messages, an object with them, one message, or a completion."""
    if not isinstance(value, dict):
        return is_message_list(value)
    match value.get("choices"):
        case [{"message": _} | {"text": str()}, *others] if all(isinstance(one, dict) for one in others):
            return True
    return is_message(value) or is_message_list(value.get("messages"))


def _read_talk(value: Any, builder: TranscriptBuilder, place: str) -> None:
    if not isinstance(value, dict) or is_message(value):
        read_messages([value] if isinstance(value, dict) else value, builder, place)
        return
    system = value.get("system")
    if isinstance(system, str) and system:
        read_message({"role": "system", "content": system}, builder, f"{place}.system")
    if "messages" in value:
        read_messages(value["messages"], builder, f"{place}.messages")
    if "choices" in value:
        read_choices(value["choices"], builder, f"{place}.choices")
    for name in value.keys() - _SETTINGS - {"system", "messages", "choices"}:
        if not is_blank(value[name]):
            builder.not_shown(f"field {visible_line(name, 60)}", "environment", f"{place}.{name}", value[name])


def is_message_list(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value) and is_message(value[0])
    )


_ASKS = frozenset({*QUESTIONS, "request", "task", "goal", "problem"})
"""Last words of columns that may be the request."""


_PREFERENCES = frozenset({"chosen", "rejected"})


def take_plain(draft: CaseDraft, row: dict[str, Any], fields: Mapping[str, str]) -> None:
    """Take what the draft lacks from plain columns, where one alone can be it; `fields` are those of the user."""
    if draft.scenarios is not None:
        return
    _refuse_columns(row)
    taken = draft.taken
    answered = draft.answered or "response" in fields or (draft.built is not None and not _asks_last(draft.built))
    if draft.question is None or not answered:
        taken.update(_found(draft, row, fields, answered=answered))
    if draft.expected_behavior is None and "expected_behavior" not in fields:
        expected = [name for name in row if is_expected(name)]
        if len(expected) == 1 and isinstance(row[expected[0]], str | int | float):
            taken["expected_behavior"] = (expected[0],)
    for part, columns in taken.items():
        value = _decoded(row[columns[0]], asks=part == "question")
        if _is_talk(value):
            _take_talk(draft, part, value, columns[0])
        elif part == "question":
            draft.question = "\n\n".join(as_text(row[name]) for name in columns if not is_blank(row[name]))
        elif part == "response":
            draft.response, draft.answered = None if value is None else as_text(_only(row[columns[0]])), True
        else:
            draft.expected_behavior = as_text(row[columns[0]]) or None
    _refuse_left_out(draft, row, fields)


def _decoded(value: Any, *, asks: bool) -> Any:
    """JSON, or what Python prints, in a text; of a question also the turns of a chat template."""
    if asks and isinstance(value, str) and awaits_answer(value) and (turns := templated_turns(value)):
        return turns
    found = decoded_json(value)
    return python_value(found) if isinstance(found, str) else found


def _refuse_columns(row: dict[str, Any]) -> None:
    """Refuse a table whose columns are lists or objects: its cells are no texts of one case."""
    values = list(row.values())
    split = row.keys() == {"columns", "index", "data"}
    lists = len(values) > 1 and all(isinstance(one, list) and len(one) > 1 for one in values)
    same = lists and len({len(one) for one in values}) == 1 and not {"question", "response"}.isdisjoint(row)
    cells = same and all(inner is None or isinstance(inner, str | int | float) for one in values for inner in one)
    numbered = len(values) > 1 and all(isinstance(one, dict) and one and all(map(str.isdigit, one)) for one in values)
    if split or cells or (numbered and len({frozenset(one) for one in values}) == 1):
        raise CaseFileError(
            f"the row is a whole table by columns ({listing(row)}); write one object for each of its rows, as pandas "
            'does with to_json(FILE, orient="records", lines=True)'
        )


def _take_talk(draft: CaseDraft, part: str, value: Any, column: str) -> None:
    """Add the messages of a column to the draft: before what is there where they ask, else behind it."""
    talk = TranscriptBuilder()
    _read_talk(value, talk, column)
    first, last = (talk, draft.built) if part == "question" else (draft.built, talk)
    draft.built = first or talk
    if first is None or last is None:
        return
    asked = [one.item for one in first.built]
    if asked == [one.item for one in last.built[: len(asked)]]:
        draft.built = last  # as a state that has the request too
    else:
        first.extend(last)


def refuse_unanswered(draft: CaseDraft, row: Any, fields: Mapping[str, str]) -> None:
    """Refuse messages to which the answer is not named: two answers to the last of them (DPO), or a data set's request.

    Of two answers the user says which is judged.
    """
    if draft.built is None or draft.answered or not isinstance(row, dict):
        return
    if row.keys() >= _PREFERENCES and "response" not in fields and _asks_last(draft.built):
        ways = (f"jury cases FILE --field response={name}" for name in sorted(_PREFERENCES))
        raise CaseFileError(
            f"response: missing; chosen and rejected are two answers to the last request: {', or '.join(ways)}"
        )
    if "question" in draft.taken and _asks_alone(draft.built):
        raise CaseFileError(missing(row, question=False, response=True))


def _refuse_left_out(draft: CaseDraft, row: dict[str, Any], fields: Mapping[str, str]) -> None:
    """Refuse a request without an answer where a column that is not read may have it."""
    if draft.built is None or draft.response is not None or "response" in fields or not _asks_alone(draft.built):
        return
    if draft.error is None and any(_may_hold_answer(name, row[name], draft) for name in row):
        raise CaseFileError(missing(row, question=False, response=True))


def _may_hold_answer(name: str, value: Any, draft: CaseDraft) -> bool:
    """Whether a column may have the answer: by its name, and as it says something that was not read."""
    if is_blank(value) or not could_answer(name) or words_of(name) in (["answer"], ["response"]):
        return False
    return draft.answered or isinstance(value, dict | list)


def _found(
    draft: CaseDraft, row: dict[str, Any], fields: Mapping[str, str], *, answered: bool
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns of a question and of a response that the draft lacks."""
    questions, responses = question_columns(row), response_columns(row)
    messages = draft.built is not None and any(one.item.kind == "user" for one in draft.built.built)
    if messages and not answered and len(responses) > 1:
        raise CaseFileError(missing(row, question=False, response=True))
    sides = [] if questions or responses or draft.question is not None or messages or answered else _sides(row)
    if sides and not fields.keys() & {"question", "messages"}:
        yield "question", (sides[0],)
        yield "response", (sides[1],)
    if len(questions) == 1 and draft.question is None and not messages and "question" not in fields:
        yield "question", questions[0]
    if len(responses) == 1 and not answered and not why_expected(row, responses[0]):
        yield "response", (responses[0],)


def _sides(row: dict[str, Any]) -> list[str]:
    """The columns of what a user and an agent said, where there is one of each."""
    said = {name: snake_case(name) for name in row if isinstance(row[name], str) and row[name].strip()}
    found = [[name for name, plain in said.items() if plain in side] for side in (_ASKERS, _ANSWERERS)]
    return [one for (one,) in found] if list(map(len, found)) == [1, 1] else []


def why_expected(row: dict[str, Any], name: str) -> str:
    """Why a column `answer` is rather the expected answer than an agent's; "" if nothing says so."""
    expected = any(not EXPECTED_WORDS.isdisjoint(words_of(one)) for one in row)
    if words_of(name) not in (["answer"], ["answers"]) or expected:
        return ""
    filled = (one for one, value in row.items() if isinstance(value, str | list) and not is_blank(value))
    beside = next((one for one in filled if not _OF_QUESTIONS.isdisjoint(words_of(one))), None)
    if beside is not None:
        return f"the row has {visible_line(beside, 60)}"
    answer = row[name] if isinstance(row[name], str) else ""
    if re.search(r"^#### ", answer, re.MULTILINE):
        return "it has the line #### of GSM8K"
    asked = (row[one] for columns in question_columns(row) for one in columns)
    offered = any(isinstance(text, str) and _OPTIONS.search(text) for text in asked)
    return "the question offers options, and it names one" if offered and _OPTION.match(answer) else ""


def _asks_alone(built: TranscriptBuilder) -> bool:
    """Whether nothing of an agent or a tool follows the request: a data set's row, and no record of what was done."""
    return all(isinstance(one.item, Message) and one.item.kind in {"user", "system"} for one in built.built)


def _asks_last(built: TranscriptBuilder) -> bool:
    last = built.built[-1].item if built.built else None
    return isinstance(last, Message) and last.kind == "user"


def missing(row: Any, *, question: bool, response: bool) -> str:
    """What to say of a row without a question, a response or both: the commands that would read it."""
    lacks = [name for name, is_missing in (("response", response), ("question", question)) if is_missing]
    table = row if isinstance(row, dict) else {}
    if table.keys() == {"rows"}:  # of several rows, in a format that has no request
        return f"{' and '.join(lacks)}: missing in the rows; jury cases FILE --question TEXT"
    if table.keys() == {"text"} and response and question:
        return _of_text(as_text(table["text"]))
    answered = response_columns(table)
    if response and not answered and (inside := _sides_inside(table, question=question)):
        return f"{_lacking(lacks)}jury cases FILE {inside}; the row has {listing(row)}; {_OTHER_FORM}"
    listed = list(_conversations(table)) if response and question else []
    answered = answered or ([] if listed else _preferred(table))
    rows = [str(name) for name in table if _has_cases(str(name), table[name])] if response and question else []
    asked = [one[0] for one in question_columns(table)] or [*filter(None, (_said(table),))]
    asked = asked or [name for name in table if _asks(name) and isinstance(table[name], str)]
    asked = asked or [name for name in table if snake_case(str(name)) in _ASKERS and isinstance(table[name], str)]
    left = (name for name in table if name not in asked and _may_answer(name, table[name]))
    free = sorted(left, key=lambda name: -len(table[name])) if response and not answered else []
    if rows and not answered:
        ways = [f"jury cases FILE --rows {quote(visible_line(one, 60))}" for one in rows]
    elif listed and not answered:
        ways = [f"jury cases FILE {field_option('messages', one)}" for one in listed]
    else:
        asks = [_option("question", one, table) for one in asked] or ["--question TEXT"]
        answers = [_option("response", one, table) for one in answered or free[:1]]
        options = (asks if question else [""], answers if response else [""])
        ways = [" ".join(filter(None, ("jury cases FILE", *way))) for way in product(*options)]
        ways += ["--question TEXT"] if question and asked and ways else []
    said = _lacking(lacks)
    if response and not (answered or listed or rows or table.keys() & {"custom_id", "question_id"}):
        said += "no column looks like the agent's answer, and without one, or its messages, a row is no case"
        said += f": if it is in {_named(free)}, " if free else ""
    if response and len(answered) > 1:
        said += f"each of {_named(answered, 'and')} could be the response, and one may be the expected answer: "
    if response and len(answered) == 1 and (why := why_expected(table, answered[0])):
        said += f"{visible_line(answered[0], 60)} may be the expected answer, as {why}, and such a row is no case; "
        said += "if the agent wrote it: "
    said += ", or ".join(ways)
    if "custom_id" in table or "question_id" in table:
        said += "; name the file with the other half too, requests and answers"
    return f"{said}; the row has {listing(row)}; {_OTHER_FORM}"


_OTHER_FORM = "for rows of another form jury cases FILE --propose drafts a format file"


def _lacking(lacks: list[str]) -> str:
    return f"{lacks[0]}: missing{', and question' if len(lacks) > 1 else ''}; "


def _sides_inside(row: Mapping[str, Any], *, question: bool) -> str:
    """The options that read what was asked and answered where it stands one level down; "" if that is not clear."""
    inner = {
        f"{name}.{one}": value[one]
        for name, value in row.items()
        if isinstance(value, dict)
        for one in value
        if not is_blank(value[one])
    }
    answers = [path for path in inner if _answers_inside(path, inner[path])]
    asks = [path for path in inner if path not in answers and _asks_inside(path, inner[path])]
    if len(answers) != 1 or (question and len(asks) != 1):
        return ""
    part = "messages" if question and is_message_list(decoded_json(inner[asks[0]])) else "question"
    asked = f"{field_option(part, asks[0])} " if question else ""
    return f"{asked}{field_option('response', answers[0])}"


def _answers_inside(path: str, value: Any) -> bool:
    outer, _, name = path.partition(".")
    if words_of(name)[-1:] == ["object"]:  # the kind of the object, as OpenAI names it
        return False
    said = isinstance(_only(value), str) or is_message_list(value)
    return said and EXPECTED_WORDS.isdisjoint(words_of(outer)) and (could_answer(name) or could_answer(outer))


def _asks_inside(path: str, value: Any) -> bool:
    outer, _, name = path.partition(".")
    asks = any(not words.isdisjoint({*QUESTIONS, "request"}) for words in (set(words_of(outer)), set(words_of(name))))
    return asks and (isinstance(value, str) or is_message_list(value))


def _named(columns: list[str], word: str = "or") -> str:
    names = [visible_line(str(one), 60) for one in columns[:3]]
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _asks(name: str) -> bool:
    return bool(_ASKS.intersection(words_of(name)[-1:]))


def _may_answer(name: str, value: Any) -> bool:
    """Whether a column is a text of which it is not known what it is."""
    words = words_of(name)
    known = not EXPECTED_WORDS.isdisjoint(words) or not ABOUT_WORDS.isdisjoint(words[-1:])
    return isinstance(value, str) and " " in value and not (known or is_blank(decoded_json(value)))


def _of_text(text: str) -> str:
    if has_turns(text):
        return "the file is one text, with turns: jury cases FILE --field messages=text reads them"
    return (
        "the file is one text: if it is what the agent answered, jury cases FILE --field response=text --question TEXT "
        "reads it; if it is a conversation, begin each turn with User: or Assistant:, and name --field messages=text; "
        "of anything else no case can be made"
    )


def _said(row: Mapping[str, Any]) -> str | None:
    """The column of messages with a user's among them; None: there is none."""
    name = message_column(row)
    if name is None or not is_message_list(row[name]):
        return None
    return name if any(KINDS.get(as_text(one["role"]).lower()) == "user" for one in row[name]) else None


def _is_conversation(value: Any) -> bool:
    return has_turns(value) if isinstance(value, str) and ":" in value else is_message_list(decoded_json(value))


def _conversations(row: Mapping[str, Any]) -> Iterator[str]:
    for name, value in row.items():
        if _is_conversation(value):
            yield str(name)
        elif isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner, one in value.items() if _is_conversation(one))


def _has_cases(name: str, value: Any) -> bool:
    """Whether a column is a list of rows: of a format of its own, or with messages, or with question and response."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, dict):
        return False
    if format_of(first, None).name not in {"rows", "messages", "message-lines", "codex-items"}:
        return True
    return name not in _STEPS and not is_message(first) and _is_case(first)


def _is_case(first: dict[str, Any]) -> bool:
    return any(map(is_message_list, first.values())) or bool(question_columns(first) and response_columns(first))


def _preferred(row: Mapping[str, Any]) -> list[str]:
    """The two answers of a row of preferences; [] of another row."""
    return sorted(_PREFERENCES) if row.keys() >= _PREFERENCES else []


def _option(part: str, column: str, row: Mapping[str, Any]) -> str:
    if part == "question" and is_message_list(decoded_json(row[column])):
        part = "messages"
    return field_option(part, column)
