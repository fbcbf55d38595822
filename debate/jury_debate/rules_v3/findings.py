"""What a juror found in the parts of a record, as its closing call is shown it.

Laws. What is shown has a bound. Where there is more, the first findings of every part come before the second ones of
any, and findings against the agent whose quotations stand where they say before all others: no part can push out
another. A part of which a finding against the agent is not shown does not count as read.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from jury_debate.prompt_texts import fill
from jury_debate.prompts_v2.prompts import PromptsV2
from jury_debate.step_outcome import CheckedQuotations, GivenFinding


class CheckedFinding(NamedTuple):
    """A finding of a part, with its quotations checked; None where none are asked for."""

    label: str
    finding: GivenFinding
    checked: CheckedQuotations | None

    @property
    def rank(self) -> int:
        """0: it speaks against the agent, and a quotation bears that out; 1: it may speak against it; 2: another."""
        if self.checked is None:
            return 1
        against = [entry for entry in self.checked.entries if entry.says == "against"]
        if any(entry.supports for entry in against):
            return 0
        return 1 if against or not self.checked.entries else 2


class ShownFindings(NamedTuple):
    """The text with the findings; how many are not in it, and the labels of the parts that do not count as read."""

    text: str
    left_out: int
    unread: frozenset[str]


class FindingTexts(NamedTuple):
    """How findings are written: the prompts, the panel's seats, and what marks judged text."""

    prompts: PromptsV2
    juror_ids: tuple[str, ...]
    mark: Callable[[str], str]

    def written(self, one: CheckedFinding) -> str:
        """A finding under its part and its criterion, with the results of the checks of its quotations."""
        texts = self.prompts.texts.reading
        criterion = one.finding.criterion or texts.no_criterion
        lines = [fill(texts.finding, part=one.label, criterion=criterion), self.mark(one.finding.text)]
        if one.checked is not None:
            for quote, entry in zip(one.checked.quotes, one.checked.entries, strict=True):
                lines += [self.prompts.entry_line(entry, self.juror_ids), self.mark(quote)]
        return "\n".join(lines)


def batches(written: Sequence[str], most: int) -> list[list[int]]:
    """The places of findings in groups of at most `most` bytes, in order; one that is longer is a group of its own."""
    groups: list[list[int]] = []
    left = 0
    for place, text in enumerate(written):
        size = len(text.encode()) + 1
        if not groups or size > left:
            groups.append([])
            left = most
        groups[-1].append(place)
        left -= size
    return groups


def shown_findings(findings: Sequence[CheckedFinding], texts: FindingTexts, most: int) -> ShownFindings:
    """The findings that there is room for, in the order of the parts.

    Args:
        findings: of all parts, in their order.
        texts: how they are written.
        most: bytes.
    """
    written = list(map(texts.written, findings))
    before: Counter[tuple[str, int]] = Counter()
    order: list[tuple[int, int, int]] = []
    for place, one in enumerate(findings):
        order.append((one.rank, before[one.label, one.rank], place))
        before[one.label, one.rank] += 1
    size, kept = 0, set[int]()
    for _, _, place in sorted(order):
        size += len(written[place].encode()) + 1
        if size > most:
            break
        kept.add(place)
    words = texts.prompts.texts.reading
    lines = [words.findings, *(written[place] for place in sorted(kept))]
    if not findings:
        lines.append(words.no_findings)
    left_out = len(findings) - len(kept)
    if left_out:
        lines.append(fill(words.left_out, count=left_out))
    unread = frozenset(one.label for place, one in enumerate(findings) if place not in kept and one.rank < 2)  # noqa: PLR2004
    return ShownFindings("\n".join(lines), left_out, unread)
