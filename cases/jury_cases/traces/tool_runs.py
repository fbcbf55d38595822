"""Which call of a message a tool's span without the call's id is the run of.

By the tool's name, also inside the span's own name; by the arguments, in any of their wrappings; by the result; and by
their order within a turn. What none of these says is left open. A span is the run of at most one call.
"""

import ast
import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jury_cases.traces.pieces import ContentPiece, canonical
from jury_cases.traces.span import SpanTool
from jury_cases.transcripts.json_values import decoded_json, is_blank

_LONGEST_LITERAL = 100_000
_DEEPEST = 5
_FORMS = 40
"""Forms of one value that are compared."""

_UNIQUE = 8
"""Characters of arguments that say by themselves which call it is, where a span has a name of its own."""

_NEXT = 50
"""Open calls of one key among which the one with the same result is looked for."""

_WORDS = re.compile(r"__|[^\w-]+")


class ToolNames:
    """The tools' names in calls, and those that a span's name means: the name, a word of it, or it is a word of one."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names) - {""}
        self._by_last: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(self._names):
            last = _words(name)[-1:]
            if last and last != [name]:
                self._by_last[last[0]].append(name)

    def of(self, name: str) -> list[str]:
        """The names of calls that a span's name may mean; the same name alone if a call has it."""
        if name in self._names:
            return [name]
        words = _words(name)
        found = [word for word in words if word in self._names]
        return found or [one for word in words[-1:] for one in self._by_last.get(word, ())]


def _words(name: str) -> list[str]:
    return [word for word in _WORDS.split(name) if word]


class _Open(NamedTuple):
    """An open call: its number in order, its place in the timeline, and its piece."""

    number: int
    place: int
    piece: ContentPiece


class _Run(NamedTuple):
    """A tool's span: its number, the place of its start in the timeline, what it says, and the tools that it may be."""

    number: int
    place: int
    tool: SpanTool
    names: list[str]
    forms: list[str]
    results: list[str]


def matched_runs(
    calls: Sequence[tuple[int, ContentPiece]], runs: Sequence[tuple[int, SpanTool]], results: Mapping[int, str]
) -> dict[int, ContentPiece]:
    named = ToolNames(piece.name or "" for _, piece in calls)
    listed = [_Open(number, place, piece) for number, (place, piece) in enumerate(calls)]
    waiting = [
        _Run(number, place, tool, named.of(tool.name), argument_forms(tool.arguments), result_forms(tool.result))
        for number, (place, tool) in enumerate(runs)
    ]
    return _Matching(listed, waiting, results).found


class _Matching:
    def __init__(self, calls: list[_Open], runs: list[_Run], results: Mapping[int, str]) -> None:
        self.found: dict[int, ContentPiece] = {}
        self._taken: set[int] = set()
        self._results = results
        forms = {one.number: argument_forms(getattr(one.piece.items[0], "arguments", None)) for one in calls}
        answers = {one.number: result_forms(results.get(id(one.piece))) for one in calls}
        arguments = _index(calls, lambda one: [(one.piece.name, form) for form in forms[one.number]])
        returned = _index(calls, lambda one: [(one.piece.name, form) for form in answers[one.number]])
        both = _index(calls, lambda one: [(a, r) for a in forms[one.number] for r in answers[one.number]])
        names = _index(calls, lambda one: [one.piece.name])
        for run in runs:
            self._take(run, arguments, [(name, form) for name in run.names for form in run.forms])
        for run in runs:
            self._take(run, returned, [(name, form) for name in run.names for form in run.results])
        for run in runs:
            self._take(run, both, [(a, r) for a in run.forms for r in run.results])
        alone = _index(calls, lambda one: forms[one.number])
        for run in runs:
            self._take(run, alone, [] if run.names else [form for form in run.forms if len(form) >= _UNIQUE])
        left = [run for run in runs if run.number not in self.found]
        spans = Counter(name for run in left for name in run.names)
        for run in left:
            enough = (one for one in run.names if spans[one] <= sum(c.number not in self._taken for c in names[one]))
            self._take(run, names, list(enough)[:1])

    def _take(self, run: _Run, index: Mapping[Any, list[_Open]], keys: Sequence[Any]) -> None:
        """Join a span with the best open call of the first key that has one."""
        if run.number in self.found:
            return
        for key in keys:
            calls = index.get(key)
            if not calls:
                continue
            calls[:] = [one for one in calls if one.number not in self._taken]
            if calls:
                chosen = self._best(run, calls)
                self._taken.add(chosen.number)
                self.found[run.number] = chosen.piece
                return

    def _best(self, run: _Run, calls: list[_Open]) -> _Open:
        """The call with the same result; else the first of the turn before the span, else the first of all."""
        same = (one for one in calls[:_NEXT] if self._results.get(id(one.piece)) in run.results)
        first = bisect_right(calls, run.place, key=lambda one: one.place)
        before = calls[:first][-_NEXT:]
        latest = [one for one in before if one.place >= before[-1].place - _NEXT]
        return next(same, None) or next((one for one in latest if id(one.piece) not in self._results), None) or calls[0]


def _index(calls: Iterable[_Open], keys: Callable[[_Open], Iterable[Any]]) -> dict[Any, list[_Open]]:
    found: defaultdict[Any, list[_Open]] = defaultdict(list)
    for one in calls:
        for key in keys(one):
            found[key].append(one)
    return found


def argument_forms(written: Any) -> list[str]:
    """Arguments in canonical form, as they stand and out of whatever wraps them, the outermost first."""
    if written is None:
        return []
    found: dict[str, None] = {canonical(written): None}
    waiting = [(_decoded(written), 0)]
    while waiting and len(found) < _FORMS:
        value, depth = waiting.pop(0)
        if is_blank(value):
            continue
        found[canonical(value)] = None
        if isinstance(value, dict):
            found[canonical(list(value.values()))] = None
            positional, named = value.get("args"), value.get("kwargs")
            if isinstance(positional, list) and isinstance(named, dict):
                found[canonical([*positional, *named.values()])] = None
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if depth < _DEEPEST:
            waiting += [(_decoded(one), depth + 1) for one in inner if isinstance(one, dict | list | str)]
    return list(found)


def _decoded(value: Any) -> Any:
    """JSON, or a Python literal (as LangChain writes it), as a value."""
    found = decoded_json(value, texts=True)
    if not isinstance(found, str) or len(found) > _LONGEST_LITERAL or found.lstrip()[:1] not in {"{", "["}:
        return found
    try:
        return json.loads(json.dumps(ast.literal_eval(found)))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return found


def result_forms(written: Any) -> list[str]:
    """A result in canonical form, as it stands, and its only text."""
    if written is None:
        return []
    found: dict[str, None] = {canonical(written): None}
    texts = list(_texts(_decoded(written)))
    if len(texts) == 1:
        found[canonical(texts[0])] = None
    return [one for one in found if one]


def _texts(value: Any) -> Iterable[str]:
    waiting = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, dict) and depth < _DEEPEST:
            waiting += [(inner, depth + 1) for name, inner in one.items() if name not in _NOT_CONTENT]
        elif isinstance(one, list) and depth < _DEEPEST:
            waiting += [(inner, depth + 1) for inner in one]
        elif isinstance(one, str) and one.strip():
            yield one


_NOT_CONTENT = frozenset({"type", "role", "name", "id", "tool_call_id", "toolUseId", "status", "is_error", "isError"})
