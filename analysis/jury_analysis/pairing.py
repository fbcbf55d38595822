"""Which debates of two sets of ballots are pairs, and their verdicts, scores and labels side by side."""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.errors import BadBallots
from jury_analysis.estimate import FEWEST
from jury_analysis.reasons import FEW_CHANGES, NO_CHANGE, TOO_FEW_CLUSTERS
from jury_analysis.scale import BallotOptions, Exclusion, Scale, plain_text
from jury_analysis.vote_matrix import Bools, Codes, Floats, Ints, VoteMatrix, mean_scores, panel_plurality, vote_matrix
from jury_analysis.wording import Reason

Verdicts = Literal["final", "plurality"]
SETS = ("first", "second")


@dataclass(frozen=True)
class PairedOptions(BallotOptions):
    """What is paired."""

    verdicts: Verdicts | None = None
    """`final`: the jury's verdicts; `plurality`: of the seats in round 0; None: final ones where a set has any."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Both debates of each pair: arrays [pairs, 2] of verdicts and scores, [pairs] of labels and clusters.

    `unevaluated` [pairs, 2]: the verdict is not known, as there is none, or no seat evaluated. A panel without a strict
    plurality has no verdict, and is evaluated.
    """

    scale: Scale
    kinds: tuple[Verdicts, Verdicts]
    verdicts: Codes
    scores: Floats
    unevaluated: Bools
    labels: Codes
    labels_differ: int
    clusters: npt.NDArray[np.int32]


class Pairing:
    """Both sets read as one matrix, so that cases, variants, clusters and seats have the same codes in both."""

    def __init__(self, tables: list[pa.Table], options: PairedOptions) -> None:
        self._together = together = pa.concat_tables(
            [_marked(table, str(number)) for number, table in enumerate(tables)]
        )
        known = pc.unique(plain_text(together["label"])).drop_null().to_pylist()
        scale = options.scale.against(known)
        self._options = options
        self.matrix = vote_matrix(together, scale, stale=options.stale, synthetic=options.synthetic)
        of_first = np.asarray(pc.starts_with(self.matrix.debates, "0").to_numpy(zero_copy_only=False), dtype=np.bool_)
        self.units = (np.flatnonzero(of_first), np.flatnonzero(~of_first))
        self._voted = [_verdicts(self.matrix, units, options.verdicts) for units in self.units]
        self.chosen = self._paired_units()
        self.alone = (
            len(self.units[0]) - len(self.chosen[0]),
            len(self.units[1]) - len(self.chosen[1]),
        )

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """Votes that are left out of pluralities."""
        if self._voted[0][0] == self._voted[1][0] == "final":
            return ()
        return tuple(Exclusion(reason, "votes", count) for reason, count in sorted(self.matrix.excluded.items()))

    def pairs(self) -> Pairs:
        """The pairs in the order of their cases."""
        if not len(self.chosen[0]):
            raise BadBallots(
                "the two sets have no case in common (of the same variant and repeat): compare runs over the same cases"
            )
        matrix, voted = self.matrix, self._voted
        scores = [np.where(kind == "final", matrix.jury_scores, mean_scores(matrix.scores)) for kind, _ in voted]
        unvoted: Bools = np.all(matrix.votes < 0, axis=1)
        unevaluated = [matrix.finals < 0 if kind == "final" else unvoted for kind, _ in voted]
        labels = np.stack([matrix.labels[units] for units in self.chosen], axis=1)
        differ = (labels[:, 0] >= 0) & (labels[:, 1] >= 0) & (labels[:, 0] != labels[:, 1])
        return Pairs(
            scale=matrix.scale,
            kinds=(voted[0][0], voted[1][0]),
            verdicts=np.stack([codes[units] for (_, codes), units in zip(voted, self.chosen, strict=True)], axis=1),
            scores=np.stack([score[units] for score, units in zip(scores, self.chosen, strict=True)], axis=1),
            unevaluated=np.stack([one[units] for one, units in zip(unevaluated, self.chosen, strict=True)], axis=1),
            labels=np.where(differ, np.int8(-1), labels.max(axis=1)).astype(np.int8),
            labels_differ=int(np.count_nonzero(differ)),
            clusters=matrix.clusters[self.chosen[0]],
        )

    def of_round(self, number: int) -> VoteMatrix | None:
        """The votes of another round, with the units and seats of `matrix`; None if no seat voted in it."""
        options = self._options
        found = vote_matrix(
            self._together, self.matrix.scale, round=number, stale=options.stale, synthetic=options.synthetic
        )
        return found if (found.votes >= 0).any() else None

    def _paired_units(self) -> tuple[Ints, Ints]:
        """The units of each set that have a partner, in the same order."""
        keys = self._keys()
        for name, units in zip(SETS, self.units, strict=True):
            ordered = np.sort(keys[units])
            twice = ordered[:-1][ordered[:-1] == ordered[1:]]
            if len(twice):
                case = self.matrix.case_names[self.matrix.cases[units[keys[units] == twice[0]][0]]]
                raise BadBallots(
                    f"case {case!r:.60} is in more than one debate of the {name} set with the same variant and repeat: "
                    "choose the debates of one run"
                )
        _, *places = np.intersect1d(keys[self.units[0]], keys[self.units[1]], return_indices=True)
        return self.units[0][places[0]], self.units[1][places[1]]

    def _keys(self) -> Ints:
        """One number for case, variant and repeat, ascending in this order."""
        matrix = self.matrix
        variants, repeats = matrix.variants.astype(np.int64) + 1, matrix.repeats.astype(np.int64)
        _, repeats = np.unique(repeats, return_inverse=True)
        key = matrix.cases.astype(np.int64) * (int(variants.max(initial=0)) + 1) + variants
        _, key = np.unique(key, return_inverse=True)
        keys: Ints = key * (int(repeats.max(initial=0)) + 1) + repeats
        return keys


