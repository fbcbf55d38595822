"""Whether two ids that are to be compared are debates or runs."""

from typing import Literal, get_args

from jury_events.ids import debate_stream
from jury_events.text import visible_line
from jury_judge.errors import NotComparable
from jury_store.event_store import EventStore

Kind = Literal["debates", "runs"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def kind_of(store: EventStore, a: str, b: str, wanted: Kind | None = None) -> Kind:
    """Whether both are debates or runs.

    Raises:
        NotComparable: one is neither, or both kinds fit and none is `wanted`, or they are of different kinds.
    """
    kinds: list[set[Kind]] = []
    for one in (a, b):
        found: set[Kind] = {name for name, there in zip(KINDS, _there(store, one), strict=True) if there}
        if not found:
            raise NotComparable(
                f"{visible_line(one)!r} is neither a debate nor a run of this store; `jury list` shows its debates, "
                "`jury list --runs` its runs"
            )
        if wanted is not None and wanted not in found:
            raise NotComparable(f"{one} is no {wanted.removesuffix('s')}, but a {found.pop().removesuffix('s')}")
        kinds.append(found if wanted is None else {wanted})
    both = kinds[0] & kinds[1]
    if not both:
        of_a, of_b = (found.pop().removesuffix("s") for found in kinds)
        raise NotComparable(f"{a} is a {of_a} and {b} is a {of_b}; name two debates, or two runs")
    if len(both) > 1:
        raise NotComparable(f"{a} and {b} are debates and runs; say which with --kind debates or --kind runs")
    return both.pop()


def _there(store: EventStore, name: str) -> tuple[bool, bool]:
    # No store can be asked for an id with such a character, and none has one.
    if not name.isprintable():
        return False, False
    return bool(store.heads([debate_stream(name)])), bool(store.debates(run_id=name, limit=1))
