"""Reads a prompt by its structure alone: the sign of judged lines, numbers, headings, and the example of an answer.

No text of a language is looked for. Judged lines begin with the debate's sign, so that none of them passes for one of
the prompt's own; what cannot be read is left out.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from jury_debate.marking import unmark
from jury_debate.prompts_1.line_marks import SIGN_PATTERN
from jury_events.panel import Bands
from jury_events.verdict import REVIEW
from jury_events.verdict_scale import VERDICTS
from jury_providers.provider import ModelRequest

REVIEW_FROM, PASS_FROM = Bands().review_from, Bands().pass_from


THREE_VERDICTS = tuple(verdict.value for verdict in VERDICTS.values())
"""From worst to best, as prompts show them."""


class WordScale(NamedTuple):
    """Words from worst to best; a score, 0-100, reaches a word from its edge on, and the worst without one.

    Of the three verdicts the edges are the default bands, of other words equal steps. What follows from a word is not
    shown: from 70 % of the scale on it is favourable, below 40 % grave.
    """

    words: tuple[str, ...] = THREE_VERDICTS

    @property
    def edges(self) -> tuple[float, ...]:
        """The least score of each word but the worst."""
        if self.words == THREE_VERDICTS:
            return (REVIEW_FROM, PASS_FROM)
        return tuple(100 * place / len(self.words) for place in range(1, len(self.words)))

    def word(self, score: float) -> str:
        return self.words[bisect_right(self.edges, score)]

    def middle(self, word: str) -> float:
        """The score in the middle of a word's."""
        place = self.words.index(word)
        return sum((0.0, *self.edges, 100.0)[place : place + 2]) / 2

    def is_favourable(self, word: str) -> bool:
        """Whether it speaks for what is judged."""
        return self._share(word) >= PASS_FROM

    def is_grave(self, word: str) -> bool:
        """Whether it speaks against what is judged."""
        return self._share(word) < REVIEW_FROM

    def confidence(self, score: float) -> float:
        """It grows with the distance from the next edge."""
        return round(0.5 + 0.45 * min(1.0, min(abs(score - edge) for edge in self.edges) / 25), 2)

    def _share(self, word: str) -> float:
        return 100 * self.words.index(word) / (len(self.words) - 1)


