"""The small errors of simulated jurors when they quote: models make them too, and the check finds them."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from jury_events.evidence import LONGEST_QUOTE
from jury_providers.simulated.citations import EvidenceEntry

_LOOSE, _ELSEWHERE, _PARAPHRASED = 0.08, 0.06, 0.06
"""The shares of quotations with other case or a cut sign, with the number of another item, and in other words."""

_SALT = b"6"
"""With this one the bundled examples have every kind of error, and most quotations without one."""


def misquoted(
    entries: Sequence[EvidenceEntry], drawn_by: str, items: Sequence[int], *, careful: bool
) -> Iterator[EvidenceEntry]:
    """The entries as a fallible juror writes them: most of them unchanged, at most one with a wrong number or words.

    Args:
        entries: as they stand in their items.
        drawn_by: decides, with each entry, what happens: the same always gives the same.
        items: the numbers of all items that are shown, in their order.
        careful: whether the juror was shown how its quotations were checked: then neither words nor numbers go wrong.
    """
    for entry in entries:
        written = _misquoted(entry, _chance(entry, drawn_by), items, careful=careful)
        careful = careful or written.item != entry.item or written.quote == entry.claim
        yield written


def _chance(entry: EvidenceEntry, drawn_by: str) -> float:
    key = f"{drawn_by}\0{entry.item}\0{entry.quote}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(key, digest_size=6, salt=_SALT).digest()) / 2**48


def _misquoted(entry: EvidenceEntry, chance: float, items: Sequence[int], *, careful: bool) -> EvidenceEntry:
    if chance < _LOOSE:
        return entry._replace(quote=_loosely(entry.quote))
    if careful:
        return entry
    if chance < _LOOSE + _ELSEWHERE:
        return entry._replace(item=_neighbour(entry.item, items))
    if chance < _LOOSE + _ELSEWHERE + _PARAPHRASED and entry.claim:
        return entry._replace(quote=entry.claim[:LONGEST_QUOTE])
    return entry


def _loosely(quote: str) -> str:
    """With the first letter in the other case; where it has none, as if cut off."""
    first = quote[0].swapcase()
    changed = first + quote[1:]
    if changed != quote and len(first) == 1:
        return changed
    return f"{quote[: LONGEST_QUOTE - 1]}…"


def _neighbour(item: int, items: Sequence[int]) -> int:
    """The shown item after this one, else the one before it; the item itself may be shown by a quotation only."""
    near = [*[number for number in items if number > item][:1], *[number for number in items if number < item][-1:]]
    return near[0] if near else item
