"""Every seat's position after phase 1 and after each round, as a table, with the consensus below."""

from typing import NamedTuple

from jury_events.consensus import ConsensusCheck
from jury_judge.comparison import Position, positions
from jury_judge.views.debate_record import DebateRecord, role_of


class Cell(NamedTuple):
    """What a seat holds, and the version of the event in which it said so."""

    position: Position
    version: int | None


class MatrixRow(NamedTuple):
    """One seat; None where it was not heard (yet)."""

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
    """`rounds` are the columns: 0 for phase 1, then the rounds that began; a check each, None until it was made."""

    rounds: tuple[int, ...]
    rows: tuple[MatrixRow, ...]
    checks: tuple[CheckLine | None, ...]


def matrix(
    record: DebateRecord, versions: dict[str, int], seats: int | None = None, latest: int | None = None
) -> Matrix:
    """The table of a debate as far as its record goes.

    Args:
        record: the debate.
        versions: of its events, by their ids.
        seats: how many rows at most.
        latest: how many rounds at most, the latest of them.
    """
    panel = record.opened.panel
    held_rounds = record.rounds[-latest:] if latest else record.rounds
    rounds = (0, *(held.started.round for held in held_rounds))
    held = positions(record)
    said = _versions_of_words(record, versions)
    checks = (record.phase_1_check, *(one.check for one in held_rounds))
    return Matrix(
        rounds=rounds,
        rows=tuple(
            MatrixRow(
                seat.juror_id,
                role_of(panel, seat.juror_id),
                seat.model,
                tuple(
                    Cell(held[place], said.get(place)) if (place := (seat.juror_id, number)) in held else None
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


def _versions_of_words(record: DebateRecord, versions: dict[str, int]) -> dict[tuple[str, int], int]:
    heard = [(0, said) for said in record.phase_1]
    heard += [(held.started.round, said) for held in record.rounds for said in held.spoken]  # type: ignore[misc]
    return {(said.juror_id, number): versions[said.event_id] for number, said in heard}