def spread(score: float, dimensions: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Points for each dimension, in tenths, that add up to the score as closely as the maxima allow."""
    points = {name: min(most, round(most * score / 100, 1)) for name, most in dimensions}
    for name, most in sorted(dimensions, key=lambda one: -one[1]):
        rest = score - sum(points.values())
        points[name] = max(0.0, min(most, round(points[name] + rest, 1)))
    return points


NUMBER = re.compile(r"[\[【](\d{1,7})[\]】]")
"""The number of an item, in the prompt's own lines."""

PART = re.compile(r"^## [^\n0-9]*([0-9][0-9a-z.]*)[^\n0-9]+[0-9]+[^\n0-9]+$", re.MULTILINE)
"""Stands over a part of a record."""

_MOST_SCENARIOS = 10_000
_SIGN = re.compile(rf'["「]({SIGN_PATTERN}) |(⟦[A-Za-z0-9]{{1,64}}⟧)')
_BALLOT = re.compile(r"(?<![A-Za-z0-9])([a-z2-7]{16})(?![A-Za-z0-9])")
_LETTER = re.compile(r"(?<![A-Za-z])[A-Z]{1,6}(?![A-Za-z])")
_SEAT = re.compile(r"^# [^\n]*\n([^\n#][^\n]*[0-9][^\n]*)", re.MULTILINE)
_SCENARIOS = re.compile(r'^[^\n0-9]*([0-9]+)[^\n]*"scenarios"', re.MULTILINE)

LINE_SIGN, MARKER = "kk:", "⟦0⟧"
"""They stand in the place of a debate's sign of lines, and of its marker of words."""


class AnswerForm(NamedTuple):
    """What an answer must have: the dimensions with their maxima, a statement, the ids of scenarios.

    `asked`: the names of all fields. `findings`: what a part of the record shows is asked for, and no verdict.
    """

    dimensions: tuple[tuple[str, float], ...] = ()
    statement: bool = False
    scenarios: tuple[str, ...] = ()
    words: tuple[str, ...] = THREE_VERDICTS
    evidence: bool = False
    findings: bool = False
    asked: tuple[str, ...] = ()

    @property
    def scale(self) -> WordScale:
        """The words with their scores."""
        return WordScale(self.words)

    def whole(self, answer: dict[str, Any]) -> dict[str, Any]:
        """An answer with each field that is asked for, null or empty where `answer` does not have it."""
        nothing: dict[str, Any] = {name: None for name in self.asked if name in {"statement", "scenarios"}}
        if self.evidence:
            nothing |= {"evidence": [], "decisive_item": None}
        return answer | {name: value for name, value in nothing.items() if name not in answer}


class QuotedItem(NamedTuple):
    """What a prompt shows as quoted from an item."""

    item: int
    quote: str


class PeerBlock(NamedTuple):
    """A juror's evaluation as a later prompt shows it; `round` is 0 for phase 1, `said` its words."""

    letter: str
    round: int
    verdict: str
    score: float
    confidence: float
    said: str
    quotations: tuple[QuotedItem, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """A request as read. `task`: initial, again (with the agent's reasoning shown), discussion, final, window, gather
    or closing; `part`: that is shown.

    `shown` is the text of the user's first message, with the debate's own sign, `drawn`: the case up to `seat`, the
    turn from `behind` on, which is the end of the ballot; `answered` is what tools answered. These are read when they
    are asked for: scripted answers need nothing of them.
    """

    letter: str
    ballot: str
    task: str
    round: int
    form: AnswerForm
    shown: str
    drawn: str
    seat: int
    behind: int
    answered: tuple[str, ...] = ()
    part: str = ""

    @property
    def sign(self) -> str:
        """What stands in the place of the debate's sign in all texts: no answer depends on the one that was drawn."""
        return MARKER if self.drawn.startswith("⟦") else LINE_SIGN

    @cached_property
    def case(self) -> str:
        """What stands before the seat's block."""
        return _with_sign(self.shown[: self.seat].rstrip("\n"), self.drawn, self.sign)

    @cached_property
    def turn(self) -> str:
        """What follows the ballot."""
        return _with_sign(self.shown[self.behind :], self.drawn, self.sign)

    @cached_property
    def results(self) -> tuple[str, ...]:
        """What tools answered."""
        return tuple(_with_sign(one, self.drawn, self.sign) for one in self.answered)

    @cached_property
    def _evaluations(self) -> tuple[PeerBlock, ...]:
        return tuple(_blocks(self.turn, self.form.words, self.sign))

    @property
    def own(self) -> PeerBlock | None:
        """The seat's latest evaluation."""
        return next((block for block in reversed(self._evaluations) if block.letter == self.letter), None)

    @property
    def peers(self) -> tuple[PeerBlock, ...]:
        """The evaluations of other seats, oldest first."""
        return tuple(block for block in self._evaluations if block.letter != self.letter)

    @cached_property
    def quotations(self) -> tuple[QuotedItem, ...]:
        """Those of the seat's own findings, where the task shows these."""
        return _read_block(self.turn, self.sign)[1] if self.task in {"gather", "closing"} else ()

    @property
    def step(self) -> str:
        """The step, by the seat's letter: `initial/A`, `reasoning/A`, `round-2/B`, `final`; one of a long record
        `initial/A:3`.
        """
        if self.task == "final":
            return "final"
        phase = {"discussion": f"round-{self.round}", "again": "reasoning"}.get(self.task, "initial")
        part = f":{self.part or self.task}" if self.task in {"window", "gather", "closing"} else ""
        return f"{phase}/{self.letter or 'unknown'}{part}"

    @cached_property
    def case_digest(self) -> bytes:
        """Identifies the text of the case."""
        return blake2b(self.case.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def own_numbers(self, text: str) -> list[int]:
        """The numbers of items in the prompt's own lines of a text."""
        lines = (line for line in text.split("\n") if not line.startswith(self.sign))
        return [int(number) for line in lines for number in NUMBER.findall(line)]


def read_prompt(request: ModelRequest) -> Prompt:
    """Parse a request; of an unknown prompt all is the case. Never raises."""
    system = "\n".join([message.whole for message in request.messages if message.role == "system"])
    user = next((message.whole for message in request.messages if message.role == "user"), "")
    drawn = _sign(user)
    start, end, ballot = _ballot_line(user, drawn)
    seat, letter = _seat(user[:start], drawn) if ballot else (len(user), "")
    turn = user[end:]
    last = turn.rfind("\n# ") + 1
    number = re.search(r"[0-9]+", turn[last:].partition("\n")[0]) if last and letter else None
    form = _form(turn if '"findings"' in turn else system)
    part = PART.search(user, 0, seat) if form.findings else None
    if form.findings:
        task = "gather" if part is None else "window"
    elif ballot and not letter:
        task = "final"
    else:
        task = "initial" if turn.find("\n# ") + 1 == last else "closing"
        task = task if number is None else "discussion"
    before = turn.partition("\n# ")[0]
    asked = _SCENARIOS.search(before) if '"scenarios"' in before else None  # the expression is slow on long texts
    many = 0 if form.findings or asked is None else min(int(asked[1]), _MOST_SCENARIOS)
    prompt = Prompt(
        letter,
        ballot,
        task,
        0 if number is None else int(number[0]),
        form._replace(statement=task == "discussion", scenarios=tuple(map(str, range(1, many + 1)))),
        user,
        drawn,
        seat,
        end,
        tuple(one.whole for one in request.messages if one.role == "tool"),
        part="" if part is None else part[1],
    )
    return replace(prompt, task="again") if task == "closing" and prompt.own is not None else prompt


def ballot_in(text: str) -> str:
    """The ballot id in the text of a seat; "" where there is none."""
    return _ballot_line(text, _sign(text))[2]


def _with_sign(text: str, drawn: str, sign: str) -> str:
    if sign == MARKER:
        return text.replace(drawn, sign)
    signed = f"\n{text}".replace(f"\n{drawn} ", f"\n{sign} ")[1:]
    return signed.replace(f'"{drawn} ', f'"{sign} ', 1).replace(f"「{drawn} ", f"「{sign} ", 1)


def _sign(text: str) -> str:
    found = _SIGN.search(text)
    return (found[1] or found[2]) if found else LINE_SIGN


def _ballot_line(text: str, sign: str) -> tuple[int, int, str]:
    """The last line of the prompt's own that names a ballot: where it begins and ends, and the id."""
    end = len(text)
    while (at := text.rfind('"ballot"', 0, end)) >= 0:
        start, stop = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        line = text[start : stop if stop >= 0 else None]
        if not line.startswith(sign) and (found := _BALLOT.search(line)):
            return start, start + len(line), found[1]
        end = start
    return len(text), len(text), ""


def _seat(text: str, sign: str) -> tuple[int, str]:
    """Where the block of the seat begins, which has the ballot at its end, and the seat's letter; a judge has none."""
    after = max(text.rfind(f"\n{sign} "), 0)
    found = _SEAT.search(text, after)
    letter = None if found is None else _LETTER.search(found[1])
    return len(text) if found is None else found.start(), "" if letter is None else letter[0]


@lru_cache(maxsize=64)
def _form(text: str) -> AnswerForm:
    """The form of the example of an answer in a text; a schema does not reach all servers."""
    at, decoder = text.find("\n{"), json.JSONDecoder()
    while at >= 0:
        try:
            return _form_of(decoder.raw_decode(text, at + 1)[0])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            at = text.find("\n{", at + 1)
    return AnswerForm()


def _form_of(example: dict[str, Any]) -> AnswerForm:
    if "findings" in example:
        return AnswerForm(evidence="evidence" in example["findings"][0], findings=True, asked=tuple(example))
    return AnswerForm(
        dimensions=tuple((name, float(most[2:])) for name, most in example.get("scores", {}).items()),
        words=tuple(example["verdict"].split(" | ")),
        evidence="evidence" in example,
        asked=tuple(example),
    )


def _blocks(turn: str, words: tuple[str, ...], sign: str) -> Iterator[PeerBlock]:
    """Every evaluation that a turn shows, oldest first."""
    word = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    heads = [
        *re.finditer(
            rf"^## [^\n]*?(?<![A-Za-z])([A-Z]{{1,6}})(?![A-Za-z])([^\n]*?)(?<![A-Za-z0-9_-])({word})(?![A-Za-z0-9_-])"
            rf"[^\n0-9]{{1,40}}([0-9.]+)/100[^\n0-9]{{1,40}}([0-9.]+)[^\n]*$",
            turn,
            re.MULTILINE,
        )
    ]
    for head, end in zip(heads, [*(head.start() for head in heads[1:]), len(turn)], strict=False):
        said, quotations = _read_block(turn[head.end() : end], sign)
        number = re.search(r"[0-9]+", head[2])
        at = int(number[0]) if number else 0
        yield PeerBlock(head[1], at, head[3], _number(head[4]), _number(head[5]), said, quotations)


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) else 0.0


def _read_block(text: str, sign: str) -> tuple[str, tuple[QuotedItem, ...]]:
    """The judged lines of a text: those under an entry that names an item are its quotation, the others are words."""
    said: list[str] = []
    quoted: list[tuple[int, list[str]]] = []
    lines = said
    for line in text.split("\n"):
        if line.startswith(f"{sign} "):
            lines.append(line)
        elif line.startswith("- ") and (found := NUMBER.search(line)):
            quoted.append((int(found[1]), lines := []))
        else:
            lines = said
    shown = (QuotedItem(item, unmark("\n".join(lines), sign)) for item, lines in quoted if lines)
    return unmark("\n".join(said), sign) if said else "", tuple(shown)


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
