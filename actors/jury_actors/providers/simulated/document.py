"""The judged part of a prompt taken apart: who said what, scenario by scenario, and what the earlier checks found.

Structure is read from unmarked lines only and content from marked ones, so judged text can't pass for a heading.
"""

from typing import NamedTuple

from jury_actors.providers.simulated.wording import Wording
from jury_debate.datamark import unmark

MARK = "⟦0⟧"
"""Stands for the debate's own marker, so that nothing depends on which one was drawn."""

MAX_CHARACTERS = 400_000
"""Of a longer case the beginning and the end are read, half of this each."""

_PREFIX = f"{MARK} "


class Passage(NamedTuple):
    """What one speaker said in one place.

    `kind`: policy, user, expected, agent, thought, refusal, action, tool or error.
    """

    kind: str
    lines: tuple[str, ...]


class Checks(NamedTuple):
    """The records of one kind of earlier check; `failed` is None where the prompt does not tell."""

    total: int
    failed: int | None


class Document(NamedTuple):
    """A case as read; `plain` is all its text, for looking up quotations.

    `unseen` counts what the prompt says is not shown (pictures, say).
    """

    scenarios: tuple[tuple[Passage, ...], ...]
    gate: Checks | None
    card: Checks | None
    plain: str
    cut: bool
    unseen: int = 0


def read_document(text: str, wording: Wording | None) -> Document:
    """Take a case apart; without a known wording all of it is what the agent said.

    Args:
        text: the case part of a prompt with `MARK` in place of the debate's marker.
        wording: the prompts that it was written with.
    """
    reader = _Reader(wording)
    for line in reader.bounded(text).split("\n"):
        if line.startswith(_PREFIX):
            reader.content.append(line)
        elif line:
            reader.heading(line)
    reader.finish()
    scenarios = tuple(tuple(passages) for passages in reader.scenarios if passages)
    plain = "\n".join(line for passages in scenarios for passage in passages for line in passage.lines)
    return Document(scenarios, reader.checks("gate"), reader.checks("card"), plain, reader.cut, reader.unseen)


class _Reader:
    """Walks the lines of a case; `content` gathers the marked lines under the latest heading."""

    def __init__(self, wording: Wording | None) -> None:
        self._wording = wording
        self._kind = "agent"
        self._speaker = "agent"
        self._numbers: dict[str, int] = {}
        self._passed: dict[str, int] = {}
        self._report = "gate"
        self.scenarios: list[list[Passage]] = [[]]
        self.content: list[str] = []
        self.unseen = 0
        self.cut = False

    def bounded(self, text: str) -> str:
        """The text, or its beginning and its end from a whole line on."""
        if len(text) <= MAX_CHARACTERS:
            return text
        self.cut = True
        half = MAX_CHARACTERS // 2
        tail = text[-half:]
        return text[:half] + "\n" + tail[tail.find("\n") + 1 if "\n" in tail else 0 :]

    def heading(self, line: str) -> None:
        """An unmarked line: what follows it is of another kind."""
        self.finish()
        wording = self._wording
        if wording is None:
            return
        head = wording.heads.get(line)
        if head == "content" or (head == "tool_name" and self._speaker == "action"):
            self._kind = self._speaker
        elif head is not None:
            self._kind = head
        elif found := wording.item.match(line):
            # What has no author of its own (an event) gets one from the line below; until then it is no one's request.
            self._speaker = self._kind = wording.speakers.get(found["what"], "tool")
        elif author := wording.authors.get(line):
            self._speaker = author
            self._kind = "file" if self._kind == "file" else author
        elif wording.scenario.match(line):
            if self.scenarios[-1]:
                self.scenarios.append([])
        else:
            self._count(line)

    def finish(self) -> None:
        """Close the running passage."""
        if not self.content:
            return
        # Bounded again: what is marked may count a long run of one character.
        lines = tuple(self.bounded(unmark("\n".join(self.content), MARK)).split("\n"))
        self.content = []
        if self._kind == "artifacts":
            for line in lines:
                self._count(line)
        elif self._kind == "file":
            assert self._wording is not None
            self.unseen += sum(self._wording.unseen.match(line) is not None for line in lines)
        elif self._kind not in {"name", "tool_name"}:
            self.scenarios[-1].append(Passage(self._kind, lines))

    def _count(self, line: str) -> None:
        wording = self._wording
        if wording is None:
            return
        for report, totals in (("gate", wording.gate_total), ("card", wording.card_total)):
            for total in totals:
                if found := total.match(line):
                    self._report = report
                    self._numbers.setdefault(report, int(found["total"]))
                    return
        if found := wording.pass_rate.match(line):
            self._passed.setdefault(self._report, int(found["passed"]))

    def checks(self, report: str) -> Checks | None:
        """What was found of one report; None where the prompt has none."""
        total = self._numbers.get(report)
        if total is None:
            return None
        passed = self._passed.get(report)
        return Checks(total, 0 if not total else None if passed is None else max(0, total - passed))
