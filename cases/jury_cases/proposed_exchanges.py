"""Exchanges in a row, for a draft of a format file: turns that have what both said, or a list of each side."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jury_cases.formats.exchanges import sides_of
from jury_cases.plain_rows import words_of
from jury_cases.proposed_lists import quoted

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
    """The step from an element to its text; empty where it is one."""
    return next((f".{name}" for name in _TEXTS if isinstance(value, dict) and isinstance(value.get(name), str)), "")
