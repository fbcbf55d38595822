"""Ballots as arrays: what every statistic reads."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import KINDS, REASONING, unified
from jury_analysis.coefficients import tallies
from jury_analysis.reasons import CONDITIONAL_VOTES, STALE_VOTES, SYNTHETIC_VOTES
from jury_analysis.scale import Scale, plain_text
from jury_analysis.wording import Reason

Codes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

OWN, STALE, SYNTHETIC, ABSTAINED, CONDITIONAL, STANDING = range(len(KINDS))
"""Codes of `VoteMatrix.kinds`."""


@dataclass(frozen=True, eq=False)
class VoteMatrix:
    """The votes of one round. A unit is a debate; units are sorted by debate id, seats and clusters by name.

    Every debate of the ballots is a unit, also if it has no vote in this round.
    """

    votes: Codes
    """[units, seats]: the code of the verdict in `scale`, -1 where there is none or where it was left out."""
    scores: Floats
    """[units, seats]: 0-100; nan where `votes` is -1 or no score was given."""
    confidences: Floats
    """[units, seats]: as stated, 0-1; nan where `votes` is -1 or none was stated."""
    kinds: Codes
    """[units, seats]: position in `ballots.KINDS` (`OWN` …), also of votes that were left out; -1 without a row."""
    labels: Codes
    """[units]: the code of the label, -1 without one."""
    finals: Codes
    """[units]: the jury's final verdict, -1 if unknown, or of a debate without an evaluation."""
    jury_scores: Floats
    """[units]: the jury's final score, nan if unknown."""
    unevaluated: Bools
    """[units]: the debate has a final verdict, but neither a vote in any round nor a score: no seat evaluated."""
    judges: Codes
    """[units]: the vote of the final judge, -1 without one."""
    clusters: npt.NDArray[np.int32]
    """[units]: position in `cluster_names`."""
    cluster_names: tuple[str, ...]
    cases: npt.NDArray[np.int32]
    """[units]: position in `case_names`."""
    case_names: tuple[str, ...]
    variants: npt.NDArray[np.int32]
    """[units]: code of the variant, in the order of the names; -1 without one."""
    repeats: npt.NDArray[np.int32]
    """[units]: 1 …"""
    debates: pa.Array
    """[units]: the ids, sorted."""
    seats: tuple[str, ...]
    """Seats of jurors; the final judge is none."""
    scale: Scale
    excluded: dict[Reason, int]
    """Why votes of this round were left out (stale, synthetic, conditional), and how many; without any, no reason."""

    @property
    def units(self) -> int:
        return int(self.votes.shape[0])


def vote_matrix(
    table: pa.Table,
    scale: Scale,
    *,
    round: int = 0,  # noqa: A002  (the word of the domain, and only a keyword)
    stale: bool = False,
    synthetic: bool = False,
) -> VoteMatrix:
    """The votes of one round.

    Args:
        round: 0 is the first evaluation.
        stale: keep votes that were repeated from an earlier round because the seat abstained.
        synthetic: keep votes that were made up for an answer that a provider blocked.
    """
    return _Columns(table, scale).matrix(round, stale=stale, synthetic=synthetic)


def before_reasoning(table: pa.Table, scale: Scale, first: VoteMatrix) -> VoteMatrix | None:
    """The votes of seats before they were shown the agent's reasoning, and judged again; None where none did.

    Args:
        table: that of `first`.
        scale: likewise.
        first: the votes of round 0: those after it.
    """
    (name, _) = REASONING.names
    if name not in table.column_names or table[name].null_count == table.num_rows:
        return None
    columns = _Columns(table, scale)
    chosen = np.flatnonzero(columns.juror & (columns.round == 0))
    votes = np.full(first.votes.shape, -1, dtype=np.int8)
    votes[columns.debate[chosen], columns.seat[chosen]] = _coded(table[name], scale)[chosen]
    return replace(first, votes=votes)


def by_round(table: pa.Table, scale: Scale, *, stale: bool = False, synthetic: bool = False) -> dict[int, VoteMatrix]:
    """The votes of all rounds, ascending, with the same units, seats and codes in each."""
    columns = _Columns(table, scale)
    return {number: columns.matrix(number, stale=stale, synthetic=synthetic) for number in columns.rounds()}


