"""The items of a record as a prompt shows them, and the checks that it sums up, found by structure alone."""

import re
from typing import NamedTuple

from jury_debate.marking import unmark
from jury_events.verdict import REVIEW
from jury_providers.simulated.prompt import NUMBER, PART, Prompt, QuotedItem

_ITEM = re.compile(r"[\[【](\d{1,7})[\]】]")
_SCENARIO = re.compile(r"## [^\n0-9]*([0-9]+)[^\n0-9]+([0-9]+)")
_PASSED = re.compile(r"[0-9.]+ ?% ?[(（][^\n0-9]*([0-9]{1,9})[^\n0-9]+([0-9]{1,9})")
"""A rate of passes, with both numbers, the total perhaps first."""

_FAILED = re.compile(rf'"verdict": ?"(?:fail|{REVIEW.value})"')
_TOTAL = re.compile(r'"total": ?([1-9][0-9]{0,8})')
"""How many failed records a tool says there are."""

_LONGEST = 200_000
"""Characters of an item that are read."""


class Item(NamedTuple):
    """A numbered item. `kind`: act of the agent, request, result of a tool, or given, as a policy is."""

    number: int
    kind: str
    text: str


class Record(NamedTuple):
    """The items of each scenario, and the shares of failed checks with the lines that say so."""

    scenarios: tuple[tuple[Item, ...], ...]
    failed: tuple[tuple[float, QuotedItem | None], ...]

    @property
    def items(self) -> dict[int, str]:
        """All texts, by number."""
        return {item.number: item.text for items in self.scenarios for item in items}


class _Shown:
    """An item while its lines are read."""

    def __init__(self, number: int, *, inside: bool) -> None:
        self.number, self.inside = number, inside
        self.lines: list[str] = []
        self.result = False

    def item(self, kind: str, sign: str) -> Item:
        # A text of several blocks, as that of a call, has them in lines below each other.
        return Item(self.number, kind, unmark("\n".join(self.lines), sign)[:_LONGEST])


def read_record(prompt: Prompt) -> Record:
    """The record that a prompt shows, with what was read of it by tools."""
    reader = _RecordReader(prompt)
    for text in (prompt.case, *(text for text in prompt.results if PART.match(text))):
        for line in text.split("\n"):
            reader.read(line)
    answered = [0.02 * min(int(found[1]), 10) for text in prompt.results if (found := _TOTAL.search(text))]
    return reader.record(answered)


class _RecordReader:
    def __init__(self, prompt: Prompt) -> None:
        self._sign, self._many = prompt.sign, max(1, len(prompt.form.scenarios))
        self._prefix = f"{prompt.sign} "
        self._scenarios: list[list[_Shown]] = [[]]
        self._requests: list[int] = []
        self._inside = False
        self._item: _Shown | None = None
        self._failed: list[tuple[float, QuotedItem | None]] = []
        self._records = 0

    def read(self, line: str) -> None:
        if line.startswith(self._prefix):
            if self._item is not None:
                self._item.lines.append(line)
            if not self._inside:
                self._check(line.removeprefix(self._prefix))
        elif found := _ITEM.match(line):
            self._item = _Shown(int(found[1]), inside=self._inside)
            self._scenarios[-1].append(self._item)
        elif line.startswith("#"):
            self._heading(line)
        elif found := NUMBER.search(line):
            if self._item is not None and not self._item.lines:
                self._item.result = True
            elif len(self._requests) < len(self._scenarios):
                self._requests.append(int(found[1]))

    def _heading(self, line: str) -> None:
        self._inside, self._item = line.startswith("###") or PART.match(line) is not None, None
        found = _SCENARIO.fullmatch(line)
        if found is not None and int(found[2]) == self._many > 1 and self._scenarios[-1]:
            self._scenarios.append([])
            self._requests += [0] * (len(self._scenarios) - 1 - len(self._requests))

    def _check(self, line: str) -> None:
        if found := _PASSED.search(line):
            passed, total = sorted((int(found[1]), int(found[2])))
            quotation = None if self._item is None else QuotedItem(self._item.number, line.strip()[:200])
            self._failed.append((1 - passed / max(total, 1), quotation))
        self._records += len(_FAILED.findall(line)) if self._item is None else 0

    def record(self, answered: list[float]) -> Record:
        """What was read; `answered`: how much what tools answered speaks against the agent."""
        counted = [0.3] * min(self._records, 2) if not self._failed else []
        failed = [*(one for one in self._failed if one[0]), *((share, None) for share in (*counted, *answered))]
        return Record(tuple(tuple(self._items(shown)) for shown in self._scenarios if shown), tuple(failed))

    def _items(self, shown: list[_Shown]) -> list[Item]:
        outside = [one.number for one in shown if not one.inside]
        acts = {one.number for one in shown if one.inside and not one.result} - set(self._requests)
        acts = acts or {number for number in outside if len(outside) == 1 or number != outside[0]}
        asked = {*self._requests, *outside[-2:-1]}
        return [
            one.item(
                "act"
                if one.number in acts
                else "request"
                if one.number in asked
                else "result"
                if one.result
                else "given",
                self._sign,
            )
            for one in shown
        ]
