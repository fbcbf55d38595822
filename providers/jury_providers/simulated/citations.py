"""The evidence of an answer: what a simulated juror quotes, from which item, and where it says that it went wrong."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from jury_debate.marking import unmark
from jury_events.evidence import MOST_ENTRIES
from jury_events.verdict import Verdict
from jury_providers.simulated.excerpts import opening
from jury_providers.simulated.findings import Finding
from jury_providers.simulated.prompt import PeerBlock
from jury_providers.simulated.signals import vocabulary

_GRAVE = 0.5
"""The share of the gravest finding's weight from which on a finding may name the decisive item."""


class CitedItem(NamedTuple):
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
) -> list[CitedItem]:
    """The quotations of findings.

    Args:
        findings: each with its sentence.
        favourable: whether they speak for the agent.
        dimensions: of the rubric.
    """
    names = frozenset(dimensions)
    says = "for" if favourable else "against"
    return [
        CitedItem(
            citation.item,
            citation.quote,
            "context" if citation.context else says,
            next((name for name in vocabulary().criteria[finding.name] if name in names), None),
            claim=claim,
        )
        for finding, claim in findings
        for citation in finding.cited
    ]


def distinct(entries: Iterable[CitedItem]) -> tuple[CitedItem, ...]:
    """The entries that an answer may have: each place once, and no more than are taken."""
    by_place: dict[tuple[int, str, str | None], CitedItem] = {}
    for entry in entries:
        by_place.setdefault((entry.item, entry.quote, entry.seat), entry)
    return tuple(by_place.values())[:MOST_ENTRIES]


def taken_over(peer: PeerBlock, quote: str) -> tuple[CitedItem, ...]:
    """The quotation of a juror with which it convinced, where it stands; () where the juror gave none."""
    found = [one for one in peer.evidence.quotations if one.found is not None and one.seat is None]
    against = [one for one in found if one.says == "against"]
    taken = next((one for one in found if quote in one.quote), next(iter(against), None))
    return () if taken is None or taken.found is None else (CitedItem(taken.found, taken.quote, taken.says),)


def quoted_peer(peer: PeerBlock, item: int, mark: str) -> tuple[CitedItem, ...]:
    """The beginning of what a juror said last, as an entry about an item; () where nothing can be quoted."""
    said = [line for line in peer.said.split("\n") if line.startswith(f"{mark} ")]
    quote = opening(unmark(said[0], mark)) if said else ""
    says = "for" if peer.verdict == Verdict.SAFE_PASS.value else "against"
    return (CitedItem(item, quote, says, seat=peer.letter),) if quote else ()


def decisive_item(findings: Sequence[Finding], weights: Sequence[float]) -> int | None:
    """The first item with one of the graver findings; None where no item shows one.

    Args:
        findings: that speak against the agent.
        weights: of the findings.
    """
    least = _GRAVE * max(weights, default=0.0)
    places = (finding.place for finding, one in zip(findings, weights, strict=True) if one >= least)
    return min((place for place in places if place is not None), default=None)
