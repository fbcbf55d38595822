"""What a juror found in the parts of a record: the strict parser, and what its closing call is shown of them.

The form of these answers has no verdict. Laws. What is shown has a bound. Where there is more, the first findings of
every part come before the second ones of any, and findings against the agent whose quotations stand where they say
before all others: no part can push out another. A part of which a finding against the agent is not shown does not
count as read."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jury_debate.assignment import AnswerSpec
from jury_debate.prompts_1.prompts import Prompts
from jury_debate.prompts_1.texts import (
    LONGEST_FINDING,
    MOST_DECISIVE,
    MOST_FINDING_ENTRIES,
    MOST_FINDINGS,
    MOST_WANTED,
    fill,
)
from jury_debate.rules_1.answers import (
    AnswerRefusal,
    Refused,
    check_ballot,
    check_fields,
    closed,
    criterion_of,
    criterion_schema,
    entry_of,
    entry_schema,
    item_of,
    one_object,
    refuse,
    shows_ballot,
    string,
    typed,
)
from jury_debate.step_outcome import CheckedQuotations, GivenFinding, ParsedFindings
from jury_events.evidence import MOST_ITEM
from jury_events.outcome import RefusalReason
from jury_events.rubric import Rubric
from jury_events.strict_json import InvalidJson
from jury_events.text import is_blank

FIELDS = ("ballot", "findings", "decisive", "wanted")


def parse_findings(raw: bytes, spec: AnswerSpec) -> ParsedFindings | AnswerRefusal:
    """Parse `raw`, the answer as received; raises nothing, whatever the bytes."""
    try:
        members = one_object(raw)
        check_fields(members, list(FIELDS), "")
        check_ballot(members, spec)
        findings = _list(members["findings"], "findings", MOST_FINDINGS)
        return ParsedFindings(
            tuple(_finding(one, f"findings[{index}]", spec) for index, one in enumerate(findings)),
            _items(members["decisive"], "decisive", MOST_DECISIVE),
            _items(members["wanted"], "wanted", MOST_WANTED),
        )
    except (Refused, InvalidJson) as error:
        return AnswerRefusal(error.reason, str(error))


def _finding(value: Any, where: str, spec: AnswerSpec) -> GivenFinding:
    typed(value, where, dict, "an object")
    check_fields(value, ["criterion", "text", *(["evidence"] if spec.evidence is not None else [])], where)
    text = string(value["text"], f"{where}.text")
    if len(text) > LONGEST_FINDING:
        refuse(RefusalReason.TOO_LONG, f"{where}.text: {len(text)} characters; at most {LONGEST_FINDING} are taken")
    if is_blank(text):
        refuse(RefusalReason.EMPTY_TEXT, f"{where}.text: says nothing")
    if shows_ballot(text, spec.ballot):
        refuse(
            RefusalReason.BALLOT_SHOWN, f"{where}.text: holds the ballot id, which stands in ballot and nowhere else"
        )
    entries = _list(value["evidence"], f"{where}.evidence", MOST_FINDING_ENTRIES) if "evidence" in value else []
    return GivenFinding(
        criterion_of(value["criterion"], f"{where}.criterion", spec),
        text,
        tuple(entry_of(entry, f"{where}.evidence[{index}]", spec) for index, entry in enumerate(entries)),
    )


def _items(value: Any, where: str, most: int) -> tuple[int, ...]:
    return tuple(
        dict.fromkeys(item_of(one, f"{where}[{index}]") for index, one in enumerate(_list(value, where, most)))
    )


def _list(value: Any, where: str, most: int) -> list[Any]:
    typed(value, where, list, "an array")
    if len(value) > most:
        refuse(RefusalReason.TOO_LONG, f"{where}: {len(value)} entries; at most {most} are taken")
    return list(value)


def findings_schema(rubric: Rubric, *, evidence: bool) -> dict[str, Any]:
    """The JSON schema of what is found in a part; the parser is stricter still.

    Args:
        evidence: whether quotations are asked for.
    """
    fields: dict[str, Any] = {
        "criterion": criterion_schema(rubric),
        "text": {"type": "string", "maxLength": LONGEST_FINDING},
    }
    if evidence:
        fields["evidence"] = {"type": "array", "items": entry_schema(rubric), "maxItems": MOST_FINDING_ENTRIES}
    item = {"type": "integer", "minimum": 1, "maximum": MOST_ITEM}
    return closed(
        {
            "ballot": {"type": "string"},
            "findings": {"type": "array", "items": closed(fields), "maxItems": MOST_FINDINGS},
            "decisive": {"type": "array", "items": item, "maxItems": MOST_DECISIVE},
            "wanted": {"type": "array", "items": item, "maxItems": MOST_WANTED},
        }
    )


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

    prompts: Prompts
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