def patterns(*columns: npt.NDArray[np.int8] | npt.NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Codes of equal rows of small integers (-1 and above), and the distinct rows.

    Statistics work on counts of equal rows, so that a resample of 100,000 debates costs as much as one of 100.

    Args:
        columns: arrays [units] or [units, k], joined side by side.

    Returns:
        codes [units], positions in the rows; rows [distinct, columns], in ascending order.
    """
    joined = np.column_stack([column.astype(np.int64) for column in columns])
    code, distinct = np.zeros(len(joined), dtype=np.int64), 1
    for column in joined.T:
        # Renumbering after each column keeps the codes below units², so that they never overflow.
        span = int(column.max(initial=-1)) + 2
        code, distinct = _renumbered(code * span + column + 1, distinct * span)
    first = np.empty(int(code.max(initial=-1)) + 1, dtype=np.int64)
    first[code] = np.arange(len(code))
    return code, joined[first]


def distinct_codes(codes: npt.NDArray[np.int32] | Ints) -> Ints:
    """The different codes, ascending: `np.unique` of integers from 0 that are not much larger than their number."""
    return np.flatnonzero(np.bincount(codes))


def _renumbered(code: Ints, span: int) -> tuple[Ints, int]:
    """Codes 0 … in the same order without gaps, and how many there are; all codes are below `span`."""
    if span > _MOST_CELLS:
        values, codes = np.unique(code, return_inverse=True)
        return codes.astype(np.int64), len(values)
    used = np.bincount(code, minlength=span) > 0
    return (np.cumsum(used) - 1)[code], int(np.count_nonzero(used))


_MOST_CELLS = 1_000_000  # a table of codes up to this size is quicker than sorting


class _Columns:
    """Codes of the columns that all rounds share."""

    def __init__(self, table: pa.Table, scale: Scale) -> None:
        self.table, self.scale = table, scale
        self.debate, self.debates = _sorted_codes(table["debate_id"])
        seat, seats = _sorted_codes(table["seat"])
        juror = plain_text(table["role"])
        self.juror: Bools = pc.equal(juror, "juror").to_numpy(zero_copy_only=False)
        used = distinct_codes(seat[self.juror])
        self.seat = np.searchsorted(used, seat)
        self.seats = tuple(seats.take(pa.array(used)).to_pylist())
        self.round = table["round"].to_numpy()
        self.verdict = _coded(table["verdict"], scale)
        self.kind = _coded(table["kind"], Scale(KINDS, ordered=False))
        rows = np.zeros(len(self.debates), dtype=np.int64)
        rows[self.debate] = np.arange(len(self.debate))
        self.first = rows
        """A row of each debate, whichever: `ballots.check` has made sure that they agree."""
        self.clusters, self.cases, self.variants = (self._named(name) for name in ("cluster", "case_id", "variant"))
        self.labels, finals = (self._of_debates(name) for name in ("label", "final_verdict"))
        self.jury_scores = _floats(self.table["final_score"])[self.first]
        voted = np.bincount(self.debate[self.verdict >= 0], minlength=len(self.debates)) > 0
        self.unevaluated: Bools = (finals >= 0) & ~voted & np.isnan(self.jury_scores)
        self.finals = np.where(self.unevaluated, np.int8(-1), finals)

    def rounds(self) -> list[int]:
        return [int(number) for number in distinct_codes(self.round[self.juror])]

    def matrix(self, number: int, *, stale: bool, synthetic: bool) -> VoteMatrix:
        chosen = np.flatnonzero(self.juror & (self.round == number))
        shape = (len(self.debates), len(self.seats))
        place = self.debate[chosen], self.seat[chosen]
        kinds = np.full(shape, -1, dtype=np.int8)
        kinds[place] = self.kind[chosen]
        votes = np.full(shape, -1, dtype=np.int8)
        votes[place] = self.verdict[chosen]
        excluded = {}
        for kind, name, kept in (
            (STALE, STALE_VOTES, stale),
            (SYNTHETIC, SYNTHETIC_VOTES, synthetic),
            # A seat is asked where others leave a case open: its votes are no sample of all cases.
            (CONDITIONAL, CONDITIONAL_VOTES, False),
        ):
            count = int(np.count_nonzero(kinds == kind))
            if count and not kept:
                votes[kinds == kind] = -1
                excluded[name] = count
        return VoteMatrix(
            votes=votes,
            scores=self._numbers("score", chosen, shape, votes),
            confidences=self._numbers("confidence", chosen, shape, votes),
            kinds=kinds,
            labels=self.labels,
            finals=self.finals,
            jury_scores=self.jury_scores,
            unevaluated=self.unevaluated,
            judges=self._judges(),
            clusters=self.clusters[0],
            cluster_names=self.clusters[1],
            cases=self.cases[0],
            case_names=self.cases[1],
            variants=self.variants[0],
            repeats=self.table["repeat"].to_numpy()[self.first].astype(np.int32),
            debates=self.debates,
            seats=self.seats,
            scale=self.scale,
            excluded=excluded,
        )

    def _numbers(self, name: str, chosen: Ints, shape: tuple[int, int], votes: Codes) -> Floats:
        numbers = np.full(shape, np.nan)
        numbers[self.debate[chosen], self.seat[chosen]] = _floats(self.table[name])[chosen]
        numbers[votes < 0] = np.nan
        return numbers

    def _of_debates(self, name: str) -> Codes:
        return _coded(self.table[name], self.scale)[self.first]

    def _named(self, name: str) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
        codes, names = _sorted_codes(self.table[name])
        return codes[self.first].astype(np.int32), tuple(names.to_pylist())

    def _judges(self) -> Codes:
        judges = np.full(len(self.debates), -1, dtype=np.int8)
        judges[self.debate[~self.juror]] = self.verdict[~self.juror]
        return judges


def _encoded(column: pa.ChunkedArray) -> tuple[Ints, pa.Array]:
    """Codes of a column, -1 for null, and the distinct values."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    array = unified(encoded).combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # no chunk at all
        return np.zeros(0, dtype=np.int64), pa.array([], pa.string())
    return pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64), array.dictionary


