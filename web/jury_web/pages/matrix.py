"""The table of positions by seat and round, with the consensus checks below."""

from typing import NamedTuple

from jury_events.consensus import ConsensusCheck
from jury_judge.comparisons.comparison import Position, positions
from jury_views.debate_fold import DebateFold, role_of


class Cell(NamedTuple):
    """The position of a seat, and the version of its event: one that stands is of phase 1."""

    position: Position
    version: int | None


class MatrixRow(NamedTuple):
    """One seat; a cell is None where it has no position (yet)."""

    juror_id: str
    role: str
    model: str
    cells: tuple[Cell | None, ...]


class CheckLine(NamedTuple):
    """A consensus check, after phase 1 (`round` 0) or a round."""

    round: int
    check: ConsensusCheck
    version: int


class Matrix(NamedTuple):
    """`rounds` are the columns: 0 for phase 1, then the started rounds, each with its check, None before it."""

    rounds: tuple[int, ...]
    rows: tuple[MatrixRow, ...]
    checks: tuple[CheckLine | None, ...]


def matrix(record: DebateFold, versions: dict[str, int], seats: int | None = None, latest: int | None = None) -> Matrix:
    """The table of a debate up to its last event."""
    panel = record.opened.panel
    shown_rounds = record.rounds[-latest:] if latest else record.rounds
    rounds = (0, *(one.started.round for one in shown_rounds))
    by_seat = positions(record)
    spoken = _versions_of_statements(record, versions)
    checks = (record.phase_1_check, *(one.check for one in shown_rounds))
    return Matrix(
        rounds=rounds,
        rows=tuple(
            MatrixRow(
                seat.juror_id,
                role_of(panel, seat.juror_id),
                seat.model,
                tuple(
                    Cell(by_seat[key], spoken.get(key, spoken.get((seat.juror_id, 0))))
                    if (key := (seat.juror_id, number)) in by_seat
                    else None
                    for number in rounds
                ),
            )
            for seat in panel.seats[:seats]
        ),
        checks=tuple(
            None if check is None else CheckLine(number, check, _check_version(number, versions))
            for number, check in zip(rounds, checks, strict=True)
        ),
    )


def _check_version(number: int, versions: dict[str, int]) -> int:
    return versions[f"round-{number}/check" if number else "initial/check"]


def _versions_of_statements(record: DebateFold, versions: dict[str, int]) -> dict[tuple[str, int], int]:
    spoken = [(0, one) for one in record.phase_1]
    spoken += [(each.started.round, one) for each in record.rounds for one in each.spoken]  # type: ignore[misc]
    return {(one.juror_id, number): versions[one.event_id] for number, one in spoken}
