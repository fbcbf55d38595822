"""Cases drawn at random for reviewers: the draw, and what is on record of draws from the same cases.

A draw follows from its seed and the cases, so that a recorded one can be drawn again and compared.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jury_events.review_events import ReviewSample
from jury_events.verdict import REVIEW, Verdict
from jury_judge.errors import ReviewRefused
from jury_judge.store_access.debates import listed_rows
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter
from jury_store.event_store import EventStore


class DrawableCase(NamedTuple):
    """A case of finished debates: the first debate by its id, the jury's verdict there, and the cluster."""

    debate_id: str
    verdict: Verdict
    cluster: str


class DrawnSample(NamedTuple):
    """A random sample of cases: `debates`, one a case, in the order in which they were drawn."""

    drawn: ReviewSample
    debates: tuple[str, ...]


class DrawnStratum(NamedTuple):
    """Cases that were drawn from together, and those that were drawn; `verdict`: of the jury, None: of any."""

    verdict: Verdict | None
    cases: frozenset[str]
    drawn: frozenset[str]


class RecordedDraw(NamedTuple):
    """What was drawn from the cases, by all draws that are on record.

    `earlier`: sizes of draws from all cases after which more was drawn. `others`: recorded draws from other cases,
    such as those that were finished by then.
    """

    strata: tuple[DrawnStratum, ...]
    earlier: tuple[int, ...]
    others: int


def drawable_cases(store: EventStore, wanted: DebateFilter = EVERY_DEBATE) -> dict[str, DrawableCase]:
    """The cases that can be drawn, by id. A debate without a verdict counts as one that asks for people."""
    found: dict[str, DrawableCase] = {}
    for batch in store.ballots(wanted):  # a tenth of the time of whole rows
        for one in batch:
            verdict = REVIEW if one.final_verdict is None else Verdict(one.final_verdict)
            found.setdefault(one.case_id, DrawableCase(one.debate_id, verdict, one.cluster))
    return found


def draw_sample(store: EventStore, size: int, seed: int, wanted: DebateFilter = EVERY_DEBATE) -> DrawnSample:
    """A random sample of the cases of finished debates, whatever the jury said of them.

    Of each case it is the debate with the first id. Cases are ranked by SHA-256 of seed and case id, and the first
    `size` are taken: a larger sample of the same seed contains the smaller one, and the same cases are drawn from
    another run of them.
    """
    cases = drawable_cases(store, wanted)
    _check_size(size, len(cases))
    return _drawn(cases, cases, size, seed, None)


def draw_by_verdict(
    store: EventStore, size: int, seed: int, wanted: DebateFilter = EVERY_DEBATE
) -> tuple[DrawnSample, ...]:
    """A random sample of the cases of each verdict of the jury, as many of each as there are; arguments as of
    `draw_sample`.
    """
    cases = drawable_cases(store, wanted)
    _check_size(size, len(cases))
    groups = sorted(_by_verdict(cases).items(), key=lambda one: len(one[1]))
    if size < len(groups):
        raise ReviewRefused(f"a sample of {size} has no case of some of the {len(groups)} verdicts: draw more")
    drawn, left = [], size
    for place, (verdict, group) in enumerate(groups):  # the smallest first: what it lacks goes to the others
        number = min(len(group), left // (len(groups) - place))
        drawn.append(_drawn(cases, group, number, seed, verdict))
        left -= number
    return tuple(drawn)


def recorded_draw(store: EventStore, wanted: DebateFilter = EVERY_DEBATE) -> RecordedDraw | None:
    """What was drawn from these cases; None: nothing.

    A draw counts if it would be the same now: the same number of cases to draw from, and the same of them drawn. Its
    cases are drawn, whether their assignments still stand or not.
    """
    recorded = _recorded(store, wanted)
    if not recorded:
        return None
    cases = drawable_cases(store, wanted)
    named = {one.debate_id: case for case, one in cases.items()}
    groups: Mapping[Verdict | None, Sequence[str]] = {None: list(cases), **_by_verdict(cases)}
    drawn: dict[Verdict | None, set[str]] = defaultdict(set)
    sizes: dict[int, set[int]] = defaultdict(set)
    others = 0
    for sample, debates in recorded.items():
        group = groups.get(sample.verdict, ())
        ranked = _ranked(group, sample.seed)[: sample.size]
        if len(group) != sample.population or not {named.get(one) for one in debates} <= {*ranked}:
            others += 1
            continue
        drawn[sample.verdict].update(ranked)
        if sample.verdict is None:
            sizes[sample.seed].add(sample.size)
    if not drawn:
        return None
    by_verdict = any(verdict is not None for verdict in drawn)
    # Of draws with several seeds, or also by verdict, nothing says which came first.
    everything = [size for found in sizes.values() for size in found]
    earlier = everything if by_verdict or len(sizes) > 1 else sorted(everything)[:-1]
    every = {one for found in drawn.values() for one in found}
    kinds = [verdict for verdict in groups if (verdict is not None) == by_verdict]
    strata = (DrawnStratum(kind, frozenset(groups[kind]), frozenset(groups[kind]) & every) for kind in kinds)
    return RecordedDraw(tuple(strata), tuple(sorted(earlier)), others)


def digest(text: str) -> bytes:
    """By which cases are put into an order that does not follow from anything else."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _drawn(
    cases: Mapping[str, DrawableCase], group: Iterable[str], size: int, seed: int, verdict: Verdict | None
) -> DrawnSample:
    ranked = _ranked(group, seed)
    sample = ReviewSample(seed=seed, size=size, population=len(ranked), verdict=verdict)
    return DrawnSample(sample, tuple(cases[case].debate_id for case in ranked[:size]))


def _ranked(cases: Iterable[str], seed: int) -> list[str]:
    return sorted(cases, key=lambda case: digest(f"{seed}\0{case}"))


def _by_verdict(cases: Mapping[str, DrawableCase]) -> dict[Verdict | None, list[str]]:
    groups: dict[Verdict | None, list[str]] = defaultdict(list)
    for case, one in cases.items():
        groups[one.verdict].append(case)
    return dict(sorted(groups.items(), key=lambda one: str(one[0])))


def _recorded(store: EventStore, wanted: DebateFilter) -> dict[ReviewSample, set[str]]:
    """The debates of each sample, of those that people are asked for; not of assignments that anyone may have made."""
    found: dict[ReviewSample, set[str]] = defaultdict(set)
    for row in listed_rows(store, wanted._replace(may_need_review=True)):
        for one in row.assignments:
            if (sample := one.sample) is not None and not one.foreign:
                found[sample].add(row.debate_id)
    return found


def _check_size(size: int, cases: int) -> None:
    if size > cases:
        raise ReviewRefused(
            f"a sample of {size} cannot be drawn: {cases} cases have a finished debate under these conditions"
        )
