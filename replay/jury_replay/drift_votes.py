"""The votes of recorded debates as baselines of drift checks count them: verdicts of one's own, and who answered."""

from collections.abc import Iterable, Sequence

from jury_events.debate_events import DebateCancelled, DebateCompleted, JudgmentRendered, JurorEvaluated
from jury_events.debate_history import DebateHistory
from jury_events.drift_events import DriftOpened, SeatAnswers
from jury_events.judgment import Decider
from jury_events.outcome import ANSWERS
from jury_events.verdict import FAIL, PASS, REVIEW
from jury_store.event_store import EventStore

SILENT = "-"
_LETTERS = {PASS: "p", REVIEW: "r", FAIL: "f"}
_AT_ONCE = 200


def votes_of(opened: DriftOpened, history: DebateHistory) -> str | None:
    """The letters of a debate that is over: of the jury, and of each seat its first, independent vote.

    None: it was cancelled. A verdict is none of one's own (`-`) where there is none, where it replaces a blocked
    answer, where a fallback gave it, where too few seats evaluated, and where the final judge failed.
    """
    jury, seats = SILENT, dict.fromkeys((seat.juror_id for seat in opened.seats), SILENT)
    models = {seat.juror_id: seat.model for seat in opened.seats}
    own = True
    for event in history.events:
        match event:
            case JurorEvaluated(juror_id=juror, evaluation=found):
                if not found.synthetic and found.model == models.get(juror):
                    seats[juror] = _LETTERS[found.verdict]
            case JudgmentRendered(judgment=judgment):
                judge = judgment.judge
                own = judgment.quorum_met and judgment.decided_by is not Decider.NO_EVALUATION
                own = own and judgment.judge_failure is None
                own = own and (judge is None or (not judge.synthetic and judge.model == opened.judge))
            case DebateCompleted(final_verdict=verdict):
                jury = _LETTERS[verdict] if own else SILENT
            case DebateCancelled():
                return None
    return jury + "".join(seats.values())


def judged(
    store: EventStore, opened: DriftOpened, debate_ids: Sequence[str]
) -> tuple[list[str | None], tuple[SeatAnswers, ...]]:
    """The votes of debates, in their order, and which models answered their seats."""
    votes: list[str | None] = []
    answers = _Answers(opened)
    for start in range(0, len(debate_ids), _AT_ONCE):
        for history in histories(store, debate_ids[start : start + _AT_ONCE]):
            votes.append(votes_of(opened, history))
            answers.note(history)
    return votes, answers.found()


def histories(store: EventStore, debate_ids: Sequence[str]) -> list[DebateHistory]:
    """The streams `debate/` and `calls/` of debates, without texts."""
    streams = store.read_streams([f"{prefix}/{one}" for one in debate_ids for prefix in ("debate", "calls")])
    return [
        DebateHistory.of_events(one, [*streams.get(f"debate/{one}", ()), *streams.get(f"calls/{one}", ())])
        for one in debate_ids
    ]


class _Answers:
    """Which models answered the calls of each seat that asked its first model."""

    def __init__(self, opened: DriftOpened) -> None:
        self._models: dict[str | None, str | None] = {seat.juror_id: seat.model for seat in opened.seats}
        self._models[None] = opened.judge
        self._versions: dict[str | None, set[str]] = {}
        self._fingerprints: dict[str | None, set[str]] = {}

    def note(self, history: DebateHistory) -> None:
        for one in history.exchanges:
            if one.outcome not in ANSWERS or self._models.get(one.juror_id) != one.model:
                continue
            versions = self._versions.setdefault(one.juror_id, set())
            versions.update(filter(None, [one.model_version]))
            self._fingerprints.setdefault(one.juror_id, set()).update(filter(None, [one.fingerprint]))

    def found(self) -> tuple[SeatAnswers, ...]:
        return tuple(
            SeatAnswers(
                juror_id=juror,
                versions=tuple(sorted(self._versions[juror])),
                fingerprints=tuple(sorted(self._fingerprints[juror])),
            )
            for juror in self._models
            if juror in self._versions
        )


def joined(of_runs: Iterable[tuple[SeatAnswers, ...]]) -> tuple[SeatAnswers, ...]:
    """Who answered in any of several."""
    found: dict[str | None, tuple[set[str], set[str]]] = {}
    for answered in of_runs:
        for one in answered:
            versions, fingerprints = found.setdefault(one.juror_id, (set(), set()))
            versions.update(one.versions)
            fingerprints.update(one.fingerprints)
    return tuple(
        SeatAnswers(juror_id=juror, versions=tuple(sorted(versions)), fingerprints=tuple(sorted(fingerprints)))
        for juror, (versions, fingerprints) in found.items()
    )