def _sorted_codes(column: pa.ChunkedArray) -> tuple[Ints, pa.Array]:
    """Codes in the order of the values that occur, -1 for null, so that the order of rows decides nothing."""
    codes, dictionary = _encoded(column)
    used = distinct_codes(codes[codes >= 0])
    values = dictionary.take(pa.array(used))
    order = pc.sort_indices(values).to_numpy()
    rank = np.empty(len(used) + 1, dtype=np.int64)
    rank[order] = np.arange(len(used))
    rank[-1] = -1
    place = np.full(len(dictionary) + 1, len(used), dtype=np.int64)
    place[used] = np.arange(len(used))
    return rank[place[codes]], values.take(pa.array(order))


def _coded(column: pa.ChunkedArray, scale: Scale) -> Codes:
    codes, values = _encoded(column)
    used = distinct_codes(codes[codes >= 0])
    table = np.full(len(values) + 1, -1, dtype=np.int8)
    for code in used:
        table[code] = scale.code(values[int(code)].as_py())
    return table[codes]


def _floats(column: pa.ChunkedArray) -> Floats:
    """Numbers, nan for null."""
    floats: Floats = column.cast(pa.float64()).to_numpy()
    return floats


def mean_scores(scores: Floats) -> Floats:
    """The mean score of the seats that voted: [units]; nan without any."""
    given = ~np.isnan(scores)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = np.where(given, scores, 0.0).sum(axis=1) / given.sum(axis=1)
    return means


def strict_plurality(tally: Floats) -> tuple[Codes, Floats]:
    """The category of each unit with more votes than any other, and the votes of the first place.

    `tally` is [units, categories], see `coefficients.tallies`. Without votes or with a tie for the first place the
    category is -1.
    """
    top = tally.max(axis=1)
    single = np.count_nonzero(tally == top[:, None], axis=1) == 1
    return np.where(single & (top > 0), tally.argmax(axis=1), -1).astype(np.int8), top


def panel_plurality(matrix: VoteMatrix) -> tuple[Codes, Floats]:
    """What the panel's votes say of each unit: the strict plurality (-1: undecided) and its share of all seats.

    Missing votes stay in the denominator of the share.
    """
    codes, votes = strict_plurality(tallies(matrix.votes, len(matrix.scale.categories)))
    return codes, votes / max(1, matrix.votes.shape[1])
