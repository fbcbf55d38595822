"""The small errors of simulated jurors when they quote: models make them too, and the check finds them."""

from collections.abc import Sequence
from hashlib import blake2b

from jury_events.evidence import LONGEST_QUOTE
from jury_providers.simulated.citations import CitedItem

_LOOSE, _ELSEWHERE, _PARAPHRASED = 0.1, 0.06, 0.06
"""The shares of quotations with other case or a cut sign, with the number of another item, and in other words."""


def misquoted(entry: CitedItem, drawn_by: str, items: Sequence[int], *, careful: bool) -> CitedItem:
    """The entry as a fallible juror writes it: most of the time unchanged.

    Args:
        entry: as it stands in its item.
        drawn_by: decides, with the entry, what happens: the same always gives the same.
        items: the numbers of all items.
        careful: whether the juror knows that a quotation of it failed: then neither words nor numbers go wrong.
    """
    drawn = blake2b(f"{drawn_by}\0{entry.item}\0{entry.quote}".encode("utf-8", "surrogatepass"), digest_size=6)
    chance = int.from_bytes(drawn.digest()) / 2**48
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
    return changed if changed != quote and len(first) == 1 else f"{quote}…"


def _neighbour(item: int, items: Sequence[int]) -> int:
    """The item after this one, else the one before it."""
    place = items.index(item)
    near = [*items[place + 1 : place + 2], *items[:place][-1:]]
    return near[0] if near else item
