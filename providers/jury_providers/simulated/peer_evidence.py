"""Reads what a prompt shows of a juror's quotations: the juror's entries, and what their check found."""

from typing import NamedTuple

from jury_debate.marking import unmark
from jury_events.evidence import LONGEST_QUOTE, Evidence
from jury_providers.simulated.prompt_patterns import EvidencePatterns


class PeerQuotation(NamedTuple):
    """A quotation of a juror. `item`: the one that the juror names; `found`: the one in which it stands, None for none.

    `result` is the name of the check's result; `seat` the letter of a juror that is quoted.
    """

    item: int
    says: str
    result: str
    found: int | None
    quote: str
    seat: str | None = None

    @property
    def supports(self) -> bool:
        """Whether it stands where the juror says."""
        return self.result in Evidence.SUPPORTING


class PeerEvidence(NamedTuple):
    """The quotations of one evaluation, and the item that it calls decisive."""

    quotations: tuple[PeerQuotation, ...] = ()
    decisive_item: int | None = None


def split_evidence(block: str, patterns: EvidencePatterns | None, mark: str) -> tuple[str, PeerEvidence]:
    """What a juror said, and its evidence.

    Args:
        block: of one evaluation, below its heading.
        patterns: of the prompts that rendered it; None for prompts without evidence.
        mark: begins the lines of judged text, which therefore cannot imitate an entry.
    """
    if patterns is None:
        return block, PeerEvidence()
    lines = block.split("\n")
    start = next((at for at, line in enumerate(lines) if _begins(line, patterns)), None)
    if start is None:
        return block, PeerEvidence()
    quotations, decisive = list[PeerQuotation](), None
    for at, line in enumerate(lines[start:], start=start):
        if (found := patterns.decisive.match(line)) is not None:
            decisive = int(found["item"])
        elif (entry := _entry(line, patterns)) is not None:
            quotations.append(entry._replace(quote=_quote(lines[at + 1 : at + 1 + LONGEST_QUOTE], mark)))
    return "\n".join([*lines[:start], ""]), PeerEvidence(tuple(quotations), decisive)


def _begins(line: str, patterns: EvidencePatterns) -> bool:
    return line == patterns.heading or patterns.decisive.match(line) is not None


def _entry(line: str, patterns: EvidencePatterns) -> PeerQuotation | None:
    """An entry without its quotation; None for a line that is none."""
    found = patterns.entry.match(line)
    if found is None:
        return None
    place = patterns.item.match(found["place"]) or patterns.seat.match(found["place"])
    says = patterns.says.get(found["says"])
    for result, pattern in patterns.results:
        if place is not None and says is not None and (checked := pattern.match(found["result"])) is not None:
            number = int(place["item"])
            stands = None if result == "not_found" else int(checked["item"]) if result == "elsewhere" else number
            return PeerQuotation(number, says, result, stands, "", place.groupdict().get("letter"))
    return None


def _quote(lines: list[str], mark: str) -> str:
    """The marked lines at the beginning."""
    prefix = f"{mark} "
    end = next((at for at, line in enumerate(lines) if not line.startswith(prefix)), len(lines))
    return unmark("\n".join(lines[:end]), mark) if end else ""
