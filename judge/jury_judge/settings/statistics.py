"""What is counted in statistics of votes."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from jury_judge.settings.vote_defaults import EPSILON, RESAMPLES, SEED
from jury_judge.settings.vote_sources import VoteSources

Included = Literal["stale", "synthetic"]
"""Votes that repeat an earlier one, or stand in for a blocked answer."""

Grouping = Literal["panel", "variant", "run"]

Seed = Annotated[int, Field(ge=0, lt=2**63)]
Resamples = Annotated[int, Field(ge=0, le=100_000)]


class StatisticsSettings(VoteSources):
    """`jury stats`.

    Attributes:
        random_labels: the labelled cases are a random sample of all.
        by: a report for each panel, variant of cases, or run.
        include: kinds of votes that count too.
        include_simulated: debates of simulated jurors count too.
        resamples: of the bootstrap; 0: none.
        seed: of the bootstrap.
        epsilon: of the alternative-annotator test.
        parquet: the ballots that were read are written to this file; None: they are not.
    """

    random_labels: bool = False
    by: tuple[Grouping, ...] = ()
    include: tuple[Included, ...] = ()
    include_simulated: bool = False
    resamples: Resamples = RESAMPLES
    seed: Seed = SEED
    epsilon: Annotated[float, Field(ge=0, le=1)] = EPSILON
    parquet: Path | None = None
