"""The counts at every threshold of a sequence, from labelled units; what they certify is in `certificate`."""

import numpy as np

from jury_analysis.certificate import Certificate, Tried, bound_by_cluster, certificate
from jury_analysis.vote_matrix import Bools, Floats, Ints


# Thresholds are tried from the highest down, until the upper bound of wrong / accepted exceeds the risk. Since the
# order is fixed beforehand and the first failure ends it, no correction for the number of thresholds is needed (fixed
# sequence testing; Learn then Test, arXiv 2110.01052; for judges arXiv 2407.18370). Levels that accept verdicts in
# fewer clusters than could ever be certified, even without an error, are passed over: their number does not depend on
# the labels.
def certify(
    values: Floats, wrong: Bools, clusters: Ints, levels: Floats, *, risk: float, confidence: float
) -> Certificate:
    """Find the lowest threshold of the sequence whose bound is at most `risk`.

    Args:
        values: [labelled units]: the signal; nan where there is no verdict that the promise is about.
        wrong: [labelled units].
        clusters: [labelled units]. Where a cluster has more than one unit the bound is the clustered one.
        levels: thresholds, descending, that were fixed without these labels.
        risk: most wrong / accepted, 0-1.
        confidence: of the promise, 0-1.
    """
    subject = ~np.isnan(values)
    filled = np.where(subject, values, -1.0)
    number = len(np.unique(clusters))
    sequence: list[Tried] = []
    for level in levels.tolist():
        accepted = filled >= level
        count = int(accepted.sum())
        if count == (sequence[-1].accepted if sequence else 0):
            continue
        table = counts_by_cluster(accepted, wrong, clusters) if number < len(clusters) else ()
        sequence.append(Tried(float(level), count, int((accepted & wrong).sum()), table))
    return certificate(
        sequence,
        units=len(values),
        clusters=number,
        subject=int(subject.sum()),
        risk=risk,
        confidence=confidence,
    )


def clustered_bound(accepted: Bools, wrong: Bools, clusters: Ints, confidence: float) -> float:
    """`bound_by_cluster` of units; arguments as of `counts_by_cluster`."""
    return bound_by_cluster(counts_by_cluster(accepted, wrong, clusters), confidence)


def counts_by_cluster(accepted: Bools, wrong: Bools, clusters: Ints) -> tuple[tuple[int, int, int], ...]:
    """Accepted units, wrong ones of these, and how many clusters have these two counts; sorted.

    Args:
        accepted: [units].
        wrong: [units]: counts where accepted.
        clusters: [units], codes from 0.
    """
    _, codes = np.unique(clusters, return_inverse=True)
    sizes, errors = np.bincount(codes, weights=accepted), np.bincount(codes, weights=accepted & wrong)
    pairs, numbers = np.unique(np.stack([sizes, errors]).astype(np.int64), axis=1, return_counts=True)
    return tuple(zip(*pairs.tolist(), numbers.tolist(), strict=True))