def _marked(table: pa.Table, mark: str) -> pa.Table:
    """The ballots with debate ids that begin with the mark of their set, and texts without dictionaries."""
    table = table.cast(pa.schema([(name, _plain_type(table.schema.field(name).type)) for name in table.column_names]))
    ids = pc.binary_join_element_wise(mark, table["debate_id"], "")
    return table.set_column(table.schema.get_field_index("debate_id"), "debate_id", ids)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _verdicts(matrix: VoteMatrix, units: Ints, wanted: Verdicts | None) -> tuple[Verdicts, Codes]:
    """What the verdicts of a set are, and the verdicts of all units."""
    known = (matrix.finals[units] >= 0) | matrix.unevaluated[units]
    if wanted == "final" or (wanted is None and known.any()):
        return "final", matrix.finals
    return "plurality", panel_plurality(matrix)[0]


@dataclass(frozen=True)
class PairedTest:
    """A chi-square test of the table of verdicts, over clusters."""

    statistic: float | None
    degrees: int | None
    p_value: float | None
    p_holm: float | None
    """Corrected for all tests of the report (Holm 1979)."""
    reason: Reason | None
    """Why there is no test."""
    notes: tuple[Reason, ...]


def stuart_maxwell(before: Ints, after: Ints, clusters: npt.NDArray[np.int32], size: int) -> PairedTest:
    """Marginal homogeneity (Stuart 1955, Maxwell 1970), with the variance of clustered pairs.

    A pair contributes 1[second = c] - 1[first = c] for each category c. With one pair a cluster the sum of squares of
    the contributions is the covariance of Stuart and Maxwell, and the statistic is theirs.
    """
    units = np.arange(len(before))
    moves = np.zeros((len(before), size))
    np.add.at(moves, (units, after), 1.0)
    np.add.at(moves, (units, before), -1.0)
    return _chi_square(moves, clusters)


def bowker(before: Ints, after: Ints, clusters: npt.NDArray[np.int32], size: int) -> PairedTest:
    """Symmetry (Bowker 1948), with the variance of clustered pairs; with one pair a cluster the statistic is Bowker's.

    Pairs of categories between which nothing flips do not count as degrees of freedom.
    """
    columns = [
        ((before == i) & (after == j)).astype(np.float64) - ((before == j) & (after == i))
        for i, j in combinations(range(size), 2)
    ]
    return _chi_square(np.stack(columns, axis=1), clusters)


def _chi_square(contributions: Floats, clusters: npt.NDArray[np.int32]) -> PairedTest:
    """Whether the sums s of contributions [pairs, k] are zero: s' (sum of the clusters' s_g s_g')^- s.

    Chi-square with as many degrees of freedom as the matrix has rank (Durkalski et al. 2003, for two categories).
    """
    number = len(np.unique(clusters))
    if number < FEWEST:
        return _untested(TOO_FEW_CLUSTERS(n=number, least=FEWEST))
    _, codes = np.unique(clusters, return_inverse=True)
    sums = np.stack([np.bincount(codes, weights=column) for column in contributions.T], axis=1)
    moved = int(np.count_nonzero(np.any(sums != 0, axis=1)))
    if not moved:
        return _untested(NO_CHANGE)
    matrix = sums.T @ sums
    degrees = int(np.linalg.matrix_rank(matrix, hermitian=True))
    total = sums.sum(axis=0)
    statistic = float(total @ np.linalg.pinv(matrix, hermitian=True) @ total)
    from scipy.special import chdtrc  # noqa: PLC0415  (part of an extra, and slow to import)

    few = FEW_CHANGES(n=moved, least=FEWEST)
    return PairedTest(
        statistic, degrees, float(chdtrc(degrees, statistic)), None, None, (few,) if moved < FEWEST else ()
    )


def _untested(reason: Reason) -> PairedTest:
    return PairedTest(None, None, None, None, reason, ())


def mcnemar(worse: int, better: int, clusters: npt.NDArray[np.int32]) -> float | None:
    """Exact McNemar test (McNemar 1947): None where a cluster has several pairs, or nothing changes.

    `worse` and `better` count pairs that change in one direction and in the other; `clusters` is of all pairs.
    """
    if len(np.unique(clusters)) < len(clusters) or not worse + better:
        return None
    from scipy.stats import binomtest  # noqa: PLC0415  (part of an extra, and slow to import)

    return float(binomtest(worse, worse + better).pvalue)
