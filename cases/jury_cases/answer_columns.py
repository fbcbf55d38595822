"""Columns that may be the question, the response or the expected answer, by their names.

Beside what a model wrote a plain `answer` is the expected one (GSM8K, SQuAD, Alpaca): who takes a response looks at all
of those that could be it.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jury_cases.columns import snake_case
from jury_cases.transcripts.reading import is_message

QUESTIONS = ("question", "input", "prompt", "instruction", "query", "user_input")
"""Columns that may be the question; beside an `instruction` an `input` belongs to it."""

_RESPONSES = frozenset(
    {
        *("answer", "completion", "generated", "generation", "output", "pred", "predicted"),
        *("prediction", "reply", "response", "resps"),
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
    }
    | {"url", "uri", "date", "lang", "language", "model", "name", "status", "schema", "path", "file", "key", "hash"}
)
"""Last words of columns that say something about a text and are none."""

_TAKEN_EXPECTED = re.compile(r"expected|expected_(output|answer|response|completion|result|text|value)|reference")
_WORDS = re.compile(r"[a-z]+")


def question_columns(row: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The columns that could be the question, those that are read together in one."""
    found = [name for name in row if snake_case(name) in QUESTIONS and _is_said(row[name])]
    if [snake_case(name) for name in sorted(found)] == ["input", "instruction"]:
        return [
            (
                next(name for name in found if snake_case(name) == "instruction"),
                next(n for n in found if snake_case(n) == "input"),
            )
        ]
    return [(name,) for name in found]


def response_columns(row: Mapping[str, Any]) -> list[str]:
    return [name for name in row if could_answer(name) and _is_said(row[name])]


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


def _is_said(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float) or is_message_list(value)


def is_message_list(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value) and is_message(value[0])
    )
