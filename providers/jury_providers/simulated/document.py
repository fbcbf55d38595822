"""Parses the judged part of a prompt: utterances by scenario and speaker, and the results of earlier checks.

Structure is read from unmarked lines and content from marked ones, so judged text cannot imitate a heading.
"""

from typing import NamedTuple

from jury_debate.marking import unmark
from jury_providers.simulated.prompt_patterns import PromptPatterns

MARK = "⟦0⟧"
LINE_MARK = "kk:"
"""They replace the debate's random marker, of words and of lines, so that results do not depend on it."""

OUTLINE = "outline"
"""The kind of lines that repeat the beginnings of items."""

MAX_CHARACTERS = 400_000
"""Of a longer case only the beginning and the end are read, half of this each."""


class Utterance(NamedTuple):
    """Consecutive lines of one speaker.

    `kind`: policy, user, expected, agent, thought, refusal, action, tool or error. `item`: the number of the item in
    which they stand, None where it is not known.
    """

    kind: str
    lines: tuple[str, ...]
    item: int | None = None


class CheckCounts(NamedTuple):
    """The records of one kind of earlier check; `failed` is None if the prompt does not contain it.

    `line` says how many passed; `item` is the number of the item in which it stands, None where it stands in none.
    """

    total: int
    failed: int | None
    line: str = ""
    item: int | None = None


class Document(NamedTuple):
    """A parsed case; `plain` is its whole text, for checking quotations.

    `unseen` counts the parts that the prompt reports as not shown (such as pictures). `items` are the numbers of its
    items, in their order.
    """

    scenarios: tuple[tuple[Utterance, ...], ...]
    gate: CheckCounts | None
    card: CheckCounts | None
    plain: str
    cut: bool
    unseen: int = 0
    items: tuple[int, ...] = ()


def read_document(text: str, patterns: PromptPatterns | None, mark: str = MARK, most: int = MAX_CHARACTERS) -> Document:
    """Parse a case; without patterns all of it counts as the agent's words.

    Args:
        text: the case part of a prompt.
        patterns: of the prompts that rendered it.
        mark: stands in place of the debate's marker.
        most: characters that are read; of a longer text the beginning and the end.
    """
    reader, prefix = _Reader(patterns, mark, most), f"{mark} "
    policy, text = _operator_policy(text, patterns)
    given = () if policy is None else (reader.operator_policy(policy),)
    for passage in reader.passages(text):
        # The item with which the end of a cut text begins is not known.
        reader.item = None
        for line in passage.split("\n"):
            if line.startswith(prefix):
                reader.content.append(line)
            elif line:
                reader.heading(line)
    reader.finish()
    scenarios = tuple(
        (*(() if any(one.kind == "policy" for one in utterances) else given), *utterances)
        for utterances in reader.scenarios
        if utterances
    )
    plain = "\n".join(line for utterances in scenarios for utterance in utterances for line in utterance.lines)
    return Document(
        scenarios,
        reader.checks("gate"),
        reader.checks("card"),
        plain,
        reader.cut,
        reader.unseen,
        tuple(dict.fromkeys(reader.items)),
    )


def _operator_policy(text: str, patterns: PromptPatterns | None) -> tuple[str | None, str]:
    """The operator's policy with its heading, which stands unmarked before the case (None: there is none), and the
    case."""
    if patterns is None or patterns.operator_policy is None or not text.startswith(f"{patterns.operator_policy}\n"):
        return None, text
    policy, heading, case = text.removeprefix(f"{patterns.operator_policy}\n").partition(f"\n\n{patterns.case}\n")
    return policy.lstrip("\n"), f"{heading.lstrip()}{case}"


class _Reader:
    """Reads the lines of a case; `content` collects the marked lines under the latest heading."""

    def __init__(self, patterns: PromptPatterns | None, mark: str, most: int = MAX_CHARACTERS) -> None:
        self._most = most
        self._patterns = patterns
        self._mark = mark
        self._kind = "agent"
        self._speaker = "agent"
        self._numbers: dict[str, int] = {}
        self._passed: dict[str, tuple[int, str, int | None]] = {}
        self._report = "gate"
        self.scenarios: list[list[Utterance]] = [[]]
        self.content: list[str] = []
        self.item: int | None = None
        self.items: list[int] = []
        self.unseen = 0
        self.cut = False

    def operator_policy(self, text: str) -> Utterance:
        """The policy below the heading of its item."""
        heading, _, policy = text.partition("\n")
        found = None if self._patterns is None else self._patterns.item.match(heading)
        if found is None:
            return Utterance("policy", tuple(self.bounded(text).split("\n")))
        self.items.append(int(found["number"]))
        return Utterance("policy", tuple(self.bounded(policy).split("\n")), self.items[-1])

    def bounded(self, text: str) -> str:
        """The text; if too long, its beginning, and its end from the next line start."""
        return "\n".join(self.passages(text))

    def passages(self, text: str) -> tuple[str, ...]:
        """The text; if too long, its beginning, and its end from the next line start."""
        if len(text) <= self._most:
            return (text,)
        self.cut = True
        half = self._most // 2
        tail = text[-half:]
        return text[:half], tail[tail.find("\n") + 1 if "\n" in tail else 0 :]

    def heading(self, line: str) -> None:
        """An unmarked line, which starts content of another kind."""
        self.finish()
        patterns = self._patterns
        if patterns is None:
            return
        head = patterns.heads.get(line)
        if head == "content" or (head == "tool_name" and self._speaker == "action"):
            self._kind = self._speaker
        elif head is not None:
            self._kind = head
        elif found := patterns.item.match(line):
            # An item without an author (an event) gets it from the next line; until then it is not a user's request.
            self._speaker = self._kind = patterns.speakers.get(found["what"], "tool")
            self.item = int(found["number"])
            self.items.append(self.item)
        elif author := patterns.authors.get(line):
            self._speaker = author
            self._kind = "file" if self._kind == "file" else author
        elif patterns.reading is not None and patterns.reading.outline.match(line):
            self._kind = OUTLINE
        elif patterns.scenario.match(line):
            if self.scenarios[-1]:
                self.scenarios.append([])
        else:
            self._count(line)

    def finish(self) -> None:
        """End the current utterance."""
        if not self.content:
            return
        # Bounded again: a mark may stand for a long run of one character.
        lines = tuple(self.bounded(unmark("\n".join(self.content), self._mark)).split("\n"))
        self.content = []
        if self._kind == "artifacts":
            for line in lines:
                self._count(line)
        elif self._kind == "file":
            assert self._patterns is not None
            self.unseen += sum(self._patterns.unseen.match(line) is not None for line in lines)
        elif self._kind not in {"name", "tool_name", OUTLINE}:
            self.scenarios[-1].append(Utterance(self._kind, lines, self.item))

    def _count(self, line: str) -> None:
        patterns = self._patterns
        if patterns is None:
            return
        for report, totals in (("gate", patterns.gate_total), ("card", patterns.card_total)):
            for total in totals:
                if found := total.match(line):
                    self._report = report
                    self._numbers.setdefault(report, int(found["total"]))
                    return
        if found := patterns.pass_rate.match(line):
            self._passed.setdefault(self._report, (int(found["passed"]), line, self.item))

    def checks(self, report: str) -> CheckCounts | None:
        """The counts of one report; None if the prompt has none."""
        total = self._numbers.get(report)
        if total is None:
            return None
        if not total or report not in self._passed:
            return CheckCounts(total, None if total else 0)
        passed, line, item = self._passed[report]
        return CheckCounts(total, max(0, total - passed), line, item)
