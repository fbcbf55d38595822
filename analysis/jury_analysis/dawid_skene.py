"""The model of Dawid and Skene (1979): true verdicts and the seats' confusions, from votes alone."""

from dataclasses import dataclass

import numpy as np

from jury_analysis.vote_matrix import Bools, Codes, Floats

STEPS = 200
_TOLERANCE = 1e-9
_FLOOR = 1e-10


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """The estimates. The seats' errors are taken for independent: where they are not, posteriors are too extreme."""

    posterior: Floats
    """[units, categories]; a unit without a vote has the prior."""
    prior: Floats
    """[categories]: the mean of the posteriors."""
    confusions: Floats
    """[seats, true category, given category]: rows sum to 1."""


def dawid_skene(votes: Codes, categories: int) -> DawidSkene:
    """Estimate by EM: start from the vote shares, no smoothing (chances have the floor 1e-10), at most 200 steps.

    Args:
        votes: [units, seats], -1 where there is none. Every category is counted, used or not.
        categories: how many are declared.
    """
    given: Bools = votes[:, :, None] == np.arange(categories)
    counts = given.sum(axis=1).astype(np.float64)
    voted = counts.sum(axis=1) > 0
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    posterior = np.where(voted[:, None], shares, 1.0 / categories)
    before = -np.inf
    prior, confusions = _chances(posterior, given, voted)
    for _ in range(STEPS):
        joint = np.log(np.maximum(prior, _FLOOR)) + np.einsum("usg,stg->ut", given, np.log(confusions))
        highest = joint.max(axis=1, keepdims=True)
        grown = np.exp(joint - highest)
        whole = grown.sum(axis=1, keepdims=True)
        posterior = grown / whole
        likelihood = float((np.log(whole) + highest)[voted].sum())
        prior, confusions = _chances(posterior, given, voted)
        if likelihood - before < _TOLERANCE:
            break
        before = likelihood
    return DawidSkene(posterior, prior, confusions)


def _chances(posterior: Floats, given: Bools, voted: Bools) -> tuple[Floats, Floats]:
    prior: Floats = posterior[voted].mean(axis=0) if voted.any() else np.full(posterior.shape[1], np.nan)
    confusions = np.maximum(np.einsum("ut,usg->stg", posterior, given.astype(np.float64)), _FLOOR)
    return prior, confusions / confusions.sum(axis=2, keepdims=True)
