"""The evidence of an answer: what a simulated juror quotes, from which item, and where it says that it went wrong."""

from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

from jury_debate.marking import unmark
from jury_events.evidence import MOST_ENTRIES
from jury_providers.simulated.excerpts import opening, sentences
from jury_providers.simulated.findings import Finding
from jury_providers.simulated.prompt import PeerBlock
from jury_providers.simulated.signals import vocabulary

_GRAVE = 0.5
"""The share of the gravest finding's weight from which on a finding may name the decisive item."""


class EvidenceEntry(NamedTuple):
    """One entry of evidence, as in an answer. `claim`: the finding that it is to show, in the juror's words."""

    item: int
    quote: str
    says: str
    criterion: str | None = None
    seat: str | None = None
    claim: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The entry's JSON object."""
        fields = self._asdict()
        del fields["claim"]
        return fields


def cited_entries(
    findings: Iterable[tuple[Finding, str]], *, favourable: bool, dimensions: Iterable[str]
) -> list[EvidenceEntry]:
    """The quotations of findings.

    Args:
        findings: each with its sentence.
        favourable: whether they speak for the agent.
        dimensions: of the rubric.
    """
    names = frozenset(dimensions)
    says = "for" if favourable else "against"
    return [
        EvidenceEntry(
            citation.item,
            citation.quote,
            "context" if citation.context else says,
            next((name for name in vocabulary().criteria[finding.name] if name in names), None),
            claim=claim,
        )
        for finding, claim in findings
        for citation in finding.cited
    ]


def distinct(entries: Iterable[EvidenceEntry]) -> tuple[EvidenceEntry, ...]:
    """The entries that an answer may have: each place once, and no more than are taken."""
    by_place: dict[tuple[int, str, str | None], EvidenceEntry] = {}
    for entry in entries:
        by_place.setdefault((entry.item, entry.quote, entry.seat), entry)
    return tuple(by_place.values())[:MOST_ENTRIES]


def taken_over(peer: PeerBlock, quote: str) -> tuple[EvidenceEntry, ...]:
    """The quotation of a juror with which it convinced, where it stands; () where the juror gave none."""
    found = [one for one in peer.evidence.quotations if one.found is not None and one.seat is None]
    against = [one for one in found if one.says == "against"]
    same = (one for one in found if quote in one.quote or one.quote in quote)
    taken = next(same, next(iter(against), None))
    return () if taken is None or taken.found is None else (EvidenceEntry(taken.found, taken.quote, taken.says),)


def quoted_peer(
    peer: PeerBlock, about: str, items: Sequence[int], mark: str, *, favourable: bool
) -> tuple[EvidenceEntry, ...]:
    """A sentence of the reasons that a juror gave last, and the item that it is about; () where there is none.

    Args:
        peer: the juror.
        about: a quotation of the record; the sentence that repeats it is chosen, else the first.
        items: the numbers of all items.
        mark: begins the lines of judged text.
        favourable: whether the juror's verdict is.
    """
    lines, prefix = ["", *peer.said.split("\n")], f"{mark} "
    begins = [at for at, (before, line) in enumerate(pairwise(lines), 1) if _opens(before, line, prefix)]
    reasons = list(takewhile(lambda line: line.startswith(prefix), lines[begins[-1] :])) if begins else []
    said = [sentence for line in reasons for sentence in sentences(unmark(line, mark))]
    quote = opening(next((one for one in said if about and about in one), next(iter(said), "")))
    found = [one for one in peer.evidence.quotations if one.found is not None and about and about in one.quote]
    item = found[0].found if found else peer.evidence.decisive_item or next(iter(items), None)
    says = "for" if favourable else "against"
    return (EvidenceEntry(item, quote, says, seat=peer.letter),) if quote and item is not None else ()


def _opens(before: str, line: str, prefix: str) -> bool:
    return line.startswith(prefix) and not before.startswith(prefix)


def decisive_item(findings: Sequence[Finding], weights: Sequence[float]) -> int | None:
    """The first item with one of the graver findings; None where no item shows one.

    Args:
        findings: that speak against the agent.
        weights: of the findings.
    """
    placed = [(finding.place, one) for finding, one in zip(findings, weights, strict=True) if finding.place is not None]
    least = _GRAVE * max((one for _, one in placed), default=0.0)
    return min((place for place, one in placed if one >= least), default=None)
