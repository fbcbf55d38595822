"""What is counted for the worth of seats and rounds."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from jury_judge.errors import SettingsRefused
from jury_judge.settings.statistics import Seed
from jury_judge.settings.vote_defaults import ORDERS, SEED
from jury_judge.settings.vote_sources import VoteSources


class WorthSettings(VoteSources):
    """`jury value`.

    Attributes:
        include_simulated: debates of simulated jurors count too.
        orders: orders of the seats that are drawn for the values of many seats.
        seed: of the drawn orders, and of the parts that the best seat is chosen on.
        parquet: every choice of seats and rounds is written to this file; None: they are not.
    """

    include_simulated: bool = False
    orders: Annotated[int, Field(ge=2, le=1_000_000)] = ORDERS
    seed: Seed = SEED
    parquet: Path | None = None

    def model_post_init(self, context: object) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.seats and not self.files:
            raise SettingsRefused(
                "{seats} goes with {votes} FILE: of a store every subset of the panel's seats is tried"
            )
