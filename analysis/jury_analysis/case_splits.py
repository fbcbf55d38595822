"""Parts of the labelled cases for a calibration: to fit on, to certify on, to report on. No cluster is in two parts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from jury_analysis.errors import BadSplit
from jury_analysis.vote_matrix import Bools, VoteMatrix

PARTS = ("fit", "certify", "test")


@dataclass(frozen=True, eq=False)
class Parts:
    """[units] bool each; a unit is in one part at most."""

    fit: Bools
    certify: Bools
    test: Bools


def split_clusters(matrix: VoteMatrix, shares: tuple[float, float, float], seed: int) -> Parts:
    """Draw the parts by cluster: clusters in the order of SHA-256(seed, name), the first share of them to fit, …

    The same names and seed give the same parts, in whatever order the cases come.

    Args:
        matrix: its clusters.
        shares: of the clusters, in percent, for fit, certify and test; they sum to 100.
        seed: of the draw.
    """
    order = sorted(matrix.cluster_names, key=lambda name: sha256(f"{seed}\0{name}".encode()).digest())
    ends = [round(len(order) * sum(shares[: place + 1]) / 100) for place in range(len(PARTS))]
    place_of = {name: place for place, name in enumerate(order)}
    places = np.array([place_of[name] for name in matrix.cluster_names], dtype=np.int64)[matrix.clusters]
    return Parts(places < ends[0], (places >= ends[0]) & (places < ends[1]), (places >= ends[1]) & (places < ends[2]))


def named_parts(matrix: VoteMatrix, cases: Mapping[str, Collection[str]]) -> Parts:
    """The parts as lists of cases; cases in none of them are left out.

    Args:
        matrix: its cases and clusters.
        cases: ids of cases by part (`PARTS`); a part that is absent is empty.

    Raises:
        BadSplit: a case is in two parts, two cases of one cluster are, or a list has a case that is not there.
    """
    of_case: dict[str, str] = {}
    for part in PARTS:
        for case in sorted(cases.get(part, ())):
            if case in of_case:
                raise BadSplit(f"case {case!r:.60} is in the parts {of_case[case]} and {part}: keep it in one of them")
            of_case[case] = part
    unknown = sorted(of_case.keys() - set(matrix.case_names))
    if unknown:
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise BadSplit(
            f"the part {of_case[unknown[0]]} names the case {unknown[0]!r:.60}{more}, of which there is no debate: "
            "take what is not among the cases out of the list"
        )
    codes = np.array(
        [PARTS.index(of_case[case]) if case in of_case else -1 for case in matrix.case_names], dtype=np.int64
    )
    parts = codes[matrix.cases]
    for code, name in enumerate(matrix.cluster_names):
        found = np.unique(parts[matrix.clusters == code])
        found = found[found >= 0]
        if len(found) > 1:
            raise BadSplit(
                f"the cluster {name!r:.60} has cases in the parts {PARTS[found[0]]} and {PARTS[found[1]]}: cases of "
                "one cluster resemble each other, so keep them in one part"
            )
    return Parts(parts == 0, parts == 1, parts == 2)  # noqa: PLR2004  (the third of PARTS)
