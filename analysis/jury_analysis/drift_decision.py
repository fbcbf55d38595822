"""What a check of a baseline came to: a pure function of what was recorded before it and of its votes."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from jury_analysis.drift import COINS, OF_A_STREAM, SILENT, Array, DriftWatch, Judgings, is_of_the_agent, tosses
from jury_events.drift_events import (
    ChangedAnchor,
    ChangedFact,
    CoinFigures,
    DriftDecision,
    DriftOpened,
    DriftVerdict,
    SeatAnswers,
    WatchedFigures,
)
from jury_events.drift_facts import DriftCheck
from jury_events.verdict import FAIL, PASS, REVIEW

JURY, STREAM = "jury", "stream"
_OUTCOME = {"p": 0, "r": 1, "f": 2, "-": SILENT}
_ORDER = (PASS, REVIEW, FAIL)
_MOST = 1e300


def seat_name(juror_id: str) -> str:
    """The name of a seat among what is watched."""
    return f"seat/{juror_id}"


class DriftDecider:
    """Decides the checks of one baseline, in their order.

    The jury is an alarm at 1/α. Each of the seats, by its first votes, at m/α, where m counts the seats and the jury.
    """

    def __init__(self, opened: DriftOpened) -> None:
        self._opened = opened
        coins = COINS if opened.used > 1 and opened.tossed == "pair" else tuple(one for one in COINS if one != "odd")
        bound, seats = 1 / opened.alpha, opened.seats
        self.watched = {
            JURY: DriftWatch(bound, coins),
            **{seat_name(seat.juror_id): DriftWatch((len(seats) + 1) * bound, coins) for seat in seats},
        }
        if opened.stream is not None:
            self.watched[STREAM] = DriftWatch(bound, OF_A_STREAM)
        self._labels = [_ORDER.index(anchor.label) for anchor in opened.anchors]

    def decide(
        self,
        baseline: Sequence[Sequence[SeatAnswers]],
        check: DriftCheck,
        votes: Sequence[str],
        stream_votes: Sequence[str],
        answered: Sequence[SeatAnswers],
    ) -> DriftDecision:
        """The decision of the next check that ended.

        Args:
            check: its pairs and the draws that they use up.
            votes: of its pairs, as of `CheckEnded`, as are the others.
        """
        for place, watch in enumerate(self.watched.values()):
            found = _of_stream(stream_votes) if place > len(self._opened.seats) else self._judged(check, votes, place)
            watch.add(tosses(found, watch.coins, by_check=self._opened.tossed == "check"))
        changed = tuple(changed_facts(baseline, answered))
        return DriftDecision(
            verdict=self._verdict(changed),
            facts=changed,
            watched=tuple(_figures(name, watch) for name, watch in self.watched.items()),
            anchors=tuple(self._changed_anchors(check, votes)),
        )

    def _judged(self, check: DriftCheck, votes: Sequence[str], place: int) -> Judgings:
        return Judgings(
            _outcomes(draws[0][place] for draws in check.draws),
            _outcomes(new[place] for new in votes),
            np.array([self._labels[pair.anchor] for pair in check.opened.pairs], int),
            _outcomes(draws[1][place] if len(draws) > 1 else "-" for draws in check.draws),
        )

    def _verdict(self, changed: Sequence[ChangedFact]) -> DriftVerdict:
        stream = self.watched.get(STREAM)
        judges = (watch for name, watch in self.watched.items() if name != STREAM)
        if changed or any(watch.alarm is not None for watch in judges):
            return "judge"
        if stream is None or (of_agent := is_of_the_agent(self.watched[JURY], stream)) is False:
            return "none"
        return "agent_or_traffic" if of_agent else "not_decided"

    def _changed_anchors(self, check: DriftCheck, votes: Sequence[str]) -> Iterator[ChangedAnchor]:
        for pair, usual, new in zip(check.opened.pairs, check.usual, votes, strict=True):
            if usual is not None and usual != new[0]:
                yield ChangedAnchor(case_id=self._opened.anchors[pair.anchor].case_id, before=usual, now=new[0])


def _of_stream(votes: Sequence[str]) -> Judgings:
    none = np.full(len(votes), SILENT)
    return Judgings(_outcomes(one[0] for one in votes), _outcomes(one[1] for one in votes), none, none)


def _outcomes(letters: Iterable[str]) -> Array:
    return np.array([_OUTCOME[letter] for letter in letters], int)


def changed_facts(baseline: Iterable[Iterable[SeatAnswers]], answered: Iterable[SeatAnswers]) -> Iterator[ChangedFact]:
    """What answered now and never in the baseline; a seat of which the baseline knows nothing says nothing."""
    known: dict[tuple[str | None, str], set[str]] = {}
    for session in baseline:
        for one in session:
            known.setdefault((one.juror_id, "model"), set()).update(one.versions)
            known.setdefault((one.juror_id, "fingerprint"), set()).update(one.fingerprints)
    for one in answered:
        for what, now in (("model", one.versions), ("fingerprint", one.fingerprints)):
            before = known.get((one.juror_id, what), set())
            if before and (new := sorted({*now} - before)):
                yield ChangedFact(
                    juror_id=one.juror_id,
                    what="model" if what == "model" else "fingerprint",
                    before=tuple(sorted(before)),
                    now=tuple(new),
                )


def _figures(name: str, watch: DriftWatch) -> WatchedFigures:
    alarm = watch.alarm
    return WatchedFigures(
        name=name,
        e=_kept(watch.e),
        bound=watch.bound,
        alarm=alarm,
        since=None if alarm is None else watch.strongest.since,
        kinds=watch.kinds,
        coins=tuple(CoinFigures(coin=one.coin, e=_kept(one.e), n=one.n, k=one.k) for one in watch.evidence),
    )


def _kept(e: float) -> float:
    """Ten digits: what two machines compute alike."""
    return float(f"{min(e, _MOST):.10g}")
